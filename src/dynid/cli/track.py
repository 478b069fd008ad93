"""``dynid track``: parameters that follow a robot, from a stream or a log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from dynid.base.find import base_of
from dynid.cli.command import command
from dynid.cli.live_lines import record_file, record_output
from dynid.cli.live_view import LiveView
from dynid.cli.output import require_free, write_file
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
from dynid.core.errors import DynidError, unknown_name
from dynid.core.finding import Finding
from dynid.core.lazy import later
from dynid.estimators.recursive.recursion import RecursionOptions
from dynid.logs.mapping import load_mapping
from dynid.logs.read import read_log
from dynid.model.robot import Robot
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


@command(
    examples=[
        "dynid track iiwa14 log.csv --out records.ndjson --page run.html",
        "dynid track arm.urdf udp:5005 --prior out/my_arm --serve 8000 --state arm.state.npz",
        "driver | dynid track arm.toml - --map map.toml --memory-s 30",
        "dynid track tx40_log motors --map map.toml --rows batch",
    ],
    exit_0="The source ended, or the run was interrupted; the last record has the estimate.",
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
    history = LiveHistory()
    with ExitStack() as stack:
        sinks = _sinks(stack, output, history)
        end = run(stack, chosen, source, (stream, filters, recursion, start, watch, output), sinks)
    if output.page is not None and history.header is not None:
        write_file(output.page, render_history(history), output.force)
    if output.out != "-":
        print(end["outcome"])


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
    origin = stack.enter_context(open_source(source, robot, mapping, stream.source_options))
    feed = Feed(FeedRules(rate_hz=stream.rate_hz, reorder=stream.reorder))
    arrivals = feed.in_order(origin)
    plan = filters.read_plan()
    log = origin.log if isinstance(origin, Replay) else None
    if log is None and plan is None:
        log, arrivals = listen(arrivals, filters.listen_s, origin.name)
    found = live_plan(robot, log, recursion.method, filters.keys(robot.n_coordinates), plan)
    prior, known_sigma, findings = start.start(base, stream.mapping)
    sigma = recursion.joint_sigma(robot.n_coordinates)
    tracker = Tracker(
        base,
        found.plan,
        TrackOptions(
            method=recursion.method,
            prior=prior,
            joint_sigma=known_sigma if sigma is None else sigma,
            recursion=RecursionOptions(forgetting=recursion.forgotten(found.plan.row_rate_hz)),
            learn=recursion.learn,
            condition=stream.condition,
            watch=watch.options(),
        ),
    )
    kept = _kept(output, about_run(base, recursion.method, found.plan.to_dict()))
    if kept is not None:
        state = kept.load()
        if state is not None:
            tracker.restore(state)
            if isinstance(origin, Replay):
                arrivals = _after(arrivals, tracker.last_sample)
    following = _course(sinks, output, kept, origin, feed)
    _tell(sinks, findings)
    return follow_samples(tracker, arrivals, following)


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
    for name in ("row_decimation", "held_torque", "slow"):
        if name in keys:
            raise DynidError(
                f"--{name.replace('_', '-')} is for causal rows; leave it out with --rows batch."
            )
    rows = BatchRows.of_logs(robot, [read_log(path, stream.mapping)], None, keys, controller=law)
    base = rows.problem.base
    prior, _, findings = start.start(base, stream.mapping)
    rate = 1.0 / rows.problem.experiments[0].step_s
    tracker = rows.tracker(
        TrackOptions(
            method=recursion.method,
            prior=prior,
            joint_sigma=recursion.joint_sigma(robot.n_coordinates),
            recursion=RecursionOptions(forgetting=recursion.forgotten(rate)),
        )
    )
    kept = _kept(output, about_run(base, recursion.method, rows.problem.plan.to_dict()))
    done = _restore_rows(tracker, kept)
    _tell(sinks, findings)
    return follow_rows(rows, tracker, _course(sinks, output, kept), done)


def _restore_rows(tracker: RowTracker, kept: KeptState | None) -> int:
    """Instants of a kept state, which are not taken again."""
    state = None if kept is None else kept.load()
    if state is None:
        return 0
    tracker.restore(state)
    return tracker.recursion.updates


def _kept(output: TrackOutputOptions, about: Mapping[str, Any]) -> KeptState | None:
    return None if output.state is None else KeptState(output.state, about, output.keep_s)


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


def _tell(sinks: list[RecordSink], findings: list[Finding]) -> None:
    """What was noticed before the first sample goes to standard error; the records begin with the header."""
    for finding in findings:
        typer.echo(f"{finding.level.word}: {finding.text}", err=True)
