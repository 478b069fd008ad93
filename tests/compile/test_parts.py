"""Programs cut into parts: the same results as in one piece."""

from __future__ import annotations

import numpy as np
import pytest

from dynid.compile import ir_program
from dynid.compile.batch import compile_batch
from dynid.compile.scan import compile_scan, describe_step
from dynid.compile.trace import describe
from dynid.dynamics.direct import direct_dynamics
from dynid.dynamics.operations import symbolic
from dynid.model.load import load_robot


@pytest.fixture
def short_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of 100 instructions, and no cache that could hold the whole program."""
    monkeypatch.setattr(ir_program, "PART", 100)
    monkeypatch.setenv("DYNID_CACHE", "off")


@pytest.mark.usefixtures("short_parts")
@pytest.mark.parametrize("name", ["regressor", "direct", "regressor_adjoint"])
def test_a_batch_in_parts_equals_the_evaluator(name: str) -> None:
    robot = load_robot("tx40_log")
    kernel = describe(robot, name)
    assert len(kernel.program().instructions) > 500
    rng = np.random.default_rng(0)
    heavy = [3.0 if e.symbol in ("XX", "YY", "ZZ", "M", "Ia") else 0.1 for e in robot.table]
    given = [
        np.array(heavy)
        if port.uniform
        else rng.normal(size=(port.width, 50) if port.columns else (50, port.width))
        for port in kernel.inputs
    ]
    a, b = compile_batch(kernel, "llvm")(*given), compile_batch(kernel, "casadi")(*given)
    assert np.abs(a - b).max() <= 1e-12 * np.abs(b).max()


@pytest.mark.usefixtures("short_parts")
@pytest.mark.parametrize("lanes", [1, 4])
def test_a_scan_in_parts_equals_the_evaluator(lanes: int) -> None:
    robot = load_robot("iiwa14").with_terms("Fv")
    n = robot.n_coordinates
    heavy = [3.0 if e.symbol in ("XX", "YY", "ZZ", "M", "Fv") else 0.0 for e in robot.table]

    def body(s: dict) -> list:  # type: ignore[type-arg]
        q, qd = s["x"][:n], s["x"][n:]
        return [*qd, *direct_dynamics(robot, s["p"], q, qd, s["u"], symbolic()), *q, 0.0]

    kernel = describe_step("parts", robot.digest, (2 * n, n, len(robot.table), n + 1), body)
    u = np.random.default_rng(0).normal(size=(20, n))
    fast, slow = (compile_scan(kernel, lanes=lanes, backend=b) for b in ("llvm", "casadi"))
    for found, expected in zip(
        fast(np.zeros(2 * n), u, heavy, 0.01), slow(np.zeros(2 * n), u, heavy, 0.01), strict=True
    ):
        assert np.allclose(found, expected, rtol=1e-11, atol=1e-13)
