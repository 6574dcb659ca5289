"""The time of the reader by stage, on one core."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bench import inputs
from bench.measure import Section, isolated, median

__all__ = ["measure", "section"]

_RUNS = 9
_STAGES = (
    "bytes from the page cache, cut into chunks",
    "scanning: records, numbers, ranges of text",
    "ads to JSON, joined to their triggers",
    "all other columns",
    "times to UTC",
    "Parquet",
)


class _Clock:
    """Adds up the time of each stage."""

    def __init__(self) -> None:
        self.spent = dict.fromkeys(_STAGES, 0.0)

    @contextlib.contextmanager
    def stage(self, number: int) -> Iterator[None]:
        started = time.perf_counter()
        yield
        self.spent[_STAGES[number]] += time.perf_counter() - started


def measure(log: str, output: str) -> Any:
    """Seconds of each stage on the whole of `log`, one list of runs per stage."""
    runs = []
    for _ in range(_RUNS + 1):
        clock = _Clock()
        _read(log, output, clock)
        clock.spent[_STAGES[3]] -= clock.spent[_STAGES[2]]  # building a batch converts its ads too
        runs.append(list(clock.spent.values()))
    return np.array(runs[1:]).T.tolist()


def _read(log: str, output: str, clock: _Clock) -> None:
    from jobsight.clock import zone_named
    from jobsight.history.eventlog import columns, scanner
    from jobsight.history.eventlog.chunks import chunks
    from jobsight.history.eventlog.columns import Origin, batch_from_rows
    from jobsight.history.eventlog.discovery import find_logs
    from jobsight.history.eventlog.times import TimeResolver
    from jobsight.history.events import scan_chunk
    from jobsight.history.parquet import write_events

    origin, reasons = Origin(log, 0, "ap"), scanner.SKIP_REASONS
    resolver = TimeResolver(zone_named("UTC"))
    tables = []
    with find_logs([log])[0].open() as stream, clock.stage(0):
        parts = list(chunks(stream))
    for part in parts:
        with clock.stage(1):
            rows, skips = scan_chunk(part)
        rows = rows.copy()
        with clock.stage(2):
            columns.ad_columns(part.data, rows.copy())
        with clock.stage(3):
            batch = batch_from_rows(
                part.data, rows, skips, base=part.offset, origin=origin, reasons=reasons
            )
        with clock.stage(4):
            times = resolver.resolve(batch.stamp, batch.form)
        tables.append(batch.table(times))
    with clock.stage(5):
        write_events(iter(tables), Path(output))


def section(into: Section, theirs: float) -> None:
    """Report the time by stage; `theirs` are the seconds of HTCondor's reader for the same log."""
    with tempfile.TemporaryDirectory(prefix="jobsight-bench-") as name:
        log = inputs.plain_log(Path(name))
        found = isolated(
            "bench.stages:measure", cores=1, log=str(log), output=str(Path(name) / "events.parquet")
        )
        size = log.stat().st_size
    total = sum(median(runs) for runs in found)
    into.say(f"Time by stage, one core, {total * 1e3:.0f} ms for the log:")
    into.table(
        ["stage", "ms", "share", "ns per byte"],
        [
            [stage, f"{median(runs) * 1e3:.1f}", f"{median(runs) / total:.0%}",
             f"{median(runs) / size * 1e9:.2f}"]
            for stage, runs in zip(_STAGES, found, strict=True)
        ],
    )  # fmt: skip
    into.say(
        f"A hundredth of the time of HTCondor's reader for this log, {theirs:.1f} s at the rate "
        f"above, is {theirs * 10:.0f} ms."
    )
