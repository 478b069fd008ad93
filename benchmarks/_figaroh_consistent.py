"""FIGAROH's physically consistent fits of the TX40 log; peers_consistent.py runs it as a process."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from figaroh.identification import physical_fit

from _figaroh_tx40 import Tx40, loaded_job

COUPLING = {"Iam6": "Iam6", "Fvm6": "fvm6", "Fcm6": "fsm6"}
JOINT = {
    **{"XX": "Ixx", "XY": "Ixy", "XZ": "Ixz", "YY": "Iyy", "YZ": "Iyz", "ZZ": "Izz"},
    **{"MX": "mx", "MY": "my", "MZ": "mz", "M": "m", "Ia": "Ia", "Fv": "fv", "Fc": "fs", "off": "off"},
}
"""Symbols of dynid, and FIGAROH's; both refer a link's inertia to the origin of its joint's frame."""
SAME_ROWS: dict[str, Callable[..., Any]] = {
    "direct effort fit": physical_fit.solve_direct_effort_fit,
    "exact reconstruction": physical_fit.solve_exact_reconstruction,
    "projection link by link": physical_fit.solve_per_link_projection,
}


def figaroh_name(name: str) -> str:
    """FIGAROH's name of a parameter, such as ``Ixx_joint_3`` of ``XX3``."""
    return COUPLING.get(name) or f"{JOINT[name[:-1]]}_joint_{name[-1]}"


def own_rows(job: Tx40, folder: Path, place: Path) -> dict[str, Any]:
    """The documented way: one sample of ten, weighted, ``select_stage: physical_fit``, exported as URDF.

    Without the wrist coupling: FIGAROH 1.0.2 reads the key ``has_coupled_wrist`` but has no columns for it,
    and where a subclass adds them, ``solve`` ends with an IndexError in its validation.
    """
    job.identif_config["select_stage"] = "physical_fit"
    job.solve(decimate=True, plotting=False, save_results=False, wls=True)
    chosen = job.selected
    nominal = folder / "tx40_mdh_modified.urdf"
    written = Path(job.export_urdf(str(nominal), str(place / "exported.urdf"))).read_text()
    friction = 'damping="0.0" friction="0.0"'
    kept = written.count(friction) < nominal.read_text().count(friction)
    said = f"{chosen.status}: {chosen.reason}; URDF {'with' if kept else 'without'} friction"
    return {"said": said, "values": chosen.parameter_dict()}


def same_rows(job: Tx40, rows: Any, solve: Callable[..., Any]) -> dict[str, Any]:
    """A fit of ``figaroh.identification.physical_fit`` on rows that are given, weighted as given."""
    names = [figaroh_name(name) for name in rows["names"]]
    problem = physical_fit.build_problem(
        rows["Y"],
        rows["y"],
        names,
        [f"joint_{j}" for j in range(1, 7)],
        prior=np.array([job.standard_parameter.get(name, 0.0) for name in names]),
        row_weight=rows["weight"],
    )
    record = solve(problem)
    said = f"{record.solver_status}, {'accepted' if record.accepted else 'not accepted'}"
    said += f": {record.exception}" if record.exception else ""
    values = None if record.theta is None else dict(zip(problem.params_std, record.theta, strict=True))
    return {"said": said, "values": values}


def main() -> None:
    folder, rows = Path(sys.argv[1]), np.load(sys.argv[2])
    results = []
    with tempfile.TemporaryDirectory() as place:
        start = time.perf_counter()
        job = loaded_job(folder, Path(place))

        def add(label: str, made: dict[str, Any], seconds: float) -> None:
            found = made["values"]
            values = None if found is None else [found.get(figaroh_name(name), 0.0) for name in rows["names"]]
            results.append({"fit": label, "seconds": seconds, "said": made["said"], "standard": values})

        own = own_rows(job, folder, Path(place))
        add("physical_fit, own rows", own, time.perf_counter() - start)
        for label, solve in SAME_ROWS.items():
            start = time.perf_counter()
            made = same_rows(job, rows, solve)
            add(f"{label}, same rows", made, time.perf_counter() - start)
    Path(sys.argv[3]).write_text(json.dumps(results))


if __name__ == "__main__":
    main()
