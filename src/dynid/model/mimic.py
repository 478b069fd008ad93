"""Joints that follow another joint, q_follower = ratio · q_leader + offset, gathered into a coupling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dynid.core.errors import ModelError, unknown_name
from dynid.model.coupling import Coupling


@dataclass(frozen=True, slots=True)
class Mimic:
    """q_follower = ratio · q_leader + offset.

    Args:
        follower: name of the joint that follows.
        leader: name of the joint it follows; None when it is held at the offset.
        ratio: factor.
        offset: constant [rad or m].
    """

    follower: str
    leader: str | None
    ratio: float
    offset: float


def resolved(mimics: Sequence[Mimic], movable: Sequence[str]) -> dict[str, Mimic]:
    """Each follower in terms of a joint that follows none: chains are multiplied out.

    Raises:
        ModelError: when a joint follows twice or a chain closes on itself.
        UnknownNameError: when a joint that does not move or does not exist is named.
    """
    known = set(movable)
    direct: dict[str, Mimic] = {}
    for mimic in mimics:
        for name in (mimic.follower, mimic.leader):
            if name is not None and name not in known:
                raise unknown_name("joint in a mimic equation", name, movable)
        if mimic.follower in direct:
            raise ModelError(
                f"Joint {mimic.follower!r} follows both {direct[mimic.follower].leader!r} and "
                f"{mimic.leader!r}; keep one equation."
            )
        direct[mimic.follower] = mimic
    return {name: _followed(mimic, direct) for name, mimic in direct.items()}


def _followed(mimic: Mimic, direct: Mapping[str, Mimic]) -> Mimic:
    leader, ratio, offset = mimic.leader, mimic.ratio, mimic.offset
    chain = [mimic.follower]
    while leader is not None and leader in direct:
        chain.append(leader)
        if leader in chain[:-1]:
            raise ModelError(
                f"The mimic joints {' -> '.join(chain)} follow each other in a circle; one of them must be "
                "free."
            )
        onward = direct[leader]
        leader, ratio, offset = onward.leader, ratio * onward.ratio, ratio * onward.offset + offset
    return Mimic(mimic.follower, leader, ratio, offset)


def coupling_of(followers: Mapping[str, Mimic], movable: Sequence[str]) -> Coupling | None:
    """The coupling q_tree = G q + g0 of the movable joints, or None when no joint follows.

    Args:
        followers: resolved equations by follower.
        movable: names of the movable joints in order.
    """
    if not followers:
        return None
    free = [name for name in movable if name not in followers]
    if not free:
        raise ModelError("Every joint is held or follows another; one must be free to move.")
    rows, offsets = [], []
    for name in movable:
        mimic = followers.get(name, Mimic(name, name, 1.0, 0.0))
        rows.append(tuple(mimic.ratio if leader == mimic.leader else 0.0 for leader in free))
        offsets.append(mimic.offset)
    return Coupling(tuple(movable.index(name) for name in free), tuple(rows), tuple(offsets))


def shared_drives(
    values: Mapping[str, Mapping[str, float]], followers: Mapping[str, Mimic]
) -> dict[str, dict[str, float]]:
    """Drive and friction values of the free joints with their followers' share, τ_l = ratio · τ_f.

    Inertia, viscous friction and springs come with ratio², Coulomb friction with |ratio|, a constant with
    ratio; a follower's spring also pulls at the follower's offset.

    Args:
        values: Ia, Fv, Fc, off and the spring rate Ks by joint name.
        followers: resolved equations by follower.
    """
    result = {name: dict(row) for name, row in values.items() if name not in followers}
    for name, mimic in followers.items():
        if mimic.leader is None or name not in values:
            continue
        row, g = values[name], mimic.ratio
        share = {symbol: g * g * row[symbol] for symbol in ("Ia", "Fv", "Ks") if symbol in row}
        if "Fc" in row:
            share["Fc"] = abs(g) * row["Fc"]
        if "off" in row or "Ks" in row:
            share["off"] = g * (row.get("off", 0.0) + row.get("Ks", 0.0) * mimic.offset)
        target = result.setdefault(mimic.leader, {})
        for symbol, value in share.items():
            target[symbol] = target.get(symbol, 0.0) + value
    return result
