"""Figures of error, against numbers worked out by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest

from dynid.core.errors import ShapeError
from dynid.validation.figures import error_figures


def test_figures_by_hand() -> None:
    tau = np.array([[3.0, 1.0], [-4.0, -1.0], [0.0, 2.0], [0.0, 0.0]])
    model = tau - np.array([[1.0, 0.5], [-1.0, 0.5], [1.0, 0.5], [-1.0, 0.5]])
    found = error_figures([tau], [model])
    np.testing.assert_allclose(found.relative_percent, [100 * 2 / 5, 100 * 1 / np.sqrt(6)])
    np.testing.assert_allclose(found.rms, [1.0, 0.5])
    np.testing.assert_allclose(found.nrmse_percent, [100 / 7, 100 * 0.5 / 3])
    np.testing.assert_allclose(found.bias, [0.0, 0.5])
    np.testing.assert_allclose(found.max_error, [1.0, 0.5])
    assert found.overall_percent == pytest.approx(100 * np.sqrt(5 / 31))


def test_several_stretches_count_as_one() -> None:
    rng = np.random.default_rng(0)
    tau, model = rng.normal(size=(60, 3)), rng.normal(size=(60, 3))
    whole = error_figures([tau], [model])
    parts = error_figures([tau[:20], tau[20:]], [model[:20], model[20:]])
    assert whole.to_dict() == parts.to_dict()


def test_rows_left_out_do_not_count() -> None:
    rng = np.random.default_rng(1)
    tau, model = rng.normal(size=(50, 2)), rng.normal(size=(50, 2))
    counts = np.ones((50, 2), dtype=bool)
    counts[10:, 1] = False
    found = error_figures([tau], [model], [counts])
    error = tau[:10, 1] - model[:10, 1]
    assert found.samples.tolist() == [50, 10]
    assert found.relative_percent[1] == pytest.approx(
        100 * np.linalg.norm(error) / np.linalg.norm(tau[:10, 1])
    )


def test_no_torque_gives_no_figure_and_no_warning() -> None:
    tau = np.zeros((10, 2))
    tau[:, 0] = 1.0
    counts = np.ones((10, 2), dtype=bool)
    found = error_figures([tau], [np.full((10, 2), 0.5)], [counts])
    content = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert content["relative_percent"] == [50.0, None]
    nothing = error_figures([tau], [tau], [~counts])
    assert nothing.to_dict()["rms"] == [None, None]
    assert nothing.to_dict()["overall_percent"] is None


def test_shapes_must_agree() -> None:
    with pytest.raises(
        ShapeError, match=r"predicted torques have shape \(4, 2\); expected that of the measured"
    ):
        error_figures([np.zeros((5, 2))], [np.zeros((4, 2))])
