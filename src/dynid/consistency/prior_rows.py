"""What is known beforehand as rows of unit noise: a prior of the user, or the reference where nothing is."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dynid.consistency.cone_program import Coordinates
from dynid.consistency.knowledge import ENTROPIC, GEODESIC, QUADRATIC, Prior
from dynid.consistency.pseudo_inertia import pseudo_inertias
from dynid.consistency.reference import ReferenceBodies
from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError
from dynid.model.robot import Robot

NO_DOUBT = 10.0
"""Doubt of the reference where nothing is known, as a share of a link's mass and size: it decides where the
data say next to nothing."""
_LEAST_SHARE = 0.1
"""Deviation of a prior value near zero, as a share of what is usual for such a parameter of its link."""


@dataclass(frozen=True, eq=False)
class PriorRows:
    """B z = t with unit noise.

    Args:
        B: (rows, standard).
        t: (rows,).
        given: which of them the user has given, so that they have a doubt of their own, (rows,).
    """

    B: FloatArray
    t: FloatArray
    given: NDArray[np.bool_]


def prior_rows(coordinates: Coordinates, prior: Prior | None, *, inside: bool) -> PriorRows:
    """What is known beforehand, or the reference where nothing is.

    Args:
        coordinates: the variables.
        prior: what the user has given.
        inside: whether log det Z stands beside them; else an entropic prior is its quadratic model.
    """
    z = coordinates
    kind = "" if prior is None else prior.kind
    by_rows = kind == GEODESIC or (kind == ENTROPIC and not inside)
    bodies = np.ones(len(z.robot.table), dtype=bool)
    bodies[z.others] = False
    # Four variables move together where a link's mass and size do: ‖Z − 1‖² = 4 δ².
    doubt = prior.doubt if prior is not None and by_rows else NO_DOUBT
    sigma = np.where(bodies, 2.0 * doubt, NO_DOUBT)
    rows = PriorRows(np.diag(1.0 / sigma), z.centre / sigma, bodies & by_rows)
    return rows if prior is None else _with_values(rows, z, prior)


def prior_reference(robot: Robot, prior: Prior, otherwise: ReferenceBodies) -> ReferenceBodies:
    """The bodies of a prior, which must be possible ones."""
    values = {**robot.parameters, **dict(prior.values)}
    bodies = pseudo_inertias(robot, robot.table.vector(values))
    for joint, body in zip(robot.joints, bodies, strict=True):
        sizes = np.linalg.eigvalsh(body)
        if not sizes[0] > 1e-9 * abs(sizes[-1]):
            raise DynidError(
                f"The prior gives the link of joint {joint.name!r} parameters that no body has (least "
                f"eigenvalue of its pseudo-inertia {sizes[0]:.3g}); give mass, centre of mass and inertia of "
                f"every link, or let kind of the prior be {QUADRATIC!r}."
            )
    return replace(otherwise, bodies=bodies, words="the prior")


def _known_values(robot: Robot, prior: Prior) -> dict[str, float]:
    """Values that a prior gives to single parameters: all of them, or those that belong to no body."""
    values = dict(prior.values) or dict(robot.parameters)
    if prior.kind == QUADRATIC and not values:
        raise DynidError(
            f"The prior has no values, and the file of robot {robot.name!r} neither; give values by the "
            "names of standard parameters, or leave out the prior."
        )
    if prior.kind == QUADRATIC:
        return values
    entries = {entry.name: entry for entry in robot.table}
    for name in values:
        robot.table.index(name)
    return {name: value for name, value in values.items() if entries[name].family != "inertial"}


def _with_values(rows: PriorRows, coordinates: Coordinates, prior: Prior) -> PriorRows:
    """The rows of a prior with those of single values: (x − x₀) / (doubt · |x₀|)."""
    known, table = _known_values(coordinates.robot, prior), coordinates.robot.table
    if not known:
        return rows
    usual = _usual_sizes(coordinates)
    places = [table.index(name) for name in known]
    values = np.array(list(known.values()))
    sigma = prior.doubt * np.maximum(np.abs(values), _LEAST_SHARE * usual[places])
    B = np.vstack([rows.B, coordinates.T[places] / sigma[:, None]])
    given = np.append(rows.given, np.ones(len(places), dtype=bool))
    return PriorRows(B, np.concatenate([rows.t, values / sigma]), given)


def _usual_sizes(coordinates: Coordinates) -> FloatArray:
    """What is usual for every parameter: of links by the reference's mass and size, (standard,)."""
    usual = coordinates.reference.scales.copy()
    for columns, body in zip(coordinates.links, coordinates.reference.bodies, strict=True):
        mass, second = float(body[3, 3]), float(np.trace(body[:3, :3]))
        usual[columns] = [*[second] * 6, *[np.sqrt(mass * second)] * 3, mass]
    return usual
