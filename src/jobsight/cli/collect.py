"""``jobsight collect``: gather what happens, continuously, into the store.

Exit status: 0 it was stopped, or with --once everything was collected; 1 it cannot start, or with
--once a source gave trouble; 2 the call is wrong. With --status: 0 a collector runs and all its
sources are well, else 1.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jobsight.cli.common import (
    ConfigOption,
    JsonOption,
    StoreOption,
    TimezoneOption,
    load_settings,
    note,
    print_json,
    say,
)
from jobsight.text import printable

if TYPE_CHECKING:
    from jobsight.service.status import Report
    from jobsight.settings import Settings

__all__ = ["register"]

_STATE_COLOURS = {
    "running": "36", "waiting": "32", "done": "32", "starting": "33", "stopped": "2",
    "backing off": "31", "conflict": "31", "failed": "31",
}  # fmt: skip


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    app.command(name="collect")(collect)


def collect(
    event_log: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH",
            help="Event log to follow; repeatable (default: settings, else HTCondor's EVENT_LOG).",
        ),
    ] = None,
    slurm: Annotated[bool, typer.Option("--slurm", help="Poll the Slurm cluster.")] = False,
    kafka: Annotated[bool, typer.Option("--kafka", help="Take job notices from Kafka.")] = False,
    store: StoreOption = None,
    once: Annotated[
        bool, typer.Option("--once", help="Collect what is there now, then end (for cron).")
    ] = False,
    status: Annotated[
        bool, typer.Option("--status", help="Tell how the running collector is.")
    ] = False,
    log_format: Annotated[
        str | None, typer.Option(metavar="text|json", help="Form of the log on standard error.")
    ] = None,
    timezone: TimezoneOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Gather what happens to jobs, continuously, into the store."""
    from jobsight.errors import UsageError

    wanted = {"eventlog": event_log, "slurm": slurm, "kafka": kafka}
    kinds = [kind for kind, named in wanted.items() if named]
    flags = {
        "store": store,
        "timezone": timezone,
        # Once, there is nothing to wait for: what a log tells of its access point stands in it.
        "eventlog": {"paths": event_log or None, "name_seconds": 0.0 if once else None},
        "collect": {"log_format": log_format},
    }
    settings = load_settings(config, flags)
    if status:
        if kinds or once:
            raise UsageError("--status goes with no source and not with --once")
        _status(settings, as_json=as_json)
    elif as_json:
        raise UsageError("--json goes with --status; for the log, give --log-format json")
    elif not _run(settings, kinds or None, once=once):
        raise typer.Exit(1)


def _run(settings: Settings, kinds: list[str] | None, *, once: bool) -> bool:
    import contextlib

    from jobsight.service.collector import Collector, stopping_on_signals
    from jobsight.service.locks import locked
    from jobsight.service.logs import set_up
    from jobsight.service.sources import make_sources
    from jobsight.service.status import lock_path, status_path
    from jobsight.store import open_store

    set_up(settings.collect.log_format)
    with contextlib.ExitStack() as held:
        path = status_path(settings.collect)
        held.enter_context(locked(lock_path(path), f"with the status file {path}"))
        sources = make_sources(settings, kinds)
        store = open_store(settings=settings.store, create=True)
        file = _file_of(store.url)
        if file is not None:
            beside = file.with_name(file.name + ".collect.lock")
            held.enter_context(locked(beside, f"into the store {file}"))
        days = settings.store.retention_days
        collector = Collector(
            store,
            sources,
            settings.collect,
            keep_seconds=None if days is None else days * 86_400,
            once=once,
        )
        with stopping_on_signals(collector):
            well = collector.run()
        if collector.ended:
            store.close()
    return well


def _file_of(url: str) -> Path | None:
    """The file of an embedded store; None: it is a server."""
    scheme, found, rest = url.partition("://")
    if found and scheme != "sqlite":
        return None
    return Path(rest if found else url)


def _status(settings: Settings, *, as_json: bool) -> None:
    from jobsight.service.status import read

    report = read(settings.collect)
    if as_json:
        print_json(report.to_json())
    else:
        _print(report)
    if not report.healthy:
        raise typer.Exit(1)


def _print(report: Report) -> None:
    from jobsight.cli.terminal import Column, grid, width
    from jobsight.clock import format_micros, format_span

    told = report.status
    gone = told.get("stopped") is not None
    head = "has ended" if gone else "runs well" if report.healthy else "is not well"
    say(
        f"the collector (process {told.get('pid')} on {printable(told.get('host'), 60)}) {head}; "
        f"{'was ' if gone else ''}up {format_span(told.get('uptime_s') or 0)}, "
        f"{told.get('memory_mb')} MB of memory, as of {format_micros(told['written'])}"
    )
    say(_store_line(told["store"]))
    columns = [
        Column("source"), Column("state"), Column("lag", right=True),
        Column("documents", right=True), Column("per s", right=True, spare=1),
        Column("polls", right=True, spare=3), Column("trouble", right=True, spare=2),
        Column("last error", spare=4),
    ]  # fmt: skip
    rows = [_row(name, one) for name, one in sorted(told["sources"].items())]
    colours = {
        (at, 1): _STATE_COLOURS.get(row[1].partition(" (")[0], "0") for at, row in enumerate(rows)
    }
    for line in grid(columns, rows, most=width(), colours=colours):
        say(line)
    for problem in report.problems:
        note(f"jobsight: {printable(problem)}")


def _store_line(store: dict[str, Any]) -> str:
    states = store.get("states") or {}
    line = f"store {printable(store.get('url'), 120)}"
    if states:
        line += f": {sum(states.values()):,} jobs, {store.get('active'):,} of which have not ended"
    if store.get("last_error"):
        line += f"; {printable(store['last_error'].get('text'), 160)}"
    return line


def _row(name: str, one: dict[str, Any]) -> list[str]:
    counts = [one.get(kind) or 0 for kind in ("errors", "conflicts", "crashes", "refused")]
    error = one.get("last_error") or {}
    return [
        printable(name, 100),
        _state(one),
        _lag(one.get("source") or {}),
        f"{one.get('documents') or 0:,}",
        f"{one.get('documents_per_s') or 0:.1f}",
        f"{one.get('polls') or 0:,}",
        f"{sum(counts):,}",
        printable(error.get("text") or "–", 200),
    ]


def _state(one: dict[str, Any]) -> str:
    from jobsight.clock import format_micros

    state = "stuck" if one.get("turning") is False else printable(one.get("state"), 20)
    until = one.get("until")
    if state in ("backing off", "conflict") and isinstance(until, int):
        return f"{state} (until {format_micros(until // 1_000_000 * 1_000_000)[11:]})"
    return state


def _lag(source: dict[str, Any]) -> str:
    """How far behind a source is, in the unit that it tells."""
    from jobsight.clock import format_span

    if isinstance(found := source.get("bytes_behind"), int):
        return f"{found / 1e6:,.1f} MB" if found >= 100_000 else f"{found:,} B"
    if isinstance(found := source.get("lag"), int):
        return f"{found:,} messages"
    if isinstance(found := source.get("behind_s"), int | float):
        return format_span(found)
    return "–"
