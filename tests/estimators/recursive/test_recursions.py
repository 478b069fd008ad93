"""RLS and RIV: eq 9 and 10 themselves, the batch, σ, a state that is kept, and the compiled fold."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from dynid.compile.fold import FoldedRows
from dynid.core.errors import DynidError
from dynid.estimators.recursive import (
    CovarianceLimits,
    Directional,
    Exponential,
    Forgetting,
    InstrumentRecursion,
    LeastSquaresRecursion,
    ParameterPrior,
    Recursion,
    RecursionOptions,
    Variable,
)
from dynid.estimators.recursive.forgetting import factor_of_memory

Arrays = np.ndarray


@dataclass
class Stream:
    """Rows y = W χ + e with different noise on every joint, and a regressor that was measured with noise."""

    W: Arrays
    measured: Arrays
    y: Arrays
    sigma: Arrays
    truth: Arrays

    @property
    def names(self) -> list[str]:
        return [f"p{i}" for i in range(len(self.truth))]

    def part(self, rows: slice) -> Stream:
        return Stream(self.W[rows], self.measured[rows], self.y[rows], self.sigma, self.truth)


def stream(seed: int, base: int = 12, joints: int = 3, count: int = 300, noise: float = 0.0) -> Stream:
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(count, joints, base)) * np.exp(rng.uniform(-3, 3, base))
    W[:, 0, base // 2 :] = 0.0  # joints of an arm do not feel all parameters
    sigma, truth = np.exp(rng.uniform(-3, 0, joints)), rng.normal(size=base)
    y = W @ truth + rng.normal(size=(count, joints)) * sigma
    return Stream(W, W + noise * rng.normal(size=W.shape), y, sigma, truth)


def printed_recursion(
    given: Stream, P: Arrays, chi: Arrays, Z: Arrays | None = None
) -> tuple[Arrays, Arrays]:
    """Eq 9 and 10 of P4 as they stand, with diag(σ²) for I_n."""
    W = given.measured if Z is not None else given.W
    for k in range(len(given.y)):
        Zk = W[k] if Z is None else Z[k]
        K = P @ Zk.T @ np.linalg.inv(np.diag(given.sigma**2) + W[k] @ P @ Zk.T)
        P = P - K @ W[k] @ P
        chi = chi + K @ (given.y[k] - W[k] @ chi)
    return chi, P


def run(recursion: Recursion, given: Stream, Z: Arrays | None = None) -> Recursion:
    W = given.measured if Z is not None else given.W
    for k in range(len(given.y)):
        recursion.update(W[k], given.y[k], None if Z is None else Z[k])
    return recursion


def weighted(given: Stream) -> tuple[Arrays, Arrays]:
    base = len(given.truth)
    return (given.W / given.sigma[:, None]).reshape(-1, base), (given.y / given.sigma).ravel()


@pytest.mark.parametrize("seed", range(4))
def test_rls_is_equation_9(seed: int) -> None:
    given = stream(seed)
    chi, P = printed_recursion(given, 100.0 * np.eye(12), np.zeros(12))
    found = run(LeastSquaresRecursion(given.names, given.sigma, ParameterPrior.even(12, 100.0)), given)
    assert np.allclose(found.values, chi, rtol=1e-8, atol=1e-10)
    assert np.allclose(found.covariance(), P, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_riv_is_equation_10(seed: int) -> None:
    given = stream(seed, noise=0.3)
    chi, _ = printed_recursion(given, 100.0 * np.eye(12), np.zeros(12), given.W)
    found = run(InstrumentRecursion(given.names, given.sigma, ParameterPrior.even(12, 100.0)), given, given.W)
    assert np.allclose(found.values, chi, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("backend", ["auto", "casadi"])
def test_without_a_prior_the_end_is_the_batch(backend: str) -> None:
    given = stream(7)
    A, b = weighted(given)
    batch = np.linalg.lstsq(A, b, rcond=None)[0]
    options = RecursionOptions(backend=backend)
    found = run(LeastSquaresRecursion(given.names, given.sigma, None, options), given)
    assert np.allclose(found.values, batch, rtol=1e-9, atol=1e-12)
    assert np.allclose(found.covariance(), np.linalg.inv(A.T @ A), rtol=1e-8)
    assert found.squares == pytest.approx(float(np.sum((b - A @ batch) ** 2)), rel=1e-9)


def test_riv_without_a_prior_is_two_stage_least_squares_and_without_its_bias() -> None:
    given = stream(3, count=4000, noise=0.5)
    found = run(InstrumentRecursion(given.names, given.sigma), given, given.W)
    Z, _ = weighted(given)
    W = (given.measured / given.sigma[:, None]).reshape(-1, 12)
    y = (given.y / given.sigma).ravel()
    assert np.allclose(found.values, np.linalg.solve(Z.T @ W, Z.T @ y), rtol=1e-8, atol=1e-10)
    plain = np.linalg.lstsq(W, y, rcond=None)[0]
    weakest = int(np.argmin(np.linalg.norm(Z, axis=0)))
    assert abs(plain[weakest] / given.truth[weakest] - 1) > 0.3
    error = np.abs(found.values - given.truth) / found.sigma()
    assert error.max() < 4.5


def test_before_all_is_seen_values_are_the_shortest_and_sigma_says_so() -> None:
    given = stream(5)
    found = LeastSquaresRecursion(given.names, given.sigma)
    assert np.all(np.isinf(found.sigma()))
    for k in range(3):
        found.update(given.W[k], given.y[k])
    A, b = (part[:9] for part in weighted(given))
    assert np.linalg.norm(A @ found.values - b) < 1e-9 * np.linalg.norm(b)
    assert np.isinf(found.sigma()).any()


def test_innovations_are_chi_square() -> None:
    """eᵀS⁻¹e of one instant is the sum of squares that it adds: one per row on average."""
    given = stream(11, count=3000)
    found = LeastSquaresRecursion(given.names, given.sigma)
    squares = [found.update(W, y) for W, y in zip(given.W, given.y, strict=True)]
    assert np.mean(squares[20:]) == pytest.approx(3.0, abs=4 * np.sqrt(6.0 / 2980))
    S = np.diag(given.sigma**2) + given.W[0] @ found.covariance() @ given.W[0].T
    e = given.y[0] - given.W[0] @ found.values
    assert found.update(given.W[0], given.y[0]) == pytest.approx(float(e @ np.linalg.solve(S, e)), rel=1e-8)
    assert np.allclose(found.innovation, e)


@pytest.mark.parametrize("recursion", [LeastSquaresRecursion, InstrumentRecursion])
def test_sigma_holds_coloured_errors(recursion: Callable[..., Recursion]) -> None:
    """Errors that stay for 50 instants: classical σ is far too small, blocks of time are right."""
    ratios, classical = [], []
    for seed in range(30):
        given = stream(seed, base=6, count=2000)
        rng = np.random.default_rng([seed, 1])
        own = np.repeat(rng.normal(size=(40, 3)), 50, axis=0) * given.sigma
        slow = np.sin(2 * np.pi * np.arange(2000) / 400)[:, None, None]  # motion as slow as the errors
        W = given.W * slow
        given = Stream(W, W, W @ given.truth + own, given.sigma, given.truth)
        found = run(
            recursion(given.names, given.sigma), given, W if recursion is InstrumentRecursion else None
        )
        estimate = found.estimate()
        ratios += list((estimate.values - given.truth) / estimate.sigma)
        classical += list((estimate.values - given.truth) / np.sqrt(np.diag(found.covariance())))
    assert 0.7 < np.sqrt(np.mean(np.square(ratios))) < 1.4
    assert len(classical) == len(ratios)


@pytest.mark.parametrize("coloured", [False, True])
@pytest.mark.parametrize(
    "forgetting", [Exponential(factor=0.998), Variable(memory=500.0), Directional(factor=0.998)]
)
def test_sigma_holds_while_rows_are_forgotten(forgetting: Forgetting, coloured: bool) -> None:
    """Eight memories on: the blocks are those of the last one."""
    pulls = []
    for seed in range(8):
        given = stream(seed, base=6, count=4000)
        rng = np.random.default_rng([seed, 1])
        W, errors = given.W, rng.normal(size=(4000, 3))
        if coloured:
            W = W * np.sin(2 * np.pi * np.arange(4000) / 400)[:, None, None]
            errors = np.repeat(rng.normal(size=(80, 3)), 50, axis=0)
        own = Stream(W, W, W @ given.truth + errors * given.sigma, given.sigma, given.truth)
        found = LeastSquaresRecursion(own.names, own.sigma, None, RecursionOptions(forgetting=forgetting))
        estimate = run(found, own).estimate()
        pulls += list((estimate.values - own.truth) / estimate.sigma)
    assert 0.5 < np.sqrt(np.mean(np.square(pulls))) < 1.3


def test_sigma_of_instruments_does_not_depend_on_their_size() -> None:
    given = stream(3, count=1500, noise=0.3)
    plain, large = (
        run(InstrumentRecursion(given.names, given.sigma), given, k * given.W) for k in (1.0, 10.0)
    )
    assert np.allclose(plain.values, large.values, rtol=1e-8)
    assert np.allclose(plain.sigma(), large.sigma(), rtol=1e-6)
    assert plain.noise_scale < 3.0 * np.sqrt(1.0 + 0.3**2 * np.sum(given.truth**2) / np.min(given.sigma) ** 2)


def test_innovations_of_instruments_are_chi_square_too() -> None:
    given = stream(12, count=2000)
    found = InstrumentRecursion(given.names, given.sigma)
    for k in range(2000):
        found.update(given.W[k], given.y[k], given.W[k])
    assert found.noise_scale == pytest.approx(1.0, abs=0.05)


def test_covered_by_two_sigma_where_errors_are_white() -> None:
    inside = []
    for seed in range(40):
        given = stream(seed, base=6, count=600)
        estimate = run(LeastSquaresRecursion(given.names, given.sigma), given).estimate()
        inside += list(np.abs(estimate.values - given.truth) < 2 * estimate.sigma)
    assert 0.92 < np.mean(inside) <= 0.995


@pytest.mark.parametrize(
    "forgetting", [Exponential(factor=0.98), Variable(memory=60.0), Directional(factor=0.98)]
)
def test_forgetting_follows_a_change(forgetting: Forgetting) -> None:
    given = stream(2, count=900)
    after = given.truth.copy()
    after[0] += 0.5
    given.y[300:] += (given.W[300:, :, 0]) * 0.5
    start = ParameterPrior.even(12, 100.0)
    follows = LeastSquaresRecursion(given.names, given.sigma, start, RecursionOptions(forgetting=forgetting))
    stays = LeastSquaresRecursion(given.names, given.sigma, start)
    run(follows, given)
    run(stays, given)
    assert abs(follows.values[0] - after[0]) < 0.1 * abs(stays.values[0] - after[0])


def test_directional_forgetting_keeps_what_the_motion_does_not_show() -> None:
    given = stream(4)
    even, directed = (
        run(LeastSquaresRecursion(given.names, given.sigma, None, RecursionOptions(forgetting=kind)), given)
        for kind in (Exponential(factor=0.9), Directional(factor=0.9))
    )
    before = [np.sqrt(np.diag(r.covariance())) for r in (even, directed)]
    silent = given.W[0] * (np.arange(12) < 3)
    for r in (even, directed):
        for _ in range(100):
            r.update(silent, silent @ given.truth)
    after = [np.sqrt(np.diag(r.covariance())) for r in (even, directed)]
    assert np.all(after[0][6:] > 10 * before[0][6:])
    assert np.all(after[1][6:] < 1.5 * before[1][6:])


def test_limits_hold_the_covariance_from_both_sides() -> None:
    given = stream(6, count=2000)
    limits = CovarianceLimits(np.full(12, 0.02), np.full(12, 0.5))
    options = RecursionOptions(forgetting=Exponential(factor=0.95), limits=limits, checked=100)
    found = LeastSquaresRecursion(given.names, given.sigma, ParameterPrior.even(12, 0.2), options)
    for k in range(2000):
        W = given.W[k] * (np.arange(12) < 4)  # eight parameters are never shown
        found.update(W, W @ given.truth)
        if k % 100 == 99:
            sigma = np.sqrt(np.diag(found.covariance()))
            assert np.all(sigma > 0.02 - 1e-9)
            assert np.all(sigma < 0.55)
    assert np.allclose(found.values[:4], given.truth[:4], atol=1e-6)


@pytest.mark.parametrize("recursion", [LeastSquaresRecursion, InstrumentRecursion])
def test_a_parameter_set_free_moves_and_the_others_stay(recursion: Callable[..., Recursion]) -> None:
    given = stream(8)
    Z = given.W if recursion is InstrumentRecursion else None
    found = run(recursion(given.names, given.sigma), given, Z)
    before, P = found.values.copy(), np.linalg.inv(np.linalg.inv(found.covariance()))
    found.set_free(["p3"], 2.0)
    assert np.allclose(found.values, before, rtol=1e-9)
    P[3, 3] += 4.0
    assert np.allclose(found.covariance(), P, rtol=1e-6, atol=1e-12)
    if recursion is LeastSquaresRecursion:
        found.set_free(["p3"])
        assert np.isinf(found.sigma()[3])
        assert np.isfinite(found.sigma()).sum() == 11


@pytest.mark.parametrize("recursion", [LeastSquaresRecursion, InstrumentRecursion])
@pytest.mark.parametrize("forgetting", [None, Exponential(factor=0.99)])
def test_a_kept_state_goes_on_as_if_nothing_had_happened(
    recursion: Callable[..., Recursion], forgetting: Forgetting | None
) -> None:
    given = stream(9, count=1000)
    options = RecursionOptions() if forgetting is None else RecursionOptions(forgetting=forgetting)
    make = lambda: recursion(given.names, given.sigma, ParameterPrior.even(12, 4.0), options)  # noqa: E731
    Z = given.W if recursion is InstrumentRecursion else None
    whole, first, second = make(), make(), make()
    run(whole, given, Z)
    first_half, second_half = given.part(slice(0, 500)), given.part(slice(500, 1000))
    run(first, first_half, None if Z is None else Z[:500])
    second.restore({name: np.array(value) for name, value in first.state().items()})
    run(second, second_half, None if Z is None else Z[500:])
    assert np.array_equal(whole.values, second.values)
    assert (whole.updates, whole.rows) == (second.updates, second.rows)
    assert np.allclose(whole.sigma(), second.sigma(), rtol=1e-9)


def test_updates_take_no_memory_after_the_start() -> None:
    given = stream(10, count=400)
    options = RecursionOptions(stretch=10)
    found = LeastSquaresRecursion(given.names, given.sigma, None, options)
    tracemalloc.start()
    try:
        for _ in range(3):  # until all stretches of time are there
            run(found, given)
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(5):
            run(found, given)
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert grown < 8000  # bytes after 8000 updates: one float each would be 192 000


def test_the_fold_is_a_qr() -> None:
    rng = np.random.default_rng(0)
    for pivots, width, rows in ((1, 2, 1), (5, 6, 2), (7, 15, 3), (13, 14, 6)):
        compiled, plain = FoldedRows(pivots, width, rows), FoldedRows(pivots, width, rows, "casadi")
        everything = rng.normal(size=(9, rows, width))
        for block in everything:
            for own in (compiled, plain):
                own.new_rows[...] = block
                own.fold()
        A = everything.reshape(-1, width)
        for own in (compiled, plain):
            R = own.factor
            assert np.allclose(np.tril(R[:, :pivots], -1), 0.0)
            assert np.allclose(R[:, :pivots].T @ R, A[:, :pivots].T @ A, atol=1e-10)


def test_bad_starts_are_sentences() -> None:
    with pytest.raises(DynidError, match=r"give one positive number per joint"):
        LeastSquaresRecursion(["a"], np.array([0.0]))
    with pytest.raises(DynidError, match=r"The prior has 2 values, but there are 1 base parameters"):
        LeastSquaresRecursion(["a"], np.ones(1), ParameterPrior.unknown(2))
    with pytest.raises(DynidError, match=r"deviation of parameter 2 is 0; every deviation must be positive"):
        ParameterPrior(np.zeros(2), np.array([1.0, 0.0]))
    with pytest.raises(DynidError, match=r"forgetting factor is 1; it must be above 0 and below 1"):
        Exponential(factor=1.0)
    with pytest.raises(DynidError, match=r"memory of 0.001 s is 0.1 updates at 100 Hz"):
        factor_of_memory(0.001, 100.0)
    with pytest.raises(DynidError, match=r"need instruments with every update; give Z, or use RLS"):
        InstrumentRecursion(["a"], np.ones(1)).update(np.ones((1, 1)), np.ones(1))
    with pytest.raises(DynidError, match=r"There is no base parameter 'b'"):
        LeastSquaresRecursion(["a"], np.ones(1)).set_free(["b"])
