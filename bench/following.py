"""The lag behind an event log that grows by 20 000 events per second, with SQLite."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from bisect import bisect_right
from pathlib import Path
from typing import Any

from bench import inputs
from bench.measure import Section, isolated

__all__ = ["measure", "run", "write"]

_RATE = 20_000
_SECONDS = 25.0
_TICK = 0.01
_WARM_SECONDS = 3.0
_SAMPLE = 0.05
_LONGEST = 120.0
_END = b"\n...\n"
_HEAD = re.compile(rb"(?m)^(\d{3} \()(\d+)(?=\.\d{3}\.\d{3}\) )")
_CLOCK = os.sysconf("SC_CLK_TCK")


def write(source: str, log: str, marks: str) -> None:
    """Append the records of `source` to `log` at the rate, in pieces of whole records.

    One line of `marks` per piece: events written so far, and the monotonic clock then.
    """
    text = Path(source).read_bytes()
    per_tick = round(_RATE * _TICK)
    begun, at, events = time.monotonic(), 0, 0
    with Path(log).open("ab", buffering=0) as target, Path(marks).open("w") as noted:
        while at < len(text):
            end = at
            for _ in range(per_tick):
                following = text.find(_END, end)
                if following < 0:
                    break
                end, events = following + len(_END), events + 1
            if end == at:
                break
            target.write(text[at:end])
            at = end
            noted.write(f"{events} {time.monotonic()}\n")
            time.sleep(max(0.0, begun + events / _RATE - time.monotonic()))


def _material(folder: Path) -> Path:
    """Enough records: the pool's log again and again, each time with other cluster numbers."""
    text = inputs.plain_log(folder).read_bytes()
    records = text[text.find(_END) + len(_END) :]
    wanted, path = round(_RATE * _SECONDS), folder / "material.log"
    with path.open("wb") as target:
        for turn in range(-(-wanted // records.count(_END))):
            target.write(_moved(records, turn * 1_000_000))
    return path


def _moved(records: bytes, add: int) -> bytes:
    """The records with other clusters."""
    return _HEAD.sub(lambda found: b"%b%d" % (found[1], int(found[2]) + add), records)


def measure() -> Any:
    """Lags in seconds, one per sample; processor seconds, memory and counts of the collector."""
    with tempfile.TemporaryDirectory(prefix="jobsight-bench-") as name:
        folder = Path(name)
        material, log, marks = _material(folder), folder / "EventLog", folder / "marks"
        log.write_bytes(b"")
        collector = _collector(folder, log)
        try:
            _until_running(folder, collector)
            writer = _writer(material, log, marks)
            spent = _processor_seconds(collector.pid)
            begun = time.monotonic()
            seen = _follow(folder, log, marks, writer)
            took = time.monotonic() - begun
            cpu = _processor_seconds(collector.pid) - spent
            status = json.loads((folder / "status.json").read_text())
        finally:
            collector.terminate()
            collector.wait()
        return {"cpu": cpu / took, "memory": status["memory_mb"], **seen}


def _collector(folder: Path, log: Path) -> subprocess.Popen[bytes]:
    config = folder / "jobsight.yaml"
    config.write_text(
        f"store: {folder / 'jobs.db'}\n"
        f"eventlog: {{paths: [{log}]}}\n"
        f"collect: {{status_file: {folder / 'status.json'}, status_seconds: 1}}\n"
    )
    command = [sys.executable, "-m", "jobsight", "collect", "--config", str(config)]
    return subprocess.Popen(command, stderr=subprocess.DEVNULL)


def _until_running(folder: Path, collector: subprocess.Popen[bytes]) -> None:
    # Kernels are compiled, or read from their cache, when the first record comes.
    with (folder / "EventLog").open("ab") as file:
        file.write(inputs.first_records(200))
    while _known(folder) < 1:
        if collector.poll() is not None:
            raise RuntimeError("the collector did not start")
        time.sleep(0.1)


def _writer(material: Path, log: Path, marks: Path) -> subprocess.Popen[bytes]:
    arguments = [str(material), str(log), str(marks)]
    program = f"from bench.following import write; write(*{arguments!r})"
    root = Path(__file__).parent.parent
    return subprocess.Popen([sys.executable, "-c", program], cwd=root)


def _known(folder: Path) -> int:
    """Events in the store, by the position saved with them."""
    from jobsight.errors import StoreError
    from jobsight.store import open_store

    try:
        with open_store(str(folder / "jobs.db")) as store:
            position = store.position(f"eventlog:{folder / 'EventLog'}") or {}
    except StoreError:
        return 0
    return int(position.get("events", 0))


def _follow(
    folder: Path, log: Path, marks: Path, writer: subprocess.Popen[bytes]
) -> dict[str, Any]:
    """Sample how far the store is until it has all that was written."""
    from jobsight.store import open_store

    source = f"eventlog:{log}"
    samples: list[tuple[float, int]] = []
    with open_store(str(folder / "jobs.db")) as store:
        before = int((store.position(source) or {}).get("events", 0))
        begun = time.monotonic()
        while time.monotonic() - begun < _LONGEST:
            now = time.monotonic()
            samples.append((now, int((store.position(source) or {}).get("events", 0)) - before))
            if writer.poll() is not None and samples[-1][1] >= _written(marks)[0][-1]:
                break
            time.sleep(_SAMPLE)
    counts, times = _written(marks)
    return {
        "rate": counts[-1] / (times[-1] - times[0]),
        "events": counts[-1],
        "followed": samples[-1][1],
        "bytes": log.stat().st_size,
        "behind": samples[-1][0] - times[-1],
        "lags": _lags(samples, counts, times),
    }


def _written(marks: Path) -> tuple[list[int], list[float]]:
    pairs = [line.split() for line in marks.read_text().splitlines()]
    return [int(events) for events, _ in pairs], [float(moment) for _, moment in pairs]


def _lags(samples: list[tuple[float, int]], counts: list[int], times: list[float]) -> list[float]:
    """For each sample, the age of the oldest event that the store did not have then."""
    lags = []
    for moment, known in samples:
        first = bisect_right(counts, known)  # the first piece that was not there yet
        if times[0] + _WARM_SECONDS <= moment <= times[-1]:
            lags.append(max(moment - times[first], 0.0) if first < len(times) else 0.0)
    return lags


def _processor_seconds(pid: int) -> float:
    stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    ticks = stat.rpartition(")")[2].split()[11:13]  # utime and stime: proc(5)
    return sum(map(int, ticks)) / _CLOCK


def run() -> Section:
    """The benchmark."""
    section = Section("Following an event log")
    found = isolated("bench.following:measure")
    lags = sorted(found["lags"])
    section.say(
        f"A process appends records of the pool's log, with new cluster numbers, for "
        f"{_SECONDS:.0f} s at {found['rate']:,.0f} events/s ({found['bytes'] / 1e6:,.0f} MB); "
        "`jobsight collect` follows it into SQLite. The lag is the age of the oldest event not yet "
        f"in the store, sampled every {_SAMPLE * 1000:.0f} ms."
    )
    shares = [("median", 0.5), ("90 %", 0.9), ("99 %", 0.99), ("longest", 1.0)]
    row = [f"{lags[min(round(share * len(lags)), len(lags) - 1)]:.2f}" for _, share in shares]
    section.table(["", *(name for name, _ in shares)], [["lag, seconds", *row]])
    section.say(
        f"The collector took {found['cpu']:.2f} of a core and {found['memory']:.0f} MB of memory; "
        f"it stored the last of {found['events']:,} events {found['behind']:.1f} s after they were "
        "written."
    )
    return section
