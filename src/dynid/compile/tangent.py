"""Exact derivatives of a sampled loop: the loop and one direction of its parameters, simulated together."""

from __future__ import annotations

from typing import Any

from dynid.compile.ir_loop import LoopSizes
from dynid.compile.loop import Loop, describe_loop
from dynid.compile.trace import Symbols
from dynid.core.errors import ModelError


def tangent_sizes(sizes: LoopSizes) -> LoopSizes:
    """Sizes of the doubled loop, which notes no rates.

    Its inputs are not doubled, because they do not depend on the parameters.
    """
    return LoopSizes(
        2 * sizes.states,
        0,
        2 * sizes.memory,
        sizes.inputs,
        2 * sizes.held,
        2 * sizes.parameters,
        2 * sizes.records,
        noted=0,
    )


def tangent_loop(loop: Loop) -> Loop:
    """The loop beside its derivative along a direction ṗ of the parameters (forward mode).

    With x⁺ = F(x, u, p) one sample of the loop, the doubled loop also runs ẋ⁺ = F_x ẋ + F_p ṗ. Runge–Kutta of
    the variational equation is the derivative of Runge–Kutta, so ẋ is that of the simulation itself, to
    rounding, and not of the differential equation it stands for.

    State vector: x, ẋ · memory z, ż. Held values, records and parameters are likewise doubled: (w, ẇ),
    (y, ẏ), (p, ṗ).

    Args:
        loop: a loop without jumps; limits (min, max) take the side they are on.
    """
    sizes = loop.sizes
    if loop.jump is not None or sizes.modes:
        raise ModelError(
            "A loop that jumps (set-valued friction) has no derivative along its parameters; use smooth "
            "friction."
        )

    def step(s: Symbols) -> list[Any]:
        memory = sizes.memory
        x, dx, z, dz = _cut(s["x"], (sizes.states, sizes.states, memory, memory))
        p, dp = _cut(s["p"], (sizes.parameters, sizes.parameters))
        values = loop.step.body({"x": [*x, *z], "u": s["u"], "p": p})
        rates = _along(values, [*x, *z, *p], [*dx, *dz, *dp])
        widths = (sizes.held, memory, sizes.records)
        pairs = zip(_cut(values, widths), _cut(rates, widths), strict=True)
        return [scalar for own, rate in pairs for scalar in (*own, *rate)]

    def rate(s: Symbols) -> list[Any]:
        x, dx = _cut(s["x"], (sizes.states, sizes.states))
        w, dw = _cut(s["w"], (sizes.held, sizes.held))
        p, dp = _cut(s["p"], (sizes.parameters, sizes.parameters))
        values = loop.rate.body({"x": x, "w": w, "p": p})
        return [*values, *_along(values, [*x, *w, *p], [*dx, *dw, *dp])]

    return describe_loop(f"tangent_{loop.step.name}", loop.key, tangent_sizes(sizes), step, rate)


def _cut(values: list[Any], widths: tuple[int, ...]) -> list[list[Any]]:
    """Consecutive groups of a list."""
    groups, start = [], 0
    for width in widths:
        groups.append(values[start : start + width])
        start += width
    return groups


def _along(values: list[Any], variables: list[Any], direction: list[Any]) -> list[Any]:
    """Derivative of scalars along a direction of the variables."""
    import casadi as ca

    stacked = ca.densify(ca.vertcat(*[ca.SX(value) for value in values]))
    slope = ca.densify(ca.jtimes(stacked, ca.vertcat(*variables), ca.vertcat(*direction)))
    return [slope[i] for i in range(len(values))]
