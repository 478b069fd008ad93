"""What P3 (Jin, Gans: excitation of a TX-90) prints: ranges, resolutions and the figures of tables 4 to 8."""

from __future__ import annotations

SIDES_DEG = (180.0, 130.0, 140.0, 270.0, 115.0, 270.0)
"""Table 1: the smaller side of each range; P3's conservative bounds (15) know one side only."""
RESOLUTION_DEG = (57e-6, 57e-6, 57e-6, 57e-6, 122e-6, 183e-6)
"""Table 1: angular resolution, printed as 0.057 … 0.183 in 10⁻³ degrees."""
BASE_PARAMETERS = 52
TABLE_4 = {
    "ZZ1R": (19.44, 2.25, 0.43),
    "Fv1": (68.96, 0.60, 0.41),
    "Fc1": (21.37, 1.51, 0.32),
    "XX2R": (-9.88, 4.28, 0.42),
    "XY2": (-5.68, 3.45, 0.19),
    "XZ2R": (-1.10, 16.75, 0.18),
    "ZZ2R": (12.24, 2.71, 0.33),
    "MX2R": (-14.28, 0.38, 0.05),
    "Fv2": (72.68, 1.03, 0.75),
    "Fc2": (21.27, 1.76, 0.37),
    "XZ3": (-1.17, 10.68, 0.12),
    "ZZ3R": (4.14, 4.19, 0.17),
    "MX3": (-0.39, 15.17, 0.06),
    "MY3R": (4.07, 1.31, 0.05),
    "Ia3": (-1.88, 6.46, 0.12),
    "Fv3": (15.27, 2.29, 0.34),
    "Fc3": (5.80, 5.21, 0.30),
    "XZ4": (0.48, 13.02, 0.06),
    "ZZ4R": (-0.70, 15.33, 0.10),
    "MX4": (0.48, 13.66, 0.06),
    "MY4R": (-0.18, 18.63, 0.03),
    "Fv4": (10.00, 3.03, 0.30),
    "Fc4": (4.70, 6.29, 0.29),
    "XX5R": (0.77, 13.03, 0.10),
    "YZ5": (-0.32, 17.05, 0.05),
    "Fv5": (6.77, 4.59, 0.31),
    "Fc5": (4.71, 6.29, 0.29),
    "Fv6": (3.37, 3.86, 0.13),
    "Fc6": (5.05, 5.33, 0.26),
}
"""Estimate, rsd [%] and σ of the essential parameters, SI; XX5R is printed as a second I_xx4r."""
TABLE_5_EXCITATION = (8.76, 7.35, 3.62, 2.20, 1.44, 1.32)
"""RMS of measured less predicted torque of each joint along the exciting motion [N m]."""
TABLE_5_VALIDATION = (10.79, 10.60, 4.83, 1.83, 1.22, 1.06)
TABLE_6_LOW_PASS = (9.22, 9.20, 3.69, 2.97, 2.00, 2.23)
"""The same along the exciting motion with torques low-passed; with RLOESS it is that of table 5."""
TABLE_8 = {
    "J1": TABLE_5_EXCITATION,
    "J2": (5.88, 9.36, 3.26, 1.87, 2.24, 1.11),
    "J3": (8.11, 7.66, 5.83, 2.57, 3.09, 1.18),
}
SUMS = {"table 5": (24.71, 30.37), "table 6": (24.71, 29.32), "table 8": (24.7, 23.7, 28.46)}
"""Sums over the joints as printed; those of the parts above differ by up to 0.04."""
TABLE_7_S = {"J1": 36.0, "J2": 586.0, "J3": 673.0}
"""Time of one design."""
CONDITION = 108.0
"""§4.3: condition number of W of all samples."""
