"""The singular value decomposition ends also where LAPACK's fast driver does not."""

from __future__ import annotations

import numpy as np
import pytest

import dynid
from dynid.core.arrays import singular_values, svd
from dynid.core.errors import NotTrustworthyError
from support.logs import pendulum_log


@pytest.fixture
def no_convergence(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """NumPy's driver fails; the shapes it was asked for are kept."""
    asked: list[int] = []

    def fail(a: np.ndarray, *args: object, **options: object) -> None:
        asked.append(a.ndim)
        raise np.linalg.LinAlgError("SVD did not converge")

    monkeypatch.setattr(np.linalg, "svd", fail)
    return asked


@pytest.mark.parametrize("shape", [(7, 4), (4, 7), (3, 6, 2)])
@pytest.mark.parametrize("full", [False, True])
def test_another_driver_takes_over(no_convergence: list[int], shape: tuple[int, ...], full: bool) -> None:
    A = np.random.default_rng(1).normal(size=shape)
    U, s, Vt = svd(A, full_matrices=full)
    k = s.shape[-1]
    assert np.allclose((U[..., :k] * s[..., None, :]) @ Vt[..., :k, :], A)
    if A.ndim == 2:
        assert np.allclose(singular_values(A), s)
    assert no_convergence


def test_a_fit_ends_with_the_same_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    robot, log = dynid.load_robot("double_pendulum"), pendulum_log()
    expected = dynid.fit(robot, log).estimate.values
    true_svd = np.linalg.svd
    failed = []

    def fail_sometimes(a: np.ndarray, *args: object, **options: object) -> object:
        failed.append(len(failed) % 2 == 0)
        if failed[-1]:
            raise np.linalg.LinAlgError("SVD did not converge")
        return true_svd(a, *args, **options)

    monkeypatch.setattr(np.linalg, "svd", fail_sometimes)
    assert np.allclose(dynid.fit(robot, log).estimate.values, expected, rtol=1e-9)
    assert any(failed)


def test_what_is_not_finite_is_told(no_convergence: list[int]) -> None:
    with pytest.raises(
        NotTrustworthyError, match=r"not finite; run dynid check on the logs, and add --repair"
    ):
        svd(np.array([[1.0, np.nan], [0.0, 1.0]]))
