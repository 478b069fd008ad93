"""Options of ``dynid track``: source, filters, recursion, start, watch, output."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from dynid.base.base_map import BaseMap
from dynid.cli.command import OptionGroup, numbers_in, option
from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError, unknown_name
from dynid.core.files import naming_file, read_toml
from dynid.core.keys import option_help
from dynid.core.lazy import later
from dynid.core.tables import table_from
from dynid.estimators.recursive.forgetting import (
    Directional,
    Exponential,
    Forgetting,
    Remember,
    Variable,
    factor_of_memory,
)
from dynid.estimators.recursive.prior import ParameterPrior
from dynid.logs.read import read_log
from dynid.preparation.causal_plan import CausalPlan
from dynid.results.load import load_result, parameters_from
from dynid.tracking.sources import SocketLimits, SourceOptions
from dynid.tracking.tracker import METHODS, RLS
from dynid.tracking.watch import WatchOptions
from dynid.workflow.track import prior_of_result

_controller_model = later("dynid.workflow.controller_model", "identify_controller_model")
FORGETTING = ("none", "exponential", "variable", "directional")
CAUSAL, BATCH = "causal", "batch"


@dataclass(frozen=True)
class StreamOptions(OptionGroup, title="The source"):
    """What is read, and how."""

    mapping: Path | None = option(
        None, "MAP", "TOML file that says what columns or keys mean, as for logs.", name="--map"
    )
    rate_hz: float | None = option(None, "F", "Samples per second.", shown="from the first stamps")
    speed: float | None = option(
        None, "X", "Replay a log in X times the time in which it was taken.", shown="as fast as possible"
    )
    sender: str | None = option(None, "HOST", "Take datagrams of this address alone.", name="--from")
    bind: bool = option(False, "", "The ZeroMQ address is this machine's: publishers connect to it.")
    topic: str = option("", "TEXT", "Beginning of the ZeroMQ messages that are wanted.")
    timeout_s: float | None = option(
        None, "S", "End after a socket has been silent for so long.", shown="wait for ever", min=0.01
    )
    queue: int = option(1000, "N", "Messages of a socket that may wait before the oldest are dropped.", min=1)
    reorder: int = option(0, "N", "Samples that a late one may be waited for.", min=0)
    condition: str = option("", "NAME", "The robot's condition in which the stream is taken.")

    @property
    def source_options(self) -> SourceOptions:
        """How the source is opened."""
        limits = SocketLimits(queue=self.queue, timeout_s=self.timeout_s)
        return SourceOptions(
            speed=self.speed, sender=self.sender, bind=self.bind, topic=self.topic, limits=limits
        )


@dataclass(frozen=True)
class CausalOptions(OptionGroup, title="Filters (suggested from the data where nothing is given)"):
    """Causal filters, or the rows of a fit."""

    rows: str = option(
        CAUSAL,
        "KIND",
        "causal, as a stream needs; or batch, for logs: exactly the rows that dynid fit makes of them, and "
        "an end that equals its least squares (--consistent never).",
        choices=(CAUSAL, BATCH),
    )
    plan: Path | None = option(
        None,
        "FILE",
        "Causal plan as TOML, or a preparation with --rows batch; the options below override its keys.",
    )
    cutoff_hz: float | None = option(None, "F", option_help(CausalPlan, "cutoff_hz"))
    decimation: int | None = option(None, "N", option_help(CausalPlan, "decimation"))
    row_decimation: int | None = option(None, "N", option_help(CausalPlan, "row_decimation"))
    mask: str | None = option(None, "V", "Speeds below which rows are left out: one, or one per joint.")
    velocity: str | None = option(None, "NAME", option_help(CausalPlan, "velocity"))
    held_torque: bool = option(
        False, "", "Torques are commands that hold from their stamp to the next: read half a sample later."
    )
    slow: str | None = option(None, "NAME", option_help(CausalPlan, "slow"))
    listen_s: float = option(10.0, "S", "Seconds of a stream from which filters are suggested.", min=1.0)

    def keys(self, axes: int) -> dict[str, Any]:
        """Keys of the plan that the command line gives."""
        own = ("cutoff_hz", "decimation", "row_decimation", "velocity", "held_torque", "slow")
        keys = {name: value for name, value in self.given.items() if name in own}
        if self.mask is not None:
            keys["speed_thresholds"] = numbers_in(self.mask, axes)
            if not keys["speed_thresholds"]:
                raise DynidError(f"--mask is {self.mask!r}; give one speed, or {axes} separated by commas.")
        return keys

    def read_plan(self) -> CausalPlan | None:
        """The plan of a file."""
        if self.plan is None:
            return None
        content = read_toml(self.plan, "causal plan")
        with naming_file(self.plan, "Causal plan"):
            return table_from(content, CausalPlan)


@dataclass(frozen=True)
class RecursionChoice(OptionGroup, title="The recursion"):
    """Method, forgetting, noise."""

    method: str = option(
        RLS,
        "NAME",
        "rls, or riv, whose instruments come from commanded positions: no filter needed (P4).",
        choices=tuple(METHODS),
    )
    controller: str | None = option(
        None, "C", "--rows batch --method riv: the control law, for its sample time."
    )
    memory_s: float | None = option(
        None,
        "S",
        "Time after which rows count 1/e: parameters then follow changes.",
        shown="nothing is forgotten",
    )
    forgetting: str | None = option(
        None,
        "NAME",
        "With --memory-s: exponential; variable (faster after surprises); or directional (only where new "
        "rows speak: what the motion does not show is kept, and changes are followed more slowly).",
        choices=FORGETTING,
        shown="exponential",
    )
    sigma: str | None = option(
        None,
        "S",
        "Standard deviation of the torques' errors [N m or N]: one, or one per joint.",
        shown="learnt from the first rows, or those of --prior",
    )
    learn: int | None = option(
        None,
        "N",
        "Rows per joint from which these deviations are learnt.",
        min=20,
        shown="three per parameter",
    )

    def forgotten(self, rows_per_second: float) -> Forgetting:
        """How rows lose weight."""
        if self.forgetting is not None and self.forgetting not in FORGETTING:
            raise unknown_name("way to forget", self.forgetting, FORGETTING)
        if self.memory_s is None:
            if self.forgetting not in (None, "none"):
                raise DynidError(f"--forgetting {self.forgetting} needs --memory-s, how long rows count.")
            return Remember()
        if self.forgetting == "none":
            raise DynidError("--memory-s was given with --forgetting none; leave one of them out.")
        factor = factor_of_memory(self.memory_s, rows_per_second)
        if self.forgetting == "variable":
            return Variable(memory=self.memory_s * rows_per_second)
        return Directional(factor=factor) if self.forgetting == "directional" else Exponential(factor=factor)

    def joint_sigma(self, axes: int) -> FloatArray | None:
        """Given deviations."""
        if self.sigma is None:
            return None
        numbers = numbers_in(self.sigma, axes)
        if not numbers or min(numbers) <= 0:
            raise DynidError(
                f"--sigma is {self.sigma!r}; give one positive number, or {axes} separated by commas."
            )
        return np.array(numbers)


@dataclass(frozen=True)
class StartOptions(OptionGroup, title="The start"):
    """What is known before the first sample."""

    prior: Path | None = option(
        None,
        "FILE",
        "Start from these values: a result folder of the same robot (with its σ), or TOML or JSON with "
        "standard parameters.",
        shown="nothing is known",
    )
    prior_share: float = option(
        0.2, "SHARE", "Standard deviation of values from a file, as a share of each.", min=1e-6
    )
    widen: float = option(
        3.0, "X", "Factor on the σ of a result folder: the robot may have changed since.", min=1e-3
    )
    prior_variance: float | None = option(
        None, "V", "Start at zero with this variance for every parameter (P4: 100)."
    )
    commands: Path | None = option(
        None,
        "LOG",
        "Start from the model inside the controller, found from this log of commanded positions (reference) "
        "and commanded torques (P4).",
    )
    variances: str | None = option(
        None,
        "V,V,V",
        "Variances of essential, other inertial and friction parameters of that model, in squared SI units "
        "(P4: 0.01,1,100).",
        shown="shares of the torques",
    )
    commands_map: Path | None = option(None, "MAP", "Mapping of that log.", shown="--map")

    def _three_variances(self) -> tuple[float, float, float]:
        given = numbers_in(self.variances or "", 3)
        if len(given) != 3 or min(given) <= 0:
            raise DynidError(
                f"--variances is {self.variances!r}; give three positive numbers, such as 0.01,1,100."
            )
        return given[0], given[1], given[2]

    def start(
        self, base: BaseMap, mapping: Path | None
    ) -> tuple[ParameterPrior | None, FloatArray | None, list[Any]]:
        """Prior, σ_j of the torques where a result knows them, and findings."""
        given = [n for n in ("prior", "prior_variance", "commands") if getattr(self, n) is not None]
        if len(given) > 1:
            names = " and ".join(f"--{n.replace('_', '-')}" for n in given)
            raise DynidError(f"{names} were given together; one start is enough.")
        if self.prior_variance is not None:
            if not self.prior_variance > 0:
                raise DynidError(f"--prior-variance is {self.prior_variance:g}; give a positive number.")
            return ParameterPrior.even(len(base), self.prior_variance), None, []
        if self.commands is not None:
            log = read_log(self.commands, self.commands_map or mapping)
            model = _controller_model(base.robot, log, base=base)
            prior = model.torque_prior() if self.variances is None else model.prior(self._three_variances())
            return prior, None, [model.verdict]
        if self.variances is not None:
            raise DynidError("--variances is for the start from --commands; give both, or leave it out.")
        if self.prior is None:
            return None, None, []
        if self.prior.is_dir():
            saved = load_result(self.prior)
            return prior_of_result(saved, base, self.widen), saved.joint_sigma, []
        values = base.regroup(parameters_from(self.prior, base.robot))
        known = {name: float(v) for name, v in zip(base.names, values, strict=True) if v}
        return ParameterPrior.by_name(base.names, known, self.prior_share), None, []


@dataclass(frozen=True)
class TrackWatchOptions(OptionGroup, title="The watch"):
    """What is looked out for."""

    watch: bool = option(True, "", "Payloads, friction, collisions, M(q).", name="--watch/--no-watch")
    settle_s: float | None = option(
        None, "S", "Time before anything is learnt.", shown=f"{WatchOptions.settle_s:g}"
    )
    payload_long_excess: float | None = option(
        None,
        "X",
        "Excess of a window of seconds from which a payload is suspected: higher means fewer alarms, later.",
        shown=f"{WatchOptions.payload_long_excess:g}",
    )
    payload_short_excess: float | None = option(
        None,
        "X",
        "The same of a window of parts of a second.",
        shown=f"{WatchOptions.payload_short_excess:g}",
    )
    collision_excess: float | None = option(
        None, "X", "Excess from which a push is a collision.", shown=f"{WatchOptions.collision_excess:g}"
    )

    def options(self) -> WatchOptions | None:
        """Thresholds; None without a watch."""
        if not self.watch:
            return None
        given: Mapping[str, Any] = {k: v for k, v in self.given.items() if k != "watch"}
        return replace(WatchOptions(), **given)


@dataclass(frozen=True)
class TrackOutputOptions(OptionGroup, title="Output"):
    """Where records go."""

    out: str | None = option(
        None,
        "FILE",
        "Records as newline-delimited JSON; - for standard output.",
        shown="the terminal view alone",
    )
    page: Path | None = option(None, "FILE", "Page of the run, written at its end.")
    serve: int | None = option(
        None, "PORT", "Serve the live page at http://127.0.0.1:PORT/; 0 takes a free port.", min=0, max=65535
    )
    serve_host: str = option("127.0.0.1", "HOST", "Address of the live page; beyond loopback others look on.")
    quiet: bool = option(False, "", "No terminal view.")
    every_s: float = option(0.1, "S", "Time between two records.", min=0.001)
    state: Path | None = option(
        None, "FILE", "Keep what is learnt in this file, and go on from it when it is there."
    )
    keep_s: float = option(5.0, "S", "Time between two states.", min=0.1)
    force: bool = option(False, "", "Overwrite --out and --page.")
