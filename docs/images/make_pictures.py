"""Draw the pictures of the README and the documentation: `python docs/images/make_pictures.py`."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "examples"))

from _plots import picture  # noqa: E402
from _report import write_text  # noqa: E402
from demo import run_study  # noqa: E402


def main() -> None:
    """The torques of the demo's second motion, as measured and as predicted."""
    study = run_study()
    curves = study["curves"]
    names = [joint["name"] for joint in study["joints"]]
    drawn = picture(curves["t"], curves["measured"], curves["predicted"], names)
    write_text(HERE / "torque_fit.svg", drawn)
    print(f"wrote {HERE / 'torque_fit.svg'}")


if __name__ == "__main__":
    main()
