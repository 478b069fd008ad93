"""The main job, end to end: two logs of a made-up Stäubli TX40, a fit, a proof on unseen motion, a report.

Everything is simulated here, so the truth is known and every estimate is held against it at the end. The logs
are what a controller gives: motor positions in encoder counts and motor torques with noise and ripple.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import dynid
from _arm import exciting_motion, fourier_motion, sensed, true_parameters

SEED = 7
DURATION, RATE_HZ = 20.0, 1000.0
LOGS, OUT = Path("out/demo-logs"), Path("out/demo")
MAPPING = """# What the columns of the demo's logs are.
format = "csv"
side = "motor"

[time]
column = "t"

[position]
columns = ["qm1", "qm2", "qm3", "qm4", "qm5", "qm6"]

[torque]
columns = ["taum1", "taum2", "taum3", "taum4", "taum5", "taum6"]
"""


def write_logs(robot: dynid.Robot) -> tuple[Path, Path]:
    """One log to fit and another one for the proof."""
    rng = np.random.default_rng(SEED)
    truth = true_parameters(robot)
    motions = exciting_motion(robot, rng, DURATION, RATE_HZ), fourier_motion(robot, rng, DURATION, RATE_HZ)
    LOGS.mkdir(parents=True, exist_ok=True)
    (LOGS / "tx40.toml").write_text(MAPPING)
    n = robot.n_coordinates
    names = ["t", *(f"qm{i + 1}" for i in range(n)), *(f"taum{i + 1}" for i in range(n))]
    files = LOGS / "exciting.csv", LOGS / "unseen.csv"
    for file, motion in zip(files, motions, strict=True):
        rows = sensed(robot, motion, truth, rng)
        np.savetxt(file, rows, delimiter=",", header=",".join(names), comments="", fmt="%.9g")
    return files


def against_truth(robot: dynid.Robot, result: dynid.FitResult) -> str:
    """How many estimates lie within two standard deviations of the truth."""
    truth = dynid.find_base(robot).regroup(true_parameters(robot))
    z = np.abs(result.estimate.values - truth) / result.estimate.sigma
    two, three = (int(np.sum(z < bound)) for bound in (2, 3))
    return f"{two} of {len(z)} parameters lie within 2σ of the truth, {three} within 3σ"


def main() -> int:
    """Run the main job and say where the report lies; 2 when the answer cannot be trusted."""
    robot = dynid.load_robot("tx40")
    print("1/2 simulating two experiments of the TX40 with realistic sensors", flush=True)
    files = write_logs(robot)
    print(
        f"2/2 fitting {files[0]} and proving the model on {files[1]}, as this command does:\n"
        f"    dynid fit tx40 {files[0]} --map {LOGS / 'tx40.toml'} --validate {files[1]} --uncertainty hac\n",
        flush=True,
    )
    log, unseen = (dynid.read_log(file, LOGS / "tx40.toml") for file in files)
    result = dynid.fit(robot, log, dynid.WLS(uncertainty="hac"), validate=unseen)
    result.save(OUT, force=True)
    print(result.summary())
    print(f"\nThe truth is known here: {against_truth(robot, result)}.")
    print(f"Open {(OUT / 'report.html').resolve()}")
    return 0 if result.document["verdict"]["trustworthy"] else 2


if __name__ == "__main__":
    sys.exit(main())
