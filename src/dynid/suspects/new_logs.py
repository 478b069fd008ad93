"""What has changed on a robot since its model was identified: suspects of new logs beside that model."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray
from dynid.estimators.estimate import Further
from dynid.estimators.linear.catalogue import CATALOGUE
from dynid.problem.problem import Problem
from dynid.suspects.all_suspects import seen_suspects, suspects_in_rows
from dynid.suspects.anchor import fit_near_model
from dynid.suspects.changes import changes_since
from dynid.suspects.judgement import SuspectJudgement, judge_new_rows
from dynid.suspects.ledger import open_ledger
from dynid.suspects.log_defects import TorqueScale
from dynid.suspects.ranking import rank_ledger
from dynid.suspects.row_view import view_rows
from dynid.suspects.scene import scenes_of


def judge_new_logs(
    problem: Problem,
    values: FloatArray,
    covariance: FloatArray,
    kept: NDArray[np.bool_],
    joint_sigma: FloatArray,
    further: Further | None = None,
) -> SuspectJudgement:
    """Rank the suspects of new rows beside a model that is not fitted again.

    Args:
        problem: the new rows, with motions; those of ``with_known_terms`` where the model has added terms.
        values: parameters of the model, (columns,): base parameters first.
        covariance: theirs, (columns, columns).
        kept: which were estimated, (columns,).
        joint_sigma: standard deviation of each joint's torque error in its fit, (coordinates,).
        further: added terms of the model, which are no suspects.
    """
    assert problem.motions is not None
    anchor = fit_near_model(problem, values, covariance, kept, joint_sigma)
    own = values[: len(problem.base)]
    scenes = scenes_of(problem.base, own, problem.motions, problem.plan, further)
    view = view_rows(problem, anchor.fit, scenes)
    lacking = {name: term for name, term in CATALOGUE.items() if term.name not in problem.robot.terms}
    others = (s for s in suspects_in_rows(problem, view, lacking) if not isinstance(s, TorqueScale))
    since = seen_suspects(changes_since(view), ~problem.undriven)
    suspects = (*since, *others)  # a gain that has changed is among the first
    ledger = open_ledger(problem, suspects, kept, scenes, anchor)
    return judge_new_rows(rank_ledger(problem, ledger, scenes))
