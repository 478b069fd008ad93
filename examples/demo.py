"""The main job, end to end: two logs of a made-up Stäubli TX40, a fit, a proof on unseen motion, a report.

Everything is simulated here, so the truth is known and every estimate is held against it at the end. The logs
are what a controller gives: motor positions in encoder counts and motor torques with noise and ripple.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

import dynid
from _arm import exciting_motion, fourier_motion, sensed, true_parameters
from dynid.cli.main import run

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


def against_truth(robot: dynid.Robot) -> str:
    """How many estimates lie within two standard deviations of the truth."""
    truth = dynid.find_base(robot).regroup(true_parameters(robot))
    rows = json.loads((OUT / "result.json").read_text())["document"]["parameters"]
    z = [abs(row["value"] - t) / row["sigma"] for row, t in zip(rows, truth, strict=True) if row["sigma"]]
    two, three = (sum(x < bound for x in z) for bound in (2, 3))
    return f"{two} of {len(z)} parameters lie within 2σ of the truth, {three} within 3σ"


def main() -> int:
    """Run the main job and say where the report lies; 2 when the answer cannot be trusted."""
    robot = dynid.load_robot("tx40")
    print("1/2 simulating two experiments of the TX40 with realistic sensors", flush=True)
    fit, unseen = write_logs(robot)
    command = ["fit", "tx40", str(fit), "--map", str(LOGS / "tx40.toml"), "--validate", str(unseen)]
    command += ["--uncertainty", "hac", "--out", str(OUT), "--force"]
    print(f"2/2 dynid {' '.join(command)}\n", flush=True)
    code = run(command)
    if (OUT / "result.json").exists():
        print(f"\nThe truth is known here: {against_truth(robot)}.")
        print(f"Open {(OUT / 'report.html').resolve()}")
    return code


if __name__ == "__main__":
    sys.exit(main())
