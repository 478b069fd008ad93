"""Draw the pictures of the README and the documentation: `python docs/images/make_pictures.py`."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "examples")]

from plots import picture  # noqa: E402

import dynid  # noqa: E402
from demo import LOGS, write_logs  # noqa: E402
from dynid.estimators import WLS  # noqa: E402
from dynid.logs.read import read_logs  # noqa: E402
from dynid.validation.model import as_model, predictions  # noqa: E402


def main() -> None:
    """The torques of the demo's second motion, as measured and as predicted."""
    robot = dynid.load_robot("tx40")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        exciting, unseen = write_logs(robot)
        given, kept = (read_logs([file], LOGS / "tx40.toml") for file in (exciting, unseen))
        result = dynid.fit(robot, given, WLS(), validate=kept)
    assert result.proof is not None
    motion = result.proof.motions[0]
    predicted, _ = predictions(as_model(result.estimate), motion)
    names = [robot.joints[j].name for j in robot.coordinates]
    drawn = picture(motion.time, motion.tau, predicted, names)
    (HERE / "torque_fit.svg").write_text(drawn, encoding="utf-8")
    print(f"wrote {HERE / 'torque_fit.svg'}")


if __name__ == "__main__":
    main()
