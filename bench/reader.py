"""Reading an event log: Jobsight and HTCondor's own reader, ``htcondor2.JobEventLog``."""

from __future__ import annotations

import json
import tempfile
import zlib
from collections import deque
from pathlib import Path
from typing import Any

from bench import inputs, stages
from bench.measure import Section, isolated, median, peak_mb, spread, timed

__all__ = ["ours", "run", "theirs", "unzip"]

_RUNS = 9
_LARGE = 500_000_000
_PART = 2_000_000
_AD_EVENT = 28
_THEIR_NAMES = (
    "HoldReasonCode",
    "HoldReasonSubCode",
    "HoldReason",
    "Reason",
    "ReturnValue",
    "TerminatedBySignal",
    "ExecuteHost",
    "SubmitHost",
    "SlotName",
    "MemoryUsage",
    "Owner",
    "Code",
    "Type",
    "Subproc",
)
"""Attributes of htcondor2's events by column of the event table."""


def ours(log: str, output: str | None, workers: int | None, runs: int, warm: int) -> Any:
    """Read `log` with Jobsight, to Parquet if `output` is named."""
    from jobsight.history.events import EventReader
    from jobsight.history.parquet import write_events

    counts: dict[str, int] = {}

    def read() -> None:
        reader = EventReader([log], workers=workers)
        if output is None:
            deque(reader.batches(), maxlen=0)
        else:
            write_events(reader.batches(), Path(output))
        counts.update(events=reader.report.events, bytes=reader.report.bytes)

    times = timed(read, runs, warm=warm)
    return {**counts, **times, "peak_mb": peak_mb()}


def theirs(log: str, output: str | None, attributes: bool, runs: int) -> Any:
    """Read `log` with HTCondor's reader: ids, type and time; attributes too; or a table."""
    import htcondor2

    counts = {"events": 0, "bytes": Path(log).stat().st_size}

    def read() -> None:
        events = []
        for event in htcondor2.JobEventLog(log).events(stop_after=0):
            row = (event.type, event.timestamp, event.cluster, event.proc)
            events.append((row, dict(event) if attributes else None))
        if output is not None:
            _their_table(events, output)
        counts["events"] = len(events)

    times = timed(read, runs)
    return {**counts, **times}


def _their_table(events: list[tuple[Any, Any]], output: str) -> None:
    """Write the columns that these events have, the usual way: lists, then Arrow."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns: dict[str, list[Any]] = {
        name: [ad.get(name) for _, ad in events] for name in _THEIR_NAMES
    }
    for place, name in enumerate(("code", "time", "cluster", "proc")):
        columns[name] = [int(row[place]) for row, _ in events]
    columns["attributes"] = [
        json.dumps(ad, default=str) if row[0] == _AD_EVENT else None for row, ad in events
    ]
    pq.write_table(pa.table(columns), output, compression="lz4")


def unzip(runs: int) -> Any:
    """Only decompress the bundled log."""

    def read() -> None:
        expander = zlib.decompressobj(31)
        with inputs.COMPRESSED.open("rb") as source:
            while block := source.read(1 << 18):
                expander.decompress(block)

    return timed(read, runs)


def _rate(found: Any) -> list[str]:
    seconds = median(found["seconds"])
    return [
        f"{found['events'] / seconds:,.0f}",
        f"{found['bytes'] / seconds / 1e6:,.1f}",
        f"{found['bytes'] / median(found['cpu']) / 1e6:,.1f}",
        spread(found["seconds"]),
    ]


def run() -> Section:
    """The benchmark."""
    section = Section("Reading an event log, all columns of the event table")
    with tempfile.TemporaryDirectory(prefix="jobsight-bench-") as name:
        folder = Path(name)
        log = inputs.plain_log(folder)
        theirs = _compare(section, log, folder)
        _memory(section, log, folder)
        _compressed(section, log, folder)
    stages.section(section, theirs)
    return section


def _compare(section: Section, log: Path, folder: Path) -> float:
    """The table of readers; the seconds that HTCondor's would take for the log, to Parquet."""
    part = inputs.part_of(log, folder, _PART)
    work, parquet = "bench.reader:ours", str(folder / "events.parquet")
    kinds: dict[str, dict[str, Any]] = {
        "Jobsight, one core, Parquet written": {"output": parquet, "workers": 1, "cores": 1},
        "Jobsight, one core": {"output": None, "workers": 1, "cores": 1},
        "Jobsight, all cores, Parquet written": {"output": parquet, "workers": None},
        "Jobsight, all cores": {"output": None, "workers": None},
    }
    isolated(work, log=str(part), output=None, workers=1, runs=1, warm=0)  # compiles the kernels
    found = {
        kind: isolated(work, log=str(log), runs=_RUNS, warm=2, **arguments)
        for kind, arguments in kinds.items()
    }
    others: dict[str, dict[str, Any]] = {
        "htcondor2, one core, Parquet written": {"output": parquet, "attributes": True},
        "htcondor2, one core, all attributes": {"output": None, "attributes": True},
        "htcondor2, one core, only ids, type and time": {"output": None, "attributes": False},
    }
    for kind, arguments in others.items():
        found[kind] = isolated(
            "bench.reader:theirs", cores=1, log=str(part), runs=_RUNS, **arguments
        )
    base = found["htcondor2, one core, Parquet written"]
    base_rate = base["events"] / median(base["seconds"])
    rows = []
    for kind, result in found.items():
        ratio = result["events"] / median(result["seconds"]) / base_rate
        rows.append([kind, *_rate(result), f"{ratio:,.1f} ×"])
    section.say(
        f"The pool's log, {log.stat().st_size / 1e6:.0f} MB in the page cache; htcondor2 reads its "
        f"first {part.stat().st_size / 1e6:.1f} MB. Ratios are of events per second, to htcondor2 "
        "writing the same columns to Parquet on one core."
    )
    section.table(
        ["reader", "events/s", "MB/s", "MB per CPU second", "spread of runs", "ratio"], rows
    )
    return float(found["Jobsight, one core"]["events"] / base_rate)


def _memory(section: Section, log: Path, folder: Path) -> None:
    large = inputs.large_log(log, folder, _LARGE)
    rows = []
    for kind, path, runs in (("the log", log, 1), ("many times the log", large, 3)):
        result = isolated(
            "bench.reader:ours",
            log=str(path),
            output=str(folder / "events.parquet"),
            workers=None,
            runs=runs,
            warm=0,
        )
        size = f"{result['bytes'] / 1e6:,.0f}"
        rows.append([kind, size, _rate(result)[1], f"{result['peak_mb']:,.0f}"])
    section.say("Memory, all cores, Parquet written; the first run of a process among the runs:")
    section.table(["input", "MB", "MB/s", "peak memory, MB"], rows)
    large.unlink()


def _compressed(section: Section, log: Path, folder: Path) -> None:
    result = isolated(
        "bench.reader:ours",
        log=str(inputs.COMPRESSED),
        output=str(folder / "events.parquet"),
        workers=None,
        runs=_RUNS,
        warm=2,
    )
    alone = median(isolated("bench.reader:unzip", runs=_RUNS)["seconds"])
    size = log.stat().st_size
    section.say(
        f"Compressed (gzip): {_rate(result)[1]} MB/s of text with Parquet written, all cores; zlib "
        f"alone unpacks {size / alone / 1e6:,.1f} MB/s on one."
    )
