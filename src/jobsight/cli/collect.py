"""``jobsight collect``: gather what happens, continuously, into the store.

Exit status: 0 it was stopped, or with --once everything was collected; 1 it cannot start, or with
--once a source failed or it was stopped before its end; 2 the call is wrong. With --status: 0
a collector runs and all its sources are well, else 1.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jobsight.cli.common import ConfigOption, JsonOption, StoreOption, TimezoneOption, load_settings
from jobsight.cli.output import note, print_json, say
from jobsight.cli.terminal import paint, table, wrap
from jobsight.errors import SourceError, UsageError
from jobsight.format import moment, size, span
from jobsight.service.collector import Collector, stopping_on_signals
from jobsight.service.logs import set_up
from jobsight.service.status import lock_path, locked, read, status_path, store_lock
from jobsight.store import open_store
from jobsight.text import counted, printable

if TYPE_CHECKING:
    from jobsight.service.status import Report
    from jobsight.settings import Settings
    from jobsight.store import Store

__all__ = ["collect", "page"]

_FAILED_SHOWN = 3
_STATE_COLOURS = {
    "running": "36", "waiting": "32", "done": "32", "starting": "33", "stopped": "2",
    "backing off": "31", "conflict": "31", "failed": "31", "stuck": "31",
}  # fmt: skip
_TEXT = 400


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
        bool, typer.Option("--status", help="Show the state of the running collector.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="With --once: log more than errors.")
    ] = False,
    log_format: Annotated[
        str | None, typer.Option(metavar="text|json", help="Form of the log on standard error.")
    ] = None,
    timezone: TimezoneOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Gather what happens to jobs, continuously, into the store."""
    wanted = {"eventlog": event_log, "slurm": slurm, "kafka": kafka}
    kinds = [kind for kind, named in wanted.items() if named]
    flags = {
        "store": store,
        "timezone": timezone,
        # Once, it does not wait for a log to name its access point: the log does so, or does not.
        "eventlog": {"paths": event_log or None, "name_seconds": 0.0 if once else None},
        "collect": {"log_format": log_format},
    }
    settings = load_settings(config, flags)
    if status and (kinds or once):
        raise UsageError("--status goes with no source and not with --once")
    if status:
        report = read(settings.collect)
        if as_json:
            print_json(report.to_json())
        else:
            for line in page(report):
                say(line)
            for problem in report.problems:
                note(f"jobsight: {printable(problem)}")
        if not report.healthy:
            raise typer.Exit(1)
        return
    if as_json and not once:
        raise UsageError("--json goes with --status and --once; the log has --log-format json")
    # Cron mails all output: with --once, only errors are logged.
    quiet = once and not verbose
    set_up(settings.collect.log_format, level=logging.WARNING if quiet else logging.INFO)
    ended, well = _run(settings, kinds or None, once=once)
    if as_json:
        print_json(_summary(ended, well=well))
    if not well:
        raise SourceError(_failure(ended["sources"], once=once))


def _summary(status: dict[str, Any], *, well: bool) -> dict[str, Any]:
    """What ``--once --json`` prints; its keys are those of the status."""
    sources = status["sources"]
    total = {
        key: sum(one[key] for one in sources.values())
        for key in ("documents", "changed", "polls", "errors", "crashes", "conflicts", "refused")
    }
    kept = ("version", "started", "stopped", "uptime_s", "store")
    return {"well": well, **total, **{key: status[key] for key in kept}, "sources": sources}


def _failure(sources: dict[str, dict[str, Any]], *, once: bool) -> str:
    """What failed, in one line."""
    failed = {name: one for name, one in sorted(sources.items()) if one["state"] == "failed"}
    if not (once and failed):
        ended = all(one["state"] in ("done", "stopped") for one in sources.values())
        why = "stopped before all was collected" if ended else "not all sources ended in time"
        return f"{why}; what is in the store is complete, the next run continues"
    shown = []
    for name, one in list(failed.items())[:_FAILED_SHOWN]:
        reason = (one.get("last_error") or {}).get("text")
        shown.append(printable(f"{name}: {reason}" if reason else name, 300))
    if len(failed) > len(shown):
        shown.append(f"and {len(failed) - len(shown)} more")
    return f"{len(failed)} of {counted(len(sources), 'source')} failed: {'; '.join(shown)}"


def _run(settings: Settings, kinds: list[str] | None, *, once: bool) -> tuple[dict[str, Any], bool]:
    """Collect; what the collector says at its end, and whether all went well."""
    from jobsight.service.configured import make_sources

    with contextlib.ExitStack() as held:
        stops = held.enter_context(stopping_on_signals(1 if once else 0))
        path = status_path(settings.collect)
        elsewhere = "name a status file that can be written with collect.status_file"
        held.enter_context(locked(lock_path(path), f"with the status file {path}", elsewhere))
        sources = make_sources(settings, kinds)

        def opened() -> Store:
            store = open_store(settings=settings.store, create=True)
            lock = store_lock(store.url)
            if lock is not None:
                held.enter_context(locked(lock, f"into the store {store.url}"))
            held.callback(lambda: store.close() if collector.ended else None)
            return store

        days = settings.store.retention_days
        collector = Collector(
            opened,
            sources,
            settings.collect,
            keep_seconds=None if days is None else days * 86_400,
            profiles=settings.acting.profiles,
            once=once,
        )
        stops(collector)
        well = collector.run()
    return collector.status(), well


def page(report: Report) -> Iterator[str]:
    """The lines of the page, without what is wrong now: that is in `report.problems`."""
    status, store = report.status, report.status["store"]
    states, sources = store.get("states", {}), sorted(status["sources"].items())
    ended = status["stopped"] is not None
    head = "has ended" if ended else "runs well" if report.healthy else "is not well"
    yield from wrap(
        f"the collector (process {status['pid']} on {printable(status['host'], 60)}) {head}; "
        f"{'was ' if ended else ''}up {span(status['uptime_s'])}, {status['memory_mb']} MB of "
        f"memory, as of {moment(status['written'])}"
    )
    jobs = f": {counted(sum(states.values()), 'job')}, {store.get('active', 0):,} not ended"
    url = printable(store.get("url") or "not opened yet", 120)
    yield from wrap(f"store {url}{jobs if states else ''}")
    if last := _last_error(store):
        yield from (f"  {line}" for line in wrap(last, 2))
    headings = ["state", "lag", "documents", "per s", "polls", "errors", "source"]
    rows = [_row(name, one) for name, one in sources]
    yield table(headings, rows, ["polls", "per s"], left=["source"])
    for name, one in sources:
        for text in _notes(one):
            yield from (f"  {line}" for line in wrap(f"{printable(name, 100)}: {text}", 2))


def _last_error(one: dict[str, Any]) -> str | None:
    """The last error, with when it was and when it was over, so that it is not taken for now."""
    error = one["last_error"]
    if error is None:
        return None
    until = "" if error["over"] is None else f", over since {moment(error['over'])}"
    return f"last error {moment(error['time'])}{until}: {printable(error['text'], _TEXT)}"


def _notes(one: dict[str, Any]) -> Iterator[str]:
    """When a source is asked again, what could not be read of it, and its last error if over."""
    source = one["source"]
    if one["state"] in ("backing off", "conflict"):
        yield f"asked again at {moment(one['until'])}"
    if gaps := source.get("gaps"):
        advice = printable(source["advice"], _TEXT)
        yield f"{counted(gaps, 'gap')}, at least {source['gap_bytes']:,} bytes missing: {advice}"
    if skipped := source.get("skipped"):
        stretches = counted(skipped, "damaged stretch", "damaged stretches")
        yield f"{stretches} skipped, {source['skipped_bytes']:,} bytes"
    if one["healthy"] and (last := _last_error(one)):
        yield last


def _row(name: str, one: dict[str, Any]) -> list[str]:
    counts = [one[kind] for kind in ("errors", "conflicts", "crashes", "refused")]
    state = one["state"] if one["turning"] else "stuck"
    source = one["source"]  # how far it is behind, in its own unit
    if (messages := source.get("lag")) is not None:
        lag = f"{messages:,} messages"
    elif (behind := source.get("bytes_behind")) is not None:
        lag = size(behind)
    else:
        lag = span(source.get("behind_s"))
    return [
        paint(state, _STATE_COLOURS[state]),
        lag,
        f"{one['documents']:,}",
        f"{one['documents_per_s']:.1f}",
        f"{one['polls']:,}",
        f"{sum(counts):,}",
        printable(name, 100),
    ]
