"""An exciting motion for a UR10 above a table: designed, sampled, and held against sines by hand."""

from __future__ import annotations

import numpy as np

import dynid

robot = dynid.load_robot("ur10")
excitation, trajectories = dynid.excitation, dynid.trajectories

# Ten seconds, five harmonics, nine tenths of every limit, 5 cm above the table and from itself.
task = excitation.DesignTask(
    space=trajectories.FourierSpace(frequency_hz=0.1, harmonics=5),
    limits=excitation.LimitChoice(share=0.9),
    workcell=excitation.Workcell(floor=0.0, margin=0.05),
)
design = excitation.design_motion(robot, task, starts=2, seed=0)
print(design)
for finding in design.findings:
    print(f"  {finding.level.word}: {finding.text}")

# Every limit holds at every instant, not only at samples; so does the clearance.
assert all(use.kept for use in design.uses)
assert design.clearance is not None
assert design.clearance.bound >= 0
fullest = max(design.uses, key=lambda use: use.share)
print(f"fullest limit: {fullest.quantity} of {fullest.joint}, {100 * fullest.share:.1f} %")
print(f"nearest: {design.clearance.pair}, {design.clearance.bound + 0.05:.3f} m")

# Sines by hand, of the same length and within the same limits of speed and acceleration.
frequencies = [(0.05 * (k + 1), 0.05 * (k + 3)) for k in range(6)]
by_hand = trajectories.Sines(6 * [(0.5, 0.3)], frequencies, duration=10.0)
for order in (1, 2):
    assert np.all(np.abs(by_hand.extremes(order)) <= 0.9 * design.limits.high[order])
sigma = excitation.standard_deviations(design.information_of(by_hand))
print(f"median σ: {np.median(sigma / design.sigma):.0f} times that of the design, after sines by hand")
assert np.median(sigma) > 3 * np.median(design.sigma)

# What a controller or a simulation follows, three periods at 125 Hz.
reference = design.trajectory.sample(0.008, periods=3)
print(f"reference: {reference.samples} samples of {reference.axes} axes")
