"""Tables 2 to 9 of P0 as printed, in the order of ``NAMES``; table 1 is not in the preprint's text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Printed:
    """A printed estimate: values and twice their standard deviations, SI."""

    values: tuple[float, ...]
    double_sigma: tuple[float, ...]


TABLE_2 = Printed(
    (3.45, 0.02, 0.85, 0.061, 0.124, 0.007, 0.01, 0.132),
    (0.014, 0.012, 0.016, 0.0001, 0.0002, 0.0003, 0.003, 0.0008),
)
TABLE_3 = ((0.42, 0.036, 0.02, 0.018), (3.20, 0.110, 0.02, 0.022))
"""‖Y − W χ^k‖ / ‖Y‖ of joints 1 and 2, k = 0 … 3."""
TABLE_4 = (
    (3.46, 0.04, 0.86, 0.06, 0.122, 0.05, 0.005, 0.130),
    (3.45, 0.02, 0.85, 0.061, 0.124, 0.07, 0.01, 0.132),
    (3.45, 0.02, 0.85, 0.061, 0.124, 0.07, 0.01, 0.132),
)
"""χ¹, χ², χ³."""
TABLE_5_IDIM = Printed(
    (3.10, 0.9, 1.0, 0.025, 0.075, -0.02, 0.35, 0.19),
    (0.03, 1.8, 0.1, 0.003, 0.008, 0.01, 5.6, 0.087),
)
TABLE_5_DIDIM = Printed(
    (3.45, 0.04, 0.81, 0.061, 0.124, 0.008, 0.01, 0.13),
    (0.04, 0.02, 0.05, 0.0006, 0.001, 0.0006, 0.005, 0.008),
)
TABLE_5_RESIDUALS = (0.5, 0.04)
TABLE_6 = ((0.39, 0.80), (0.73, 0.81))
"""Relative errors of speed, then of acceleration, joints 1 and 2."""
TABLE_7_IDIM = Printed(
    (1.50, 0.095, 0.55, 0.14, 0.63, 0.1, 0.001, 0.19),
    (0.05, 0.15, 0.26, 0.018, 0.035, 0.023, 0.143, 0.244),
)
TABLE_7_DIDIM = Printed(
    (3.45, 0.05, 0.81, 0.061, 0.124, 0.008, 0.023, 0.13),
    (0.007, 0.023, 0.004, 0.0004, 0.0015, 0.0009, 0.0022, 0.0038),
)
TABLE_7_RESIDUALS = (0.8, 0.08)
TABLE_8 = Printed(
    (3.44, 0.02, 0.86, 0.060, 0.124, 0.007, 0.01, 0.13),
    (0.014, 0.012, 0.016, 0.0001, 0.0002, 0.0003, 0.003, 0.0008),
)
TABLE_9 = (
    (0.6, 0.05, 0.06, 0.04, 0.025, 0.02, 0.02),
    (3.0, 0.11, 0.05, 0.02, 0.025, 0.02, 0.02),
)
TRACKING = ((0.005, 0.05, 0.10), (0.015, 0.15, 0.30))
"""Errors of position, speed, acceleration that §VI.B reads from Fig. 11: to the robot, to the reference."""
