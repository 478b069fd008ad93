"""A kernel at one instant gives what the batch gives, by machine code and by CasADi."""

from __future__ import annotations

import numpy as np
import pytest

from dynid.compile.batch import compile_batch
from dynid.compile.one_sample import OneSample
from dynid.compile.trace import describe
from support.robots import ORACLE_ROBOTS


@pytest.mark.parametrize("backend", ["llvm", "casadi"])
@pytest.mark.parametrize("name", ["welded", "branched", "iiwa14"])
def test_one_sample_is_a_batch_of_one(name: str, backend: str) -> None:
    kernel = describe(ORACLE_ROBOTS[name], "regressor")
    one, rng = OneSample(kernel, backend), np.random.default_rng(0)
    assert (one.reason == "") == (backend == "llvm")
    for _ in range(2):
        states = [rng.normal(size=(1, port.width)) for port in kernel.inputs]
        for array, state in zip(one.inputs.values(), states, strict=True):
            array[...] = state[0]
        wanted = compile_batch(kernel, backend)(*states)[:, 0]
        assert np.allclose(one()["W"], wanted, rtol=1e-12, atol=1e-12)
