"""Proof on motion that was not used: torque prediction, cross-validation, residual tests."""
