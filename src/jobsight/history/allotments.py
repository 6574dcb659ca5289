"""What a job was given and used in its runs, read from the log's records themselves.

The event table has no columns for the amounts of a slot (001) and the table of resources at the end
of a run (004, 005, 009): they are needed of few jobs, and are read from where their records are.
"""

from __future__ import annotations

import contextlib
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from jobsight.codes import EventCode
from jobsight.errors import SourceError
from jobsight.history.eventlog.generations import identify
from jobsight.history.eventlog.logfiles import Kind, open_file
from jobsight.history.eventlog.structured import StructuredParser
from jobsight.history.eventlog.terms import PREFIX
from jobsight.history.timelines import History

__all__ = ["amounts_of_jobs", "amounts_of_record", "generations_of"]

_LONGEST = 16 << 10
"""Bytes read of a record."""
_RUNS = 4
"""The last runs of a job whose records are read."""
_STARTED = (EventCode.EXECUTE,)
_ENDED = (EventCode.EVICTED, EventCode.TERMINATED, EventCode.ABORTED)
_GIVEN = re.compile(r"^\s+(Cpus|Disk|Memory|GPUs) = (\d{1,15}(?:\.\d{1,6})?)\s*$", re.M | re.I)
_TABLE = re.compile(r"^\s*Partitionable Resources :(.*)$", re.M)
_ROW = re.compile(r"^\s*(Cpus|Disk|Memory|GPUs)\b[^:\n]{0,20}:(.*)$", re.I)
_NUMBER = re.compile(r"(?<!\S)\d{1,15}(?:\.\d{1,6})?(?!\S)")
_NAMES = {"cpus": "Cpus", "disk": "Disk", "memory": "Memory", "gpus": "GPUs"}
_FORMS = {"Usage": "{}Usage", "Request": "Request{}", "Allocated": "{}"}
"""Columns of the table, and the attributes that HTCondor's ads have for them."""
_ATTRIBUTES = {
    form.format(name).lower(): form.format(name)
    for form in _FORMS.values()
    for name in _NAMES.values()
}

Amounts = dict[str, float]
"""By the attributes of HTCondor's ads: Memory, MemoryUsage, RequestMemory (MB); Disk, … (KB)."""


def amounts_of_record(text: str) -> Amounts:
    """The amounts in the text of one record: of its slot (001), or in its table of resources."""
    found = {_NAMES[name.lower()]: float(number) for name, number in _GIVEN.findall(text)}
    table = _TABLE.search(text)
    if table is None:
        return found
    ends = {name: table[1].find(name) + len(name) for name in _FORMS if name in table[1]}
    if not ends:
        return found
    for line in text[table.end() + 1 :].split("\n"):
        row = _ROW.match(line)
        if row is None:
            break
        numbers = list(_NUMBER.finditer(row[2].partition('"')[0]))
        # Wide numbers push each other to the right, so only some of them are where their column is.
        named = list(ends) if len(numbers) == len(ends) else [
            min(ends, key=lambda name: abs(ends[name] - number.end())) for number in numbers
        ]  # fmt: skip
        for column, number in zip(named, numbers, strict=True):
            found[_FORMS[column].format(_NAMES[row[1].lower()])] = float(number[0])
    return found


def generations_of(paths: Iterable[str]) -> dict[str, str]:
    """The files of logs by their generations, as a store names them; without those unreadable."""
    found = {}
    for path in paths:
        with contextlib.suppress(SourceError, OSError):
            generation = identify(open_file(path)[1], whole=True) if Path(path).is_file() else None
            if generation is not None:
                found[generation.name] = path
    return found


def amounts_of_jobs(
    history: History,
    jobs: Iterable[int],
    moment: int,
    logs: Callable[[], Mapping[str, str]] = dict,
) -> dict[int, Sequence[Amounts]]:
    """The amounts of the last runs of some jobs, as of a moment (µs), a mapping for each record.

    Nothing is known of what was read from pipes, or from files that are gone. `logs` gives the
    files by generation (`generations_of`), asked for what a store has.
    """
    wanted: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
    sources, offsets = history.table["source"], history.table["offset"]
    for job in jobs:
        # The rows with the starts and ends of its last runs.
        rows = history.rows_of(job)
        rows = rows[history.clock[rows] <= moment]
        last = [rows[np.isin(history.code[rows], codes)][-_RUNS:] for codes in (_STARTED, _ENDED)]
        for row in np.concatenate(last):
            wanted[sources[int(row)] or ""].append((int(offsets[int(row)]), int(row), job))
    found: dict[int, Sequence[Amounts]] = {}
    names = history.table.select("code", "cluster", "proc")
    for source, places in wanted.items():
        places.sort()
        path = logs().get(source, source) if source.startswith(PREFIX) else source
        texts = _read(path, [offset for offset, _, _ in places])
        for (_, row, job), (kind, text) in zip(places, texts, strict=False):
            amounts = _amounts(kind, text, names.row(row))
            found[job] = [*found.get(job, ()), *([amounts] if amounts else ())]
    return found


def _read(path: str, offsets: Sequence[int]) -> Iterable[tuple[Kind, bytes]]:
    """The log's kind and its bytes from each of these ascending offsets on."""
    if not Path(path).is_file():  # the end of a pipe would be waited for
        return
    try:
        file, _ = open_file(path)
        if file.seekable:
            for offset in offsets:
                with file.open(offset) as stream:
                    view = bytearray(_LONGEST)
                    yield file.kind, bytes(view[: stream.readinto(memoryview(view))])
            return
        with file.open() as stream:  # a compressed file is unpacked once
            blocks, kept, base = stream.blocks(), b"", 0
            for offset in offsets:
                while len(kept) < offset - base + _LONGEST and (block := next(blocks, b"")):
                    passed = min(offset - base, len(kept))
                    kept, base = kept[passed:] + block, base + passed
                yield file.kind, kept[offset - base :][:_LONGEST]
    except SourceError:
        return


def _amounts(kind: Kind, text: bytes, record: tuple[int, int, int]) -> Amounts:
    """The amounts of the record that a text begins with; none if it is another one now."""
    if kind == "text":
        shown = text.decode("utf-8", "replace").replace("\r\n", "\n")
        header = re.match(r"(\d{3}) \((\d+)\.(\d+)\.", shown)
        if header is None or tuple(map(int, header.groups())) != record:
            return {}
        return amounts_of_record(shown.partition("\n...")[0])
    if kind == "empty":
        return {}
    parser = StructuredParser(kind)
    ads = [ad.attributes for ad in (*parser.feed(text), *parser.close())][:1]
    for ad in ads:
        if (ad.get("EventTypeNumber"), ad.get("Cluster"), ad.get("Proc")) == record:
            given = ad.get("ExecuteProps")
            known = {**ad, **(given if isinstance(given, dict) else {})}
            return {
                _ATTRIBUTES[name.lower()]: float(value)
                for name, value in known.items()
                if name.lower() in _ATTRIBUTES and type(value) in (int, float)
            }
    return {}
