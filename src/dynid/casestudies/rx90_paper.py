"""P2's printed figures: Gautier and Briot, drive gains of an RX-90 from a payload of known mass (2011)."""

from __future__ import annotations

MASS, MASS_SIGMA = 7.025, 0.05 / 2
"""The payload as weighed, ± 0.050 kg taken for 2σ [kg]."""
MZ = 1.003
"""Its first moment from CAD (table 2) [kg m]."""
OTHER_MASS, OTHER_FOUND, OTHER_TWO_SIGMA = 4.275, 4.35, 0.150
"""The second payload, what P2 found of it, and 2σ [kg]."""
CASES = ("case 1: a-priori gains", "case 2: gains found", "case 3: gains found × 1.2")
TABLE_2 = {"ML": (6.71, 7.17, 8.65), "MZL": (1.04, 0.934, 0.867)}
TABLE_2_TWO_SIGMA = {"ML": (0.158, 0.162, 0.198), "MZL": (0.0378, 0.0449, 0.0453)}
TABLE_3 = (0.9401, 0.9619, 1.1148, 0.9146)
"""Gains of joints 1 to 4 over those of the controller."""
TABLE_3_PERCENT = (4.3, 1.9, 1.7, 2.8)
TABLE_4 = (0.075643, 0.0744996, 0.0840385)
"""‖ρ̂‖/‖Y‖ of the three cases."""
