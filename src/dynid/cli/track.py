"""``dynid track``: parameters that follow a robot, from a stream or a log."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from dynid.base.find import base_of
from dynid.cli.command import command
from dynid.cli.live_lines import record_file, record_output
from dynid.cli.live_view import LiveView
from dynid.cli.output import Screen, require_free, write_file
from dynid.cli.robot_options import RobotArgument, VariantOptions, chosen_robot
from dynid.cli.track_options import (
    BATCH,
    CAUSAL,
    CausalOptions,
    RecursionChoice,
    StartOptions,
    StreamOptions,
    TrackOutputOptions,
    TrackWatchOptions,
)
from dynid.core.errors import DynidError, NotTrustworthyError, unknown_name
from dynid.core.finding import Finding
from dynid.core.lazy import later
from dynid.core.tables import table_from
from dynid.core.text import TextTable
from dynid.estimators.recursive.recursion import RecursionOptions
from dynid.logs.log import Log
from dynid.logs.mapping import load_mapping
from dynid.logs.read import read_log
from dynid.model.robot import Robot
from dynid.preparation.causal_plan import ALL, JOINT, CausalPlan
from dynid.preparation.preparation import load_preparation
from dynid.report.live_history import LiveHistory
from dynid.report.live_page import render_history
from dynid.tracking.batch_rows import RowTracker
from dynid.tracking.feed import Feed, FeedRules, counts_of
from dynid.tracking.kept_state import KeptState, about_run
from dynid.tracking.sample import Arrival
from dynid.tracking.sources import Replay, SampleSource, open_source
from dynid.tracking.tracker import RIV, Tracker, TrackOptions
from dynid.workflow.live_plan import listen, live_plan
from dynid.workflow.track import BatchRows, Following, RecordSink, follow_rows, follow_samples

_load_controller = later("dynid.simulation.controller_file", "load_controller")
_server = later("dynid.report.live_server", "LiveServer")
_server_options = later("dynid.report.live_server", "LiveServerOptions")

SLOW_ROWS_HZ = 10.0
"""Rows per second below which the watch cannot tell a payload within a second; said, not refused."""
SourceArgument = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        help="A log; - for lines on standard input; udp:[HOST:]PORT; zmq:[HOST:]PORT.",
    ),
]


@dataclass(frozen=True)
class _Page:
    """Keeps a bounded history, for the page of a finished run."""

    history: LiveHistory

    def write(self, record: Mapping[str, Any]) -> bool:
        """Keep a record; a page is no reader that a run goes on for."""
        self.history.add(record)
        return True


class _LastRecord:
    """Keeps what is shown at the end."""

    def __init__(self) -> None:
        self.header: Mapping[str, Any] = {}
        self.record: Mapping[str, Any] | None = None

    def write(self, record: Mapping[str, Any]) -> bool:
        """Keep the header and the last record."""
        if record["kind"] == "header":
            self.header = record
        elif record["kind"] == "record":
            self.record = record
        return True


def _show(end: Mapping[str, Any], last: _LastRecord, quiet: bool) -> None:
    """How the run ended, and the parameters known best."""
    screen = Screen()
    if quiet:  # the view has said it
        screen.print(end["outcome"])
    if last.record is None:
        return
    parts = zip(last.header["parameters"], last.record["values"], last.record["sigma"], strict=True)
    known = [(p, v, s) for p, v, s in parts if s is not None and v]
    known.sort(key=lambda row: row[2] / abs(row[1]))
    rows = [
        [p["name"], f"{v:.4g}", f"{s:.2g}", p["unit"], f"{100 * s / abs(v):.3g} %"] for p, v, s in known[:12]
    ]
    title = f"{len(rows)} of {len(last.header['parameters'])} parameters, those known best:"
    screen.print(TextTable(title, ["name", "value", "± σ", "unit", "σ in %"], rows))


@command(
    examples=[
        "dynid track iiwa14 log.csv --out records.ndjson --page run.html",
        "dynid track arm.urdf udp:5005 --prior out/my_arm --serve 8000 --state arm.state.npz",
        "dynid track arm.toml - --map map.toml --memory-s 30",
        "dynid track tx40_log motors --map map.toml --rows batch",
    ],
    exit_0="The source ended, or the run was interrupted; the last of the records has the estimate.",
    exit_2="The source gave too little to tell anything.",
)
def track(
    robot: RobotArgument,
    source: SourceArgument,
    stream: StreamOptions,
    filters: CausalOptions,
    recursion: RecursionChoice,
    start: StartOptions,
    watch: TrackWatchOptions,
    output: TrackOutputOptions,
    variant: VariantOptions,
) -> None:
    """Follow a robot: parameters from a stream of joint states, sample by sample (P4).

    Positions and torques go through causal filters into a recursion; a watch names payloads, collisions and
    friction that drifts, and weighs what was picked up. Estimates lag by the delay of the filters, which is
    told.
    """
    if filters.rows not in (CAUSAL, BATCH):
        raise unknown_name("kind of rows", filters.rows, (CAUSAL, BATCH))
    if output.page is not None:
        require_free(output.page, output.force)
    chosen = chosen_robot(robot, variant)
    run = _rows_run if filters.rows == BATCH else _stream_run
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a service that is stopped ends in order too
    history = LiveHistory()
    with ExitStack() as stack:
        sinks = _sinks(stack, output, history)
        last = _LastRecord()
        options = (stream, filters, recursion, start, watch, output)
        end = run(stack, chosen, source, options, [*sinks, last])
    if output.page is not None and history.header is not None:
        write_file(output.page, render_history(history), output.force)
    if output.out != "-":
        _show(end, last, output.quiet)
    if not end["used"]:
        raise NotTrustworthyError(
            f"No row could be used: {end['outcome']} Look at the counts and the speed thresholds."
        )


def _sinks(stack: ExitStack, output: TrackOutputOptions, history: LiveHistory) -> list[RecordSink]:
    """Everyone who reads records; without a file, a page or a server the terminal view stands alone."""
    sinks: list[RecordSink] = []
    if output.out == "-":
        sinks.append(stack.enter_context(record_output()))
    elif output.out is not None:
        sinks.append(stack.enter_context(record_file(Path(output.out), output.force)))
    if output.serve is not None:
        options = _server_options(host=output.serve_host, port=output.serve)
        server = stack.enter_context(_server(options))
        typer.echo(f"live page: {server.url}", err=True)
        sinks.append(server)
    if output.page is not None:
        sinks.append(_Page(history))
    if output.out != "-" and not output.quiet:
        sinks.append(stack.enter_context(LiveView()))
    return sinks


Options = tuple[
    StreamOptions, CausalOptions, RecursionChoice, StartOptions, TrackWatchOptions, TrackOutputOptions
]


def _stream_run(
    stack: ExitStack, robot: Robot, source: str, options: Options, sinks: list[RecordSink]
) -> dict[str, Any]:
    """Samples through causal filters."""
    stream, filters, recursion, start, watch, output = options
    if recursion.controller is not None:
        raise DynidError(
            "--controller is for --rows batch --method riv; a stream brings its reference itself."
        )
    base = base_of(robot)
    mapping = None if stream.mapping is None else load_mapping(stream.mapping)
    kept = _kept(output, about_run(base, recursion.method))
    state = None if kept is None else kept.load()
    origin = stack.enter_context(open_source(source, robot, mapping, stream.source_options))
    feed = Feed(FeedRules(rate_hz=stream.rate_hz, reorder=stream.reorder))
    plan, arrivals = _plan_of(robot, filters, recursion.method, state, origin, feed.in_order(origin))
    cutoff = "no filter" if plan.cutoff_hz is None else f"cut-off {plan.cutoff_hz:.3g} Hz"
    _tell(f"{cutoff}, {plan.row_rate_hz:.3g} rows per second, {plan.row_delay_s:.3g} s behind the robot")
    if plan.row_rate_hz < SLOW_ROWS_HZ and watch.watch:
        _tell(
            f"Rows come {plan.row_rate_hz:.2g} times per second: the watch sees nothing faster. Raise "
            "--cutoff-hz and lower --row-decimation to see more."
        )
    prior, known_sigma, findings = start.start(base, stream.mapping)
    sigma = recursion.joint_sigma(robot.n_coordinates)
    tracker = Tracker(
        base,
        plan,
        TrackOptions(
            method=recursion.method,
            prior=prior,
            joint_sigma=known_sigma if sigma is None else sigma,
            recursion=RecursionOptions(forgetting=recursion.forgotten(plan.row_rate_hz)),
            learn=recursion.learn,
            condition=stream.condition,
            watch=watch.options(),
        ),
    )
    if kept is not None and state is not None:
        _restore(tracker, kept, state)
        if isinstance(origin, Replay):
            arrivals = _after(arrivals, tracker.last_sample)
    for finding in findings:
        _tell(finding.text)
    return follow_samples(tracker, arrivals, _course(sinks, output, kept, origin, feed))


def _plan_of(
    robot: Robot,
    filters: CausalOptions,
    method: str,
    state: Mapping[str, Any] | None,
    origin: SampleSource,
    arrivals: Iterator[Arrival],
) -> tuple[CausalPlan, Iterator[Arrival]]:
    """The plan of a kept state, of a file, of the whole log, or of the first seconds of a stream."""
    keys, given = filters.keys(robot.n_coordinates), filters.read_plan()
    if state is not None:
        plan = table_from(json.loads(state["plan"]), CausalPlan)
        if (given is not None and given != plan) or replace(plan, **keys) != plan:
            raise DynidError(
                "The kept state was learnt with other filters than this command line asks for; leave out "
                "--plan and its keys to go on with those of the state, or give another --state to begin anew."
            )
        return plan, arrivals
    if given is not None:
        return replace(given, **keys), arrivals
    if isinstance(origin, Replay):
        _require_reference(origin.log, method)
        return live_plan(robot, origin.log, method, keys), arrivals
    log, arrivals = listen(arrivals, filters.listen_s, origin.name, _tell)
    _require_reference(log, method)
    return live_plan(robot, log, method, keys), arrivals


def _require_reference(log: Log, method: str) -> None:
    """Refuse instruments of a reference that the source does not have."""
    if method == RIV and "reference" not in log.channels:
        raise DynidError(
            f"--method riv takes its instruments from commanded positions, and {log.name!r} has none; "
            "name them as reference in the mapping, or use --method rls."
        )


def _restore(tracker: Tracker, kept: KeptState, state: Mapping[str, Any]) -> None:
    """Go on from a state; a damaged one is refused with a sentence."""
    try:
        tracker.restore(state)
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        raise kept.damage_sentence(error) from None


def _after(arrivals: Iterator[Arrival], time: float) -> Iterator[Arrival]:
    """Samples of a log behind those that a kept state has seen; the first begins a stretch."""
    anew = True
    for arrival in arrivals:
        if arrival.sample.time > time:
            yield arrival._replace(anew=arrival.anew or anew)
            anew = False


def _rows_run(
    stack: ExitStack, robot: Robot, source: str, options: Options, sinks: list[RecordSink]
) -> dict[str, Any]:
    """The rows of a fit, one after the other."""
    stream, filters, recursion, start, _, output = options
    path = Path(source)
    if not path.exists():
        raise DynidError(f"--rows batch is for logs, and {source!r} is none; use --rows causal for streams.")
    if recursion.method == RIV and recursion.controller is None:
        raise DynidError(
            "--rows batch --method riv needs --controller, for the sample time of its reference."
        )
    law = None if recursion.controller is None else _load_controller(recursion.controller, robot)
    keys = filters.keys(robot.n_coordinates)
    whole = keys.pop("slow", JOINT) == ALL
    for name in ("row_decimation", "held_torque"):
        if name in keys:
            raise DynidError(
                f"--{name.replace('_', '-')} is for causal rows; leave it out with --rows batch."
            )
    plan = None if filters.plan is None else replace(load_preparation(filters.plan), **keys)
    rows = BatchRows.of_logs(robot, [read_log(path, stream.mapping)], plan, keys, controller=law)
    base = rows.problem.base
    prior, _, findings = start.start(base, stream.mapping)
    rate = 1.0 / rows.problem.experiments[0].step_s
    tracker = rows.tracker(
        TrackOptions(
            method=recursion.method,
            prior=prior,
            joint_sigma=recursion.joint_sigma(robot.n_coordinates),
            recursion=RecursionOptions(forgetting=recursion.forgotten(rate)),
        ),
        whole=whole,
    )
    kept = _kept(output, {**about_run(base, recursion.method), "plan": rows.problem.plan.to_dict()})
    done = _restore_rows(tracker, kept)
    for finding in findings:
        _tell(finding.text)
    return follow_rows(rows, tracker, _course(sinks, output, kept), done)


def _restore_rows(tracker: RowTracker, kept: KeptState | None) -> int:
    """Instants of a kept state, which are not taken again."""
    state = None if kept is None else kept.load()
    if state is None:
        return 0
    tracker.restore(state)
    return tracker.seen


def _kept(output: TrackOutputOptions, about: Mapping[str, Any]) -> KeptState | None:
    if output.state is None:
        return None
    kept = KeptState(output.state, json.loads(json.dumps(about)), output.keep_s)
    kept.require_writable()
    return kept


def _course(
    sinks: list[RecordSink],
    output: TrackOutputOptions,
    kept: KeptState | None,
    source: SampleSource | None = None,
    feed: Feed | None = None,
) -> Following:
    def counts() -> dict[str, int]:
        return {} if source is None or feed is None else counts_of(source, feed)

    def findings() -> tuple[Finding, ...]:
        return () if source is None or feed is None else (*source.findings(), *feed.findings())

    return Following(sinks=sinks, every_s=output.every_s, kept=kept, counts=counts, findings=findings)


def _tell(text: str) -> None:
    """What is noticed before the first record goes to standard error; records begin with their header."""
    typer.echo(text, err=True)
