"""Problems: streamed, decimated, masked, and taken apart again."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from scipy import signal

from dynid.base import BaseMap, find_base
from dynid.compile.kernels import kernels
from dynid.core.errors import DynidError, ShapeError
from dynid.model.load import load_robot
from dynid.preparation.decimate import decimate_rows
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.problem import accumulate, build_problem
from dynid.problem.row_source import structure
from support.motions import base_truth, exact_torques, fourier_motion, simulated
from support.spooled import motion_on_disk

Array = np.ndarray


@pytest.fixture(scope="module")
def arm() -> tuple[BaseMap, Array]:
    base = find_base(load_robot("tx40"))
    return base, base_truth(base, np.random.default_rng(0))


def recording(
    arm: tuple[BaseMap, Array], seed: int, seconds: float = 8.0, rate_hz: float = 250.0, noise: float = 0.02
) -> Motion:
    base, truth = arm
    rng = np.random.default_rng(seed)
    motion = fourier_motion(base.robot, rng, seconds=seconds, rate_hz=rate_hz, name=f"run {seed}")
    return simulated(base, truth, motion, rng, noise)


def direct(base: BaseMap, motion: Motion, plan: Preparation, j: int) -> tuple[Array, Array, Array]:
    """W_j, y_j and their samples, all at once and without any of the code under test."""
    W = kernels(base.robot, base.columns).regressor_blocks(motion.q, motion.qd, motion.qdd)[j]
    y, speed = motion.tau[:, j][None], motion.qd[:, j][None]
    if plan.decimation > 1:
        W, y, speed = (decimate_rows(a, plan.decimation, plan.convention) for a in (W, y, speed))
    threshold = plan.speed_thresholds[j] if plan.speed_thresholds else 0.0
    kept = np.abs(speed[0]) >= threshold
    return W.T[kept], y[0, kept], np.flatnonzero(kept)


@pytest.mark.parametrize("convention", ["scipy", "matlab"])
@pytest.mark.parametrize("decimation", [1, 3, 10])
@pytest.mark.parametrize("block_samples", [None, 61])
def test_rows_are_those_of_the_whole_motion(
    arm: tuple[BaseMap, Array], convention: str, decimation: int, block_samples: int | None
) -> None:
    base, _ = arm
    motion = recording(arm, 1, seconds=8.012)  # not a multiple of the decimation
    plan = Preparation(decimation=decimation, convention=convention, speed_thresholds=(0.1,) * 3 + (0.0,) * 3)
    problem = build_problem(base.robot, [motion], plan, base, block_samples=block_samples)
    # MATLAB's transfer function of order 8 costs half of the digits.
    close = 1e-6 if convention == "matlab" and decimation > 1 else 1e-10
    for j in range(6):
        W, y, sample = direct(base, motion, plan, j)
        rows = problem.rows(j)
        assert np.array_equal(rows.sample, sample)
        np.testing.assert_allclose(rows.wide(len(base)), W, atol=close * np.abs(W).max())
        np.testing.assert_allclose(rows.y, y, atol=close * np.abs(y).max())
        factor = problem.regression.joints[j]
        assert factor.rows == len(y)
        gram = np.column_stack([rows.W, rows.y]).T @ np.column_stack([rows.W, rows.y])
        np.testing.assert_allclose(factor.R.T @ factor.R, gram, atol=1e-10 * np.abs(gram).max())


def test_long_decimated_motions_are_cut_with_settled_edges(arm: tuple[BaseMap, Array]) -> None:
    """Blocks far apart share no sample, so every edge in between must have forgotten itself."""
    base, _ = arm
    motion = recording(arm, 2, seconds=40.0, rate_hz=100.0)
    for convention, close in (("scipy", 1e-11), ("matlab", 1e-7)):
        plan = Preparation(decimation=2, convention=convention)
        whole, cut = (
            build_problem(base.robot, [motion], plan, base, block_samples=size).rows(0)
            for size in (10_000, 300)
        )
        np.testing.assert_allclose(cut.W, whole.W, atol=close * np.abs(whole.W).max())
        np.testing.assert_allclose(cut.y, whole.y, atol=close * np.abs(whole.y).max())


def test_decimation_keeps_the_model_exact(arm: tuple[BaseMap, Array]) -> None:
    """The same low-pass on both sides: without noise, the truth still comes back."""
    base, truth = arm
    motion = recording(arm, 3, noise=0.0)
    problem = build_problem(base.robot, [motion], Preparation(decimation=5), base)
    np.testing.assert_allclose(problem.spectrum().solution, truth, rtol=1e-8, atol=1e-10)


def test_times_of_rows_are_those_of_the_samples(arm: tuple[BaseMap, Array]) -> None:
    base, _ = arm
    motion = recording(arm, 4, seconds=4.004)  # 1001 samples
    shifted = replace(motion, time=motion.time + 12.5)
    for convention, first in (("scipy", 0), ("matlab", 1000 % 7)):
        plan = Preparation(decimation=7, convention=convention)
        problem = build_problem(base.robot, [shifted], plan, base)
        expected = shifted.time[first::7]
        np.testing.assert_allclose(problem.time(problem.rows(2)), expected, atol=1e-9)


def test_motions_are_read_once_each_from_a_generator(arm: tuple[BaseMap, Array]) -> None:
    base, _ = arm
    read = []

    def motions() -> Iterator[Motion]:
        for seed in (1, 2, 3):
            read.append(seed)
            yield recording(arm, seed, seconds=2.0)

    problem = build_problem(base.robot, motions(), Preparation(), base)
    assert read == [1, 2, 3]
    assert [e.name for e in problem.experiments] == ["run 1", "run 2", "run 3"]
    assert [e.samples for e in problem.experiments] == [500] * 3
    assert problem.row_counts.tolist() == [1500] * 6
    assert problem.names == base.names


def test_experiments_can_be_taken_apart(arm: tuple[BaseMap, Array]) -> None:
    base, _ = arm
    runs = [recording(arm, seed, seconds=2.0 + seed) for seed in (1, 2, 3)]
    together = build_problem(base.robot, runs, Preparation(decimation=2), base)
    for k, run in enumerate(runs):
        own = together.experiment_problem(k)
        alone = build_problem(base.robot, [run], Preparation(decimation=2), base)
        np.testing.assert_allclose(own.spectrum().solution, alone.spectrum().solution, rtol=1e-7, atol=1e-9)
        assert own.row_counts.tolist() == alone.row_counts.tolist()
        assert own.experiments == alone.experiments
        assert np.array_equal(own.rows(1).sample, alone.rows(1).sample)
        assert not own.rows(1).experiment.any()
        assert own.motions == (run,)
        assert [cell.experiment for cell in own.regression.cells] == [0] * len(own.regression.cells)
    rest = together.subset([0, 2])
    alone = build_problem(base.robot, [runs[0], runs[2]], Preparation(decimation=2), base)
    np.testing.assert_allclose(rest.spectrum().solution, alone.spectrum().solution, rtol=1e-7, atol=1e-9)
    assert np.array_equal(rest.rows(0).experiment, alone.rows(0).experiment)
    with pytest.raises(DynidError, match=r"Experiments \[3\] were asked for; give some of 0 … 2"):
        together.experiment_problem(3)


def test_weights_conditions_and_correlations_are_those_of_the_rows(arm: tuple[BaseMap, Array]) -> None:
    base, _ = arm
    problem = build_problem(base.robot, [recording(arm, 1)], Preparation(), base)
    weights = np.array([1.0, 2.0, 3.0, 10.0, 20.0, 50.0])
    W = np.vstack([w * problem.rows(j).wide(len(base)) for j, w in enumerate(weights)])
    Y = np.concatenate([w * problem.rows(j).y for j, w in enumerate(weights)])
    R = problem.stacked_factor(weights)
    stack = np.column_stack([W, Y])
    np.testing.assert_allclose(R.T @ R, stack.T @ stack, rtol=1e-9, atol=1e-8)
    found = problem.conditions(weights)
    assert found.weighted == pytest.approx(np.linalg.cond(W), rel=1e-9)
    assert found.weighted_scaled == pytest.approx(np.linalg.cond(W / np.linalg.norm(W, axis=0)), rel=1e-9)
    bare = np.vstack([problem.rows(j).wide(len(base)) for j in range(6)])
    assert found.plain == pytest.approx(np.linalg.cond(bare), rel=1e-9)
    assert found.scaled == pytest.approx(np.linalg.cond(bare / np.linalg.norm(bare, axis=0)), rel=1e-9)
    root = problem.spectrum(weights).root
    C = np.linalg.inv(W.T @ W)
    scale = np.sqrt(np.outer(np.diag(C), np.diag(C)))
    np.testing.assert_allclose(root @ root.T / scale, C / scale, atol=1e-8)
    kept = np.ones(len(base), dtype=bool)
    kept[[3, 10]] = False
    root = problem.spectrum(weights, kept).root
    C = np.linalg.inv(W[:, kept].T @ W[:, kept])
    scale = np.sqrt(np.outer(np.diag(C), np.diag(C)))
    np.testing.assert_allclose(root @ root.T / scale, C / scale, atol=1e-8)
    with pytest.raises(ShapeError, match=r"weights have shape \(2,\); expected \(6,\), one per coordinate"):
        problem.stacked_factor([1.0, 2.0])


def test_structure_is_what_never_moves_a_joint(arm: tuple[BaseMap, Array]) -> None:
    base, _ = arm
    compiled = kernels(base.robot, base.columns)
    rng = np.random.default_rng(0)
    W = compiled.regressor_blocks(*(rng.normal(size=(50, 6)) for _ in range(3)))
    for j, columns in enumerate(structure(compiled)):
        outside = [c for c in range(len(base)) if c not in columns]
        assert not W[j, outside].any()
        assert all(W[j, c].any() for c in columns)


def test_rows_beyond_the_budget_are_given_up(arm: tuple[BaseMap, Array]) -> None:
    base, _ = arm
    runs = [recording(arm, seed, seconds=4.0) for seed in (1, 2)]
    full = build_problem(base.robot, runs, Preparation(), base)
    size = sum(full.rows(j).nbytes for j in range(6))
    for budget, rows in ((size, True), (size - 1, False), (size // 2 + 100, False), (0, False)):
        problem = build_problem(base.robot, runs, Preparation(), base, budget_bytes=budget)
        assert problem.has_rows is rows
        assert problem.motions is None
        np.testing.assert_allclose(
            problem.spectrum().solution, full.spectrum().solution, rtol=1e-8, atol=1e-10
        )
    with pytest.raises(DynidError, match=r"12000 rows .* did not fit the memory budget.*larger decimation"):
        problem.rows(0)
    assert full.motions is not None


def test_cells_stay_few_and_hold_everything(
    arm: tuple[BaseMap, Array], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accumulate, "MAX_CELLS", 10)
    monkeypatch.setattr(accumulate, "CELL_SAMPLES", 40)
    base, _ = arm
    runs = [recording(arm, seed, seconds=4.0) for seed in (1, 2, 3)]
    problem = build_problem(base.robot, runs, Preparation(), base, block_samples=20)
    cells = problem.regression.cells
    assert 3 <= len(cells) <= 10
    assert [cell.experiment for cell in cells] == sorted(cell.experiment for cell in cells)
    for k in range(3):
        own = [cell.factors[1] for cell in cells if cell.experiment == k]
        total = sum(f.R.T @ f.R for f in own)
        R = problem.regression.experiments[k][1].R
        np.testing.assert_allclose(total, R.T @ R, atol=1e-9 * np.abs(total).max())
        assert sum(f.rows for f in own) == 1000


def test_memory_does_not_grow_with_the_length() -> None:
    """Peak while reading four times as many motions, each made when asked for and then forgotten."""
    base = find_base(load_robot("scara"))
    truth = base_truth(base, np.random.default_rng(0))

    def motions(count: int) -> Iterator[Motion]:
        for seed in range(count):
            rng = np.random.default_rng(seed)
            yield simulated(base, truth, fourier_motion(base.robot, rng, seconds=40), rng, 0.01)

    def peak(count: int) -> int:
        tracemalloc.start()
        build_problem(base.robot, motions(count), Preparation(), base, budget_bytes=100_000)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(1)  # caches
    few, many = peak(5), peak(20)
    assert many < 1.1 * few


def test_masked_joints_may_have_no_rows(arm: tuple[BaseMap, Array]) -> None:
    base, _ = arm
    plan = Preparation(speed_thresholds=(0.0,) * 5 + (1e6,))
    problem = build_problem(base.robot, [recording(arm, 1, seconds=2.0)], plan, base)
    assert problem.row_counts.tolist() == [500] * 5 + [0]
    assert len(problem.rows(5)) == 0
    assert problem.torque_norms()[5] == 0


def test_what_does_not_fit_gets_a_sentence(arm: tuple[BaseMap, Array]) -> None:
    base, _ = arm
    with pytest.raises(DynidError, match="No motion was given"):
        build_problem(base.robot, [], Preparation(), base)
    two = Motion("two axes", np.arange(3.0), *(np.zeros((3, 2)) for _ in range(4)), 1.0)
    with pytest.raises(ShapeError, match="'two axes' has 2 axes, but robot 'tx40' has 6 coordinates"):
        build_problem(base.robot, [two], Preparation(), base)
    with pytest.raises(ShapeError, match=r"The plan has 2 speed thresholds.*give one each"):
        build_problem(base.robot, [recording(arm, 1)], Preparation(speed_thresholds=(0.1, 0.1)), base)
    nothing = Motion("nothing", np.zeros(0), *(np.zeros((0, 6)) for _ in range(4)), 1.0)
    with pytest.raises(ShapeError, match="Motion 'nothing' has no samples"):
        build_problem(base.robot, [nothing], Preparation(), base)


def test_the_decimated_torque_is_a_low_passed_one(arm: tuple[BaseMap, Array]) -> None:
    """A sine above the new band disappears from the rows, one below stays."""
    base, _ = arm
    motion = recording(arm, 1, noise=0.0)
    high, low = (np.sin(2 * np.pi * f * motion.time) for f in (60.0, 2.0))
    quiet = replace(motion, tau=np.column_stack([high, low, *(0 * high for _ in range(4))]))
    problem = build_problem(base.robot, [quiet], Preparation(decimation=10), base)
    assert np.abs(problem.rows(0).y[20:-20]).max() < 0.01
    resampled = signal.resample(low, len(problem.rows(1)))
    np.testing.assert_allclose(problem.rows(1).y[20:-20], resampled[20:-20], atol=0.02)


def test_exact_torques_of_the_helpers_are_the_kernels(arm: tuple[BaseMap, Array]) -> None:
    base, truth = arm
    motion = recording(arm, 1, noise=0.0)
    expected = kernels(base.robot).inverse(base.expand(truth), motion.q, motion.qd, motion.qdd)
    np.testing.assert_allclose(exact_torques(base, truth, motion), expected, atol=1e-10)


@pytest.mark.parametrize("decimation", [1, 7])
@pytest.mark.parametrize("convention", ["scipy", "matlab"])
def test_a_motion_on_disk_gives_the_same_rows(
    arm: tuple[BaseMap, Array], decimation: int, convention: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    base, _ = arm
    motion = recording(arm, 5, seconds=30.012)
    plan = Preparation(decimation=decimation, speed_thresholds=(0.1,) * 6, convention=convention)
    whole = build_problem(base.robot, [motion], plan, base)
    monkeypatch.setattr("dynid.problem.stream._PIECES_READ", 1)
    found = build_problem(base.robot, [motion_on_disk(motion)], plan, base)
    assert found.experiments == whole.experiments
    for j in range(6):
        own, other = found.rows(j), whole.rows(j)
        assert np.array_equal(own.sample, other.sample)
        np.testing.assert_allclose(own.W, other.W, atol=1e-11 * np.abs(other.W).max())
        np.testing.assert_allclose(own.y, other.y, atol=1e-11 * np.abs(other.y).max())
    with pytest.raises(DynidError, match="No motion was given"):
        build_problem(base.robot, [], plan, base)
