"""``jobsight store``: look at the store, export it, keep it small and sound."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from jobsight.cli.common import (
    ClusterOption,
    ConfigOption,
    JsonOption,
    SinceOption,
    StateOption,
    StoreOption,
    TimezoneOption,
    UntilOption,
    UserOption,
    check_output,
    load_settings,
)
from jobsight.cli.output import answer, note, print_json, progress_bar, say, stages
from jobsight.cli.terminal import STATE_COLOURS, paint, wrap
from jobsight.clock import now_micros, parse_since, zone_named
from jobsight.documents.keys import clusters_named
from jobsight.documents.states import parse_states
from jobsight.errors import StoreError, UsageError
from jobsight.files import Kind
from jobsight.format import moment, size
from jobsight.store import open_store
from jobsight.store.snapshot import export as write
from jobsight.store.snapshot import is_snapshot
from jobsight.text import counted, printable

if TYPE_CHECKING:
    from jobsight.store import Store

__all__ = ["check", "export", "prune", "status"]

_POSITION = 200
_MICROS = 10**15
"""A larger number of a position is a time, µs since 1970."""


def status(
    store: StoreOption = None,
    timezone: TimezoneOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Its size, its jobs by state, and how far each source is."""
    settings = load_settings(config, {"timezone": timezone, "store": store})
    with open_store(settings=settings.store) as opened:
        found = opened.status()
    if as_json:
        print_json({**dataclasses.asdict(found), "documents": sum(found.states.values())})
    else:
        say(f"{printable(found.url)} ({found.backend}, schema {found.schema})")
        jobs = counted(sum(found.states.values()), "job")
        say(f"  {jobs}, {found.active:,} of which have not ended")
        for state, count in sorted(found.states.items(), key=lambda pair: -pair[1]):
            name = f"{state or 'no state':<14}"
            say(f"    {paint(name, STATE_COLOURS[state]) if state else name}{count:>12,}")
        if found.bytes is not None:
            per_job = found.bytes_per_job
            each = "" if per_job is None else f", {per_job:,.0f} bytes per job"
            say(f"  {size(found.bytes)}{each}")
        say(f"  {counted(found.archived, 'job')} in the archive ({size(found.archive_bytes)})")
        for name, value in sorted(found.details.items()):
            text = ("no", "yes")[value] if isinstance(value, bool) else printable(value, _POSITION)
            say(f"  {printable(name, 40).replace('_', ' ')}: {text}")
        say("sources:" if found.positions else "no source has written to it yet")
        for source, position in sorted(found.positions.items()):
            say("\n".join(f"  {line}" for line in wrap(printable(source, _POSITION), 2)))
            if text := ", ".join(_position(position)):
                say("\n".join(f"    {line}" for line in wrap(text, 4)))


def _position(position: dict[str, Any]) -> Iterator[str]:
    """What the position of a source says in single words and numbers; --json has the rest."""
    for key, value in sorted(position.items()):
        if not isinstance(value, dict | list | None) and value != "":
            late = isinstance(value, int) and value > _MICROS
            shown = moment(value) if late else printable(value, _POSITION)
            yield f"{printable(key, 40).replace('_', ' ')} {shown}"


def export(
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder of the snapshot.")],
    user: UserOption = None,
    state: StateOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    cluster: ClusterOption = None,
    store: StoreOption = None,
    timezone: TimezoneOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a snapshot (Parquet files with a manifest), from which can be trained as from logs."""
    settings = load_settings(config, {"timezone": timezone, "store": store})
    zone = zone_named(settings.timezone)
    check_output(output, Kind.SNAPSHOT)
    with open_store(settings=settings.store) as opened, progress_bar("exporting") as progress:
        replaced = is_snapshot(output)
        found = opened.status()
        total = sum(found.states.values()) + found.archived
        made = write(
            opened,
            output,
            since=parse_since(since, zone),
            until=parse_since(until, zone),
            states=parse_states(state),
            user=user,
            cluster=None if cluster is None else _cluster(opened, cluster),
            progress=lambda done: progress(done, total),
        )
    if as_json:
        print_json({"snapshot": str(output), "replaced": replaced, **msgspec.structs.asdict(made)})
    else:
        say(f"{counted(made.documents, 'job')} in {counted(len(made.files), 'file')}")
        say(f"{'replaced' if replaced else 'wrote'} {output}")


def _cluster(store: Store, text: str) -> str:
    """The cluster that a user's word means, as ids begin with it."""
    named = clusters_named(text)
    known = [one for one in named if next(store.scan(cluster=one, limit=1), None) is not None]
    if len(known) == 1:
        return known[0]
    if known:
        raise UsageError(f"{printable(text, 60)} is two clusters; write {' or '.join(known)}")
    raise UsageError(
        f"the store has no job of {printable(text, 60)}; `jobsight jobs` lists what it has"
    )


def prune(
    before: Annotated[
        str | None,
        typer.Option(
            help="Jobs that ended before, such as 90d; written as --since of `jobs` "
            "(default: the setting store.retention_days)."
        ),
    ] = None,
    store: StoreOption = None,
    timezone: TimezoneOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Move jobs that ended long ago to the archive; they are still read from there."""
    settings = load_settings(config, {"timezone": timezone, "store": store})
    days = settings.store.retention_days
    oldest = parse_since(before, zone_named(settings.timezone))
    if oldest is None and days is not None:
        oldest = now_micros() - int(days * 86_400_000_000)
    if oldest is None:
        raise UsageError("name a time with --before, such as 90d, or set store.retention_days")
    with open_store(settings=settings.store) as opened, stages() as progress:
        progress("moving old jobs to the archive")
        done = opened.prune(oldest)
    text = (
        f"{counted(done.documents, 'job')} that ended before {moment(oldest)} moved to the "
        f"archive ({counted(done.parts, 'new file')}, {size(done.bytes)})"
    )
    answer({**dataclasses.asdict(done), "before": oldest}, text, as_json=as_json)


def check(
    store: StoreOption = None, config: ConfigOption = None, as_json: JsonOption = False
) -> None:
    """Read everything: is each document whole, do the indexes agree, is the archive unchanged?

    Exit status 1 where a problem was found.
    """
    settings = load_settings(config, {"store": store})
    with open_store(settings=settings.store) as opened, stages() as progress:
        progress("reading everything")
        found = opened.check()
    text = f"{found.documents:,} jobs and {found.archived:,} in the archive were read"
    answer(dataclasses.asdict(found), text, as_json=as_json)
    for line in (*found.wider, *found.first):
        note(printable(line, 400))
    if len(found.first) < found.problems:
        note(f"and {found.problems - len(found.first)} more")
    if found.problems:
        raise StoreError(
            f"{counted(found.problems, 'problem')} found; restore a backup, or collect again into "
            "another store"
        )
