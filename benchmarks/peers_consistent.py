"""Parameters of possible bodies from the measured TX40 log: dynid, FIGAROH, mujoco.sysid, the same rows."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import dynid
from _harness import Report
from dynid.casestudies.case import packaged_mapping
from dynid.casestudies.cases import TX40_PLAN
from dynid.consistency.pseudo_inertia import pseudo_inertias
from dynid.logs import to_joint_side
from dynid.preparation.decimate import decimate_rows
from dynid.preparation.motion import Motion
from dynid.problem import Problem

HERE = Path(__file__).parent
DATA = Path(os.environ.get("DYNID_DATA", HERE.parents[1] / "shared" / "data")) / "tx40"
PEERS = {
    "FIGAROH": ("_figaroh_consistent.py", ("figaroh",), "figaroh"),
    "mujoco.sysid": ("_mujoco_sysid.py", ("mujoco", "colorama", "tabulate"), "mujoco[sysid]"),
}
"""The process of each peer, the modules it needs, and what to install."""


def built_problem(folder: Path) -> tuple[Motion, Problem]:
    """The prepared motion and the rows of the case study: 100 Hz, one sample of 100, none near rest."""
    robot = dynid.load_robot("tx40_log")
    with packaged_mapping("tx40") as mapping:
        log = to_joint_side(dynid.read_log(folder, mapping), robot)
    motion = dynid.prepare(log, TX40_PLAN)
    return motion, dynid.build_problem(robot, [motion], TX40_PLAN)


def save_rows(file: Path, motion: Motion, problem: Problem) -> None:
    """The rows for peers: Y θ = y of standard parameters, and the states that mechanics engines need.

    States are decimated as torques and columns are: inverse dynamics there leaves what the rows leave, within
    0.3 % of the torque on every joint.
    """
    joints = range(len(problem.row_counts))
    rows = [problem.rows(j) for j in joints]
    sigma = problem.residual_norms(dynid.identify(problem, dynid.WLS()).values) / np.sqrt(problem.row_counts)
    signals = {name: np.asarray(getattr(motion, name)[:]) for name in ("q", "qd", "qdd", "tau")}
    states = {name: decimate_rows(np.ascontiguousarray(x.T), 100).T for name, x in signals.items()}
    mask = np.zeros(states["tau"].shape, dtype=bool)
    for j in joints:
        mask[rows[j].sample, j] = True
    np.savez(
        file,
        names=np.array(problem.robot.table.names),
        Y=np.vstack([r.W @ problem.base.matrix[list(r.columns)] for r in rows]),
        y=np.concatenate([r.y for r in rows]),
        weight=np.repeat(1.0 / sigma, problem.row_counts),
        mask=mask,
        **states,
        **{f"slow_{name}": x[::10] for name, x in signals.items()},
    )


def dynid_fits(problem: Problem) -> list[dict[str, Any]]:
    """Weighted least squares, and the same among possible bodies."""
    fits = []
    for label, strategy in (
        ("WLS, no bodies", dynid.WLS()),
        ("WLS of possible bodies", dynid.estimators.Consistent(dynid.WLS())),
    ):
        start = time.perf_counter()
        estimate = dynid.identify(problem, strategy)
        seconds = time.perf_counter() - start
        said = f"{len(estimate.values)} base parameters with uncertainty, {estimate.outcome.name}"
        found = estimate.facts.get("consistency", {}).get("standard")
        fits.append(
            {"fit": label, "seconds": seconds, "said": said, "standard": found, "base": estimate.values}
        )
    return fits


def peer_fits(peer: str, rows: Path, place: Path) -> list[dict[str, Any]]:
    """What a peer's process found; nothing where the peer is not installed."""
    script, modules, package = PEERS[peer]
    if any(importlib.util.find_spec(module) is None for module in modules):
        print(f"skipped: {peer} is not installed; pip install '{package}' adds it.")
        return []
    result = place / "result.json"
    command = [sys.executable, str(HERE / script), str(DATA), str(rows), str(result)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr[-2000:]}")
    found: list[dict[str, Any]] = json.loads(result.read_text())
    return found


def record(report: Report, problem: Problem, who: str, fit: dict[str, Any]) -> None:
    """One row: what is left of the torques [%], time, and what kind of bodies and drives they are."""
    what, standard = f"{who}: {fit['fit']}", fit["standard"]
    base = fit.get("base")
    if standard is None and base is None:
        report.note(what, seconds=fit["seconds"], said=fit["said"])
        return
    if base is None:
        base = problem.base.regroup(np.array(standard))
    left, whole = problem.residual_norms(base), problem.torque_norms()
    figures = {
        label: float(100 * np.linalg.norm(left[part]) / np.linalg.norm(whole[part]))
        for label, part in (
            ("joints_1–4_[%]", slice(4)),
            ("joints_5–6_[%]", slice(4, 6)),
            ("all_[%]", slice(None)),
        )
    }
    report.note(what, **figures, seconds=fit["seconds"], **kinds(problem, standard), said=fit["said"])


def kinds(problem: Problem, standard: list[float] | None) -> dict[str, Any]:
    """How many links can exist, the least eigenvalue of their pseudo-inertias, the heaviest, the least Ia."""
    if standard is None:
        return dict.fromkeys(("possible_links", "smallest_eigenvalue", "heaviest_link_[kg]", "least_Ia"), "–")
    values = np.array(standard)
    eigenvalues = np.linalg.eigvalsh(pseudo_inertias(problem.robot, values))[:, 0]
    by_name = problem.robot.table.mapping(values)
    return {
        "possible_links": f"{np.sum(eigenvalues >= 0)} of {len(eigenvalues)}",
        "smallest_eigenvalue": float(eigenvalues.min()),
        "heaviest_link_[kg]": max(by_name[f"M{joint.label}"] for joint in problem.robot.joints),
        "least_Ia": min(by_name[f"Ia{joint.label}"] for joint in problem.robot.joints),
    }


def main() -> None:
    if not DATA.is_dir():
        print(f"skipped: the TX40 log is not at {DATA}; set DYNID_DATA to the folder of the measured logs.")
        return
    report = Report("peers_consistent")
    motion, problem = built_problem(DATA)
    with tempfile.TemporaryDirectory() as place:
        rows = Path(place) / "rows.npz"
        save_rows(rows, motion, problem)
        for fit in dynid_fits(problem):
            record(report, problem, "dynid", fit)
        for peer in PEERS:
            for fit in peer_fits(peer, rows, Path(place)):
                record(report, problem, peer, fit)
    print(f"saved {report.save()}")


if __name__ == "__main__":
    main()
