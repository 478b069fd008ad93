"""Sampled loops in machine code: controller steps and a Runge–Kutta plant, several simulations at once.

A loop may run beside its derivative along a direction of its parameters (``tangent_loop``).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from dynid.compile import jit
from dynid.compile.arrays import address, aligned_array, aligned_copy
from dynid.compile.batch import chosen_backend
from dynid.compile.ir_loop import STAGES, LoopSizes, loop_ir
from dynid.compile.program import Port
from dynid.compile.trace import Kernel, Symbols, fingerprint
from dynid.core.arrays import FloatArray
from dynid.core.errors import ModelError, ShapeError

Body = Callable[[Symbols], list[Any]]
_SIZE, _REAL, _POINTER = ctypes.c_int64, ctypes.c_double, ctypes.c_void_p
LANES = (1, 4)
"""Simulations that can run side by side: one, or a vector register of four doubles. Eight in one code outgrow
the instruction cache and are a third slower than twice four."""
_LEVEL = 2
"""A time loop waits on its own results: scheduling is worth the longer compilation."""


@dataclass(frozen=True)
class Loop:
    """A sampled loop as programs, not yet traced.

    Args:
        sizes: numbers of scalars.
        step: from "x" (states, modes, memory), "u", "p": held values, next memory, records.
        rate: from "x" (states, modes), "w" (held), "p": rates of the states.
        jump: from "x" (states, modes), "w", "p", "h" (length of the substep that ends, 0 when new values have
            just been held): states and modes from there on; None when nothing jumps.
    """

    sizes: LoopSizes
    step: Kernel
    rate: Kernel
    jump: Kernel | None = None

    @property
    def key(self) -> str:
        """Text that fixes the programs."""
        return " ".join(k.key for k in (self.step, self.rate, self.jump) if k is not None)


def describe_loop(
    name: str, key: str, sizes: LoopSizes, step: Body, rate: Body, jump: Body | None = None
) -> Loop:
    """A loop from the bodies of its programs.

    Args:
        name: for messages and source.
        key: text that names what the bodies take from outside, such as the robot's digest.
        sizes: numbers of scalars.
        step: see ``Loop``.
        rate: see ``Loop``.
        jump: see ``Loop``.
    """
    if sizes.total < 1:
        raise ModelError(f"The loop {name!r} has no state.")
    p, w = Port("p", sizes.parameters), Port("w", sizes.held)

    def kernel(kind: str, inputs: tuple[Port, ...], outputs: tuple[Port, ...], body: Body) -> Kernel:
        return Kernel(
            f"{name}_{kind}", f"{name} {kind} {sizes} {key} {fingerprint(body)}", inputs, outputs, body
        )

    plant = (Port("x", sizes.plant), w, p)
    return Loop(
        sizes,
        kernel(
            "step",
            (Port("x", sizes.total), Port("u", sizes.inputs), p),
            (w, Port("next", sizes.memory), Port("y", sizes.records)),
            step,
        ),
        kernel("rate", plant, (Port("dx", sizes.states),), rate),
        None
        if jump is None
        else kernel("jump", (*plant, Port("h", 1)), (Port("jumped", sizes.plant),), jump),
    )


@dataclass(frozen=True)
class LoopKernel:
    """A compiled loop.

    Args:
        loop: its programs.
        lanes: simulations per call.
        backend: "llvm" or "casadi".
        reason: why the fallback is in use, empty otherwise.
        shared: whether all simulations of a call have the same inputs.
    """

    loop: Loop
    lanes: int
    backend: str
    reason: str = ""
    shared: bool = False
    _module: jit.Module | None = field(default=None, repr=False)

    def __call__(
        self, state: FloatArray, inputs: FloatArray, parameters: FloatArray, step: float, substeps: int = 1
    ) -> tuple[FloatArray, FloatArray]:
        """Run ``lanes`` simulations over all samples.

        Args:
            state: starting states, modes and memory, (lanes, total).
            inputs: (samples, inputs) for all simulations, or (lanes, samples, inputs) unless they are shared.
            parameters: (lanes, parameters).
            step: time between samples [s].
            substeps: Runge–Kutta steps between samples.

        Returns:
            Records followed by the noted rates, (lanes, samples, sizes.row), a view of what the loop
            wrote, and the final state vectors (lanes, total).
        """
        sizes = self.loop.sizes
        self._check("state", state, (self.lanes, sizes.total))
        self._check("parameters", parameters, (self.lanes, sizes.parameters))
        u = np.asarray(inputs, dtype=float)
        if u.ndim == 2 and not self.shared:
            u = np.broadcast_to(u, (self.lanes, *u.shape))
        wanted = 2 if self.shared else 3
        samples = u.shape[-2] if u.ndim == wanted else -1
        self._check("inputs", u, (*(() if self.shared else (self.lanes,)), samples, sizes.inputs))
        check_step(step, substeps)
        if self._module is None:
            return self._evaluate(state, u, parameters, step / substeps, substeps)
        return self._run(state, u, parameters, step / substeps, substeps)

    @staticmethod
    def _check(name: str, array: FloatArray, shape: tuple[int, ...]) -> None:
        if array.shape != shape:
            raise ShapeError(f"{name} of the loop has shape {array.shape}; expected {shape}.")

    @cached_property
    def _function(self) -> Any:
        assert self._module is not None
        return self._module.function("loop", _SIZE, _SIZE, _REAL, _POINTER, _POINTER, _POINTER, _POINTER)

    def _run(
        self, x: FloatArray, u: FloatArray, p: FloatArray, h: float, substeps: int
    ) -> tuple[FloatArray, FloatArray]:
        sizes, samples = self.loop.sizes, u.shape[-2]
        state = aligned_copy(x.T)  # the loop advances it in place
        held = np.ascontiguousarray(u if self.shared else np.moveaxis(u, 0, 2))
        values = aligned_copy(p.T)
        records = aligned_array((samples, sizes.row, self.lanes))
        pointers = (address(a) for a in (state, held, values, records))
        self._function(samples, substeps, h, *pointers)
        return np.moveaxis(records, 2, 0), np.ascontiguousarray(state.T)

    @cached_property
    def _evaluators(self) -> tuple[Any, Any, Any]:
        loop = self.loop
        return loop.step.function(), loop.rate.function(), loop.jump.function() if loop.jump else None

    def _evaluate(
        self, x: FloatArray, u: FloatArray, p: FloatArray, h: float, substeps: int
    ) -> tuple[FloatArray, FloatArray]:
        """The same loop in Python over CasADi's evaluator."""
        u = np.broadcast_to(u, (self.lanes, *u.shape)) if self.shared else u
        sizes, (step, rate, jump) = self.loop.sizes, self._evaluators
        plant, values = sizes.plant, p.T
        state, instant = np.array(x.T, dtype=float), np.zeros((1, self.lanes))
        records = np.empty((u.shape[1], sizes.row, self.lanes))

        def rates(at: FloatArray, held: Any) -> FloatArray:
            return np.asarray(rate.call([at, held, values])[0].full())

        for k in range(u.shape[1]):
            held, following, note = step.call([state, u[:, k].T, values])
            records[k, : sizes.records] = note.full()
            if jump is not None:
                state[:plant] = jump.call([state[:plant], held, values, instant])[0].full()
            for s in range(substeps if sizes.states else 0):
                moved, start = state[:plant].copy(), state[: sizes.states].copy()
                total, slope = start.copy(), np.zeros_like(start)
                for place, weight in STAGES:
                    moved[: sizes.states] = start + place * h * slope
                    slope = rates(moved, held)
                    if s == 0 and place == 0:
                        records[k, sizes.records :] = slope[sizes.first_noted :]
                    total += weight * h * slope
                state[: sizes.states] = total
                if jump is not None:
                    state[:plant] = jump.call([state[:plant], held, values, instant + h])[0].full()
            state[plant:] = following.full()
        return np.ascontiguousarray(np.moveaxis(records, 2, 0)), np.ascontiguousarray(state.T)


def check_step(step: float, substeps: int) -> None:
    """Refuse a step that no time loop can take."""
    if substeps < 1 or not step > 0:
        raise ShapeError(
            f"A step of {step:g} s in {substeps} substeps cannot be taken; give a positive step and "
            "at least one substep."
        )


def compile_loop(loop: Loop, *, lanes: int = 1, backend: str = "auto", shared: bool = False) -> LoopKernel:
    """Compile a loop, from the cache when it was compiled before.

    Args:
        loop: from ``describe_loop``.
        lanes: simulations at once: 1 or 4.
        backend: "auto", "llvm" or "casadi"; DYNID_BACKEND overrides "auto".
        shared: whether all simulations of a call have the same inputs.
    """
    if lanes not in LANES:
        raise ModelError(f"lanes is {lanes}; allowed are {LANES}.")
    chosen = chosen_backend(backend)
    if chosen == "casadi":
        return LoopKernel(loop, lanes, "casadi", "asked for", shared)
    key = f"loop {lanes} {shared} {loop.sizes} {loop.key}"
    try:
        found = jit.load_cached(key)
        module = found[0] if found else jit.compile_cached(key, _text(loop, lanes, shared), {}, _LEVEL)
    except jit.CompileError as error:
        if chosen == "llvm":
            raise
        return LoopKernel(loop, lanes, "casadi", str(error), shared)
    return LoopKernel(loop, lanes, "llvm", "", shared, module)


def _text(loop: Loop, lanes: int, shared: bool) -> str:
    jump = None if loop.jump is None else loop.jump.program()
    return loop_ir(loop.step.program(), loop.rate.program(), jump, loop.sizes, lanes, shared)


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
        x, dx, z, dz = _groups_of(s["x"], (sizes.states, sizes.states, memory, memory))
        p, dp = _groups_of(s["p"], (sizes.parameters, sizes.parameters))
        values = loop.step.body({"x": [*x, *z], "u": s["u"], "p": p})
        rates = _derivative_along(values, [*x, *z, *p], [*dx, *dz, *dp])
        widths = (sizes.held, memory, sizes.records)
        pairs = zip(_groups_of(values, widths), _groups_of(rates, widths), strict=True)
        return [scalar for own, rate in pairs for scalar in (*own, *rate)]

    def rate(s: Symbols) -> list[Any]:
        x, dx = _groups_of(s["x"], (sizes.states, sizes.states))
        w, dw = _groups_of(s["w"], (sizes.held, sizes.held))
        p, dp = _groups_of(s["p"], (sizes.parameters, sizes.parameters))
        values = loop.rate.body({"x": x, "w": w, "p": p})
        return [*values, *_derivative_along(values, [*x, *w, *p], [*dx, *dw, *dp])]

    return describe_loop(f"tangent_{loop.step.name}", loop.key, tangent_sizes(sizes), step, rate)


def _groups_of(values: list[Any], widths: tuple[int, ...]) -> list[list[Any]]:
    """Consecutive groups of a list."""
    groups, start = [], 0
    for width in widths:
        groups.append(values[start : start + width])
        start += width
    return groups


def _derivative_along(values: list[Any], variables: list[Any], direction: list[Any]) -> list[Any]:
    """Derivative of scalars along a direction of the variables."""
    import casadi as ca

    stacked = ca.densify(ca.vertcat(*[ca.SX(value) for value in values]))
    slope = ca.densify(ca.jtimes(stacked, ca.vertcat(*variables), ca.vertcat(*direction)))
    return [slope[i] for i in range(len(values))]
