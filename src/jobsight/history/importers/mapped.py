"""Tables of jobs whose columns a mapping describes: published traces, and any a user has."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace

from jobsight.clock import likeliest, zone_named
from jobsight.documents import JobDocument, Request, State, Submission, Usage, slurm_id
from jobsight.errors import SourceError, UsageError
from jobsight.history.eventlog.logfiles import LogFile
from jobsight.history.importers.base import (
    Importer,
    ImportReport,
    Meter,
    Options,
    Unknowable,
    timeline_of,
)
from jobsight.history.importers.mapping import (
    MOMENTS,
    QUEUE,
    SECTIONS,
    Mapping,
    Twice,
    converter,
    near,
    typed_moments,
)
from jobsight.history.importers.tables import Batch, batches, columns_of, has_columns
from jobsight.program.submission.sizes import gpus, parse_tres

__all__ = ["Mapped"]

_PLAIN = (*MOMENTS, "id", "task", "cluster", "state", "reason", "host", "exit_code", "signal",
          "queue")  # fmt: skip


class Mapped(Importer):
    """A table as a mapping describes it.

    Raises:
        SettingsError: as by `Mapping.read`.
    """

    def __init__(self, path: Path) -> None:
        self.mapping, self._file = Mapping.read(path)
        self.name, self.title = self.mapping.name, self.mapping.title
        self.unknowable = tuple(Unknowable(*pair) for pair in self.mapping.unknowable.items())
        columns = self.mapping.columns
        ids = [name for name in columns if columns[name].field in ("id", "submitted")]
        self._needed = (
            (*self.mapping.recognised_by, *ids) if self.mapping.recognised_by else columns
        )

    def sniff(self, file: LogFile) -> float:
        """By the names of the columns."""
        return float(has_columns(file, self._needed))

    def read(
        self, files: Sequence[LogFile], options: Options, report: ImportReport
    ) -> Iterator[list[JobDocument]]:
        """Documents of the tables, one after another."""
        meter = Meter(files, report, options.progress)
        for file in files:
            known = columns_of(file)
            for name in self._needed:
                if name not in known:
                    where = self._file.position(("columns", name)) or self._file.path
                    raise SourceError(
                        f"{file.name} is not {self.title} ({where}): it lacks the column {name!r}"
                        f"{near(name, known) or '; name its format with --format'}"
                    )
            table = _Table(file, self.mapping, options)
            for batch in batches(file, tuple(self.mapping.columns), report, meter):
                if documents := table.documents(batch, report):
                    yield documents


class _Table:
    """One file: its cluster, its zone, and its rows to documents."""

    def __init__(self, file: LogFile, mapping: Mapping, options: Options) -> None:
        self._file, self._mapping = file, mapping
        zones = mapping.clusters
        named = [
            cluster for cluster in zones if len(zones) == 1 or cluster.lower() in file.name.lower()
        ]
        self._cluster = options.cluster or next(iter(named), None) or options.unnamed
        fields = {column.field for column in mapping.columns.values()}
        if self._cluster is None and "cluster" not in fields:
            raise UsageError(
                f"nothing says which cluster the jobs of {file.name!r} ran on; give --cluster NAME"
                + (f", such as {' or '.join(zones)}" if zones else ", or clusters in the mapping")
            )
        zone = zones.get((self._cluster or "").lower(), next(iter(zones.values()), None))
        self._zone = zone_named(options.timezone or zone or options.site_timezone)
        self._shared = frozenset[str]()
        self._seen: Counter[str] = Counter()
        if mapping.repeated_ids == "array_tasks":
            self._shared = _shared(file, mapping)

    def documents(self, batch: Batch, report: ImportReport) -> list[JobDocument]:
        """Documents of the rows; rows that make no sense are counted in the report."""
        values, bad, doubts = _converted(batch, self._mapping, self._zone)
        _resolve_twice(values)
        values["submission.submitted"] = values["submitted"]
        values["queue"] = [None] * len(batch.numbers)
        if names := [field.removeprefix(QUEUE) for field in values if field.startswith(QUEUE)]:
            columns = zip(*(values[QUEUE + name] for name in names), strict=True)
            rows = (dict(zip(names, row, strict=True)) for row in columns)
            numbers = (
                {name: value for name, value in row.items() if value is not None} for row in rows
            )
            values["queue"] = [
                msgspec.json.encode(row).decode() if row else None for row in numbers
            ]
        plain = [values.get(field) or [None] * len(batch.numbers) for field in _PLAIN]
        sections = [_sections(kind, values, len(batch.numbers)) for kind in SECTIONS]
        found: list[JobDocument] = []
        for at, row in enumerate(zip(*plain, *sections, strict=True)):
            if at not in bad:
                try:
                    found.append(self._document(*row))
                except ValueError as error:
                    bad[at] = str(error)
        for at in sorted(bad):
            report.refuse(self._file.name, batch.numbers[at], bad[at], batch.shown(at))
        for at, fault in doubts:
            if at not in bad:
                report.doubt(self._file.name, batch.numbers[at], batch.shown(at), ValueError(fault))
        return found

    def _document(
        self,
        submitted: int | None, eligible: int | None, waiting: int | None, started: int | None,
        ended: int | None, job: str | None, task: int | None, cluster: str | None,
        state: tuple[State, str] | None, reason: str | None, host: str | None,
        code: tuple[int | None, int | None] | None, signal: int | None, queue: str | None,
        request: Request, submission: Submission, usage: Usage,
    ) -> JobDocument:  # fmt: skip
        if job is None or submitted is None:
            raise ValueError(f"no {'number' if job is None else 'time of submission'}")
        exit_code, by_signal = code or (None, None)
        end, word = state or (None, None)
        if state is None and ended is not None:  # no state is recorded
            end = State.COMPLETED if code == (0, None) else State.FAILED
            end = State.UNKNOWN_END if (exit_code, by_signal) == (None, None) else end
        timeline = timeline_of(
            self._mapping.name, submitted, eligible, waiting, started, ended,
            state=end, word=word, host=host, reason=reason,
            exit_code=exit_code, signal=signal or by_signal, queue=queue,
        )  # fmt: skip
        if (cluster := self._cluster or cluster) is None:
            raise ValueError("no cluster")
        if task is None and job in self._shared:
            self._seen[job] += 1
            task = self._seen[job]
        if task is not None:
            submission = replace(submission, array=job)
            job = f"{job}_{task}"
        elif "_" in job:
            submission = replace(submission, array=job.partition("_")[0])
        return JobDocument(
            id=slurm_id(cluster, job),
            updated=timeline[-1].time,
            request=request,
            submission=submission,
            usage=usage,
            timeline=timeline,
        )


def _sections(kind: str, values: dict[str, list[Any]], count: int) -> Iterator[Any]:
    """A section of the document of each row."""
    section = SECTIONS[kind]
    columns = {field: values.get(f"{kind}.{field}") for field in section.__struct_fields__}
    if kind == "request" and (tres := columns["tres"]):
        amounts = {text: _amounts(text or "") for text in set(tres)}
        for name in _amounts(""):
            columns[name] = columns[name] or [amounts[text][name] for text in tres]
    # Fields by their places: with their names a section takes six times as long.
    return map(section, *(column or [None] * count for column in columns.values()))


def _amounts(tres: str) -> dict[str, int | None]:
    """What the resources asked for say of amounts that may have no column of their own."""
    found = parse_tres(tres)
    memory = found.get("mem")
    return {
        "cpus": found.get("cpu"),
        "nodes": found.get("node"),
        "gpus": gpus(found),
        "memory_mb": None if memory is None else memory >> 20,
    }


def _shared(file: LogFile, mapping: Mapping) -> frozenset[str]:
    """Ids of more than one row; the file is read for them once before."""
    ids = {name: column for name, column in mapping.columns.items() if column.field == "id"}
    alone = mapping.model_copy(update={"columns": ids})
    numbers, aside = array("q"), ImportReport()
    for batch in batches(file, tuple(ids), aside, Meter([file], aside, lambda *_: None)):
        values, _, _ = _converted(batch, alone, zone_named("UTC"))
        numbers.extend(int(job) for at, job in enumerate(values["id"]) if job and job.isdecimal())
    found, counts = np.unique(np.frombuffer(numbers, np.int64), return_counts=True)
    return frozenset(map(str, found[counts > 1].tolist()))


def _converted(
    batch: Batch, mapping: Mapping, zone: Any
) -> tuple[dict[str, list[Any]], dict[int, str], list[tuple[int, str]]]:
    """The values of a batch by field; the first fault of each row that has one; faults of values.

    The latter are of values that a job does without: of its request, submission and usage.
    """
    found: dict[str, list[Any]] = {}
    bad: dict[int, str] = {}
    doubts: list[tuple[int, str]] = []
    for name, values in batch.columns.items():
        column, clock = mapping.columns[name], batch.clocks.get(name)
        if clock is not None and column.field in MOMENTS:
            found[column.field] = typed_moments(values, zone, clock)
            continue
        # What each different value means, and what is wrong with those that mean nothing.
        convert, known, faults = converter(column, zone), {}, {}
        for value in set(values):
            try:
                known[value] = convert(value)
            except ValueError as error:
                known[value], faults[value] = None, str(error)
        found[column.field] = list(map(known.__getitem__, values))
        if faults:
            for at, value in enumerate(values):
                if value in faults and "." in column.field:
                    doubts.append((at, f"column {name}: {faults[value]}"))
                elif value in faults:
                    bad.setdefault(at, f"column {name}: {faults[value]}")
    return found, bad, doubts


def _resolve_twice(values: dict[str, list[Any]]) -> None:
    """Choose between the showings of moments of an hour that the clock showed twice."""
    columns = [values[field] for field in MOMENTS if field in values]
    rows = {
        at
        for column in columns
        if Twice in map(type, column)  # hardly ever
        for at, time in enumerate(column)
        if type(time) is Twice
    }
    spans = values.get("usage.wall_s")
    for at in rows:
        first = [column[at] for column in columns]
        again = [getattr(time, "again", time) for time in first]
        chosen = likeliest(first, lambda again=again: again, spans[at] if spans else None)  # type: ignore[misc]
        for column, time in zip(columns, chosen, strict=True):
            column[at] = None if time is None else int(time)
