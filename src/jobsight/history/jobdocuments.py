"""Event table ↔ job documents: nothing that a log tells is lost on the way there and back.

*There*: each record of a job becomes an entry of its timeline, under the name of its generation and
its place in that (`eventlog.generations`), so that it is recognised wherever it is read again. An
028 keeps its ad in its own entry: whether it was written before or after the log was last looked at
must not matter. What ads and submissions tell of request, submission and usage fills the sections.

*Back*: the entries of all jobs, put in the order of their places, are the log again; each 028's ad
is given to its trigger by the reader's own rule. Records of no job are in no document. Of these the
headers of generations are made anew, dated at the generation's beginning: they are counted where
rows are (the draw of a decision's frames hashes row numbers), and their dates decide nothing. Not
brought back are DAGMan's own records of no job (016), the name of the file a record was read from,
and what a timeline dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from jobsight.documents import (
    JSON,
    Event,
    JobDocument,
    Request,
    State,
    Submission,
    Usage,
    condor_id,
    parse_key,
)
from jobsight.documents.states import CONDOR_EVENTS
from jobsight.history.eventlog.generations import PREFIX, begun
from jobsight.history.eventlog.headers import sinful_name
from jobsight.history.eventlog.texts import LOOK_BACK
from jobsight.history.jobads import Fields, sections
from jobsight.jit import kernel

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa
    from numpy.typing import NDArray

__all__ = ["documents_of_batch", "event_table", "unnamed_access_point"]

_SUBMIT, _EXECUTE, _TERMINATED, _IMAGE_SIZE, _HEADER, _AD = 0, 1, 5, 6, 8, 28
_TELLING = frozenset((_SUBMIT, _EXECUTE, _IMAGE_SIZE, _AD))
_SECOND = 1_000_000
_UNNAMED = re.compile(r"log-[0-9a-f]{8}")
_BLOCK = 100_000
"""Rows gathered as Python values before they become columns."""

_TRIGGER = r'"TriggerEventTypeNumber":(-?\d{1,18})'
_EVENT_COLUMNS = (
    "code", "subproc", "hold_code", "hold_subcode", "reason", "return_value", "signal", "host",
    "slot", "memory_mb", "vacate_code", "attributes", "owner", "detail", "dag_node",
)  # fmt: skip
"""Columns of the event table that are fields of an entry by the same names."""

_decode_ad = msgspec.json.Decoder(dict[str, JSON]).decode


def unnamed_access_point(generation: str) -> str:
    """What stands for the access point in ids where no log names it: ``log-`` and 8 digits.

    Args:
        generation: the name of the log's first generation.
    """
    import hashlib

    return f"log-{hashlib.sha256(generation.encode()).hexdigest()[:8]}"


class _Job:
    """What a batch tells of one job."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.updated = 0
        self.request: Fields = {}
        self.submission: Fields = {}
        self.usage: Fields = {}

    def tell(self, event: Event) -> None:
        """Take what an event tells beside itself; later ones win."""
        if event.code == _AD:
            self._tell_ad(event)
        elif event.code == _SUBMIT:
            self._submitted(event.time)
            if event.host is not None and (name := sinful_name(event.host)) is not None:
                self.submission["host"] = name
            if event.dag_node is not None:
                self.submission["dag"] = f":{event.dag_node}"
        elif event.code == _EXECUTE:
            if event.slot is not None or event.host is not None:
                self.usage["hosts"] = event.slot or event.host
        elif event.memory_mb is not None:
            self._most_memory(event.memory_mb)

    def _tell_ad(self, event: Event) -> None:
        if event.attributes is None:
            return
        try:
            found = sections(_decode_ad(event.attributes))
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            return  # the entry keeps the text
        memory = found.usage.pop("memory_mb", None)
        submitted = found.submission.pop("submitted", None)
        self.request.update(found.request)
        self.submission.update(found.submission)
        self.usage.update(found.usage)
        if memory is not None:
            self._most_memory(memory)
        if submitted is not None:
            self._submitted(submitted)

    def _submitted(self, time: int) -> None:
        # As `merge` joins them, so that it does not matter which records come together.
        self.submission["submitted"] = min(self.submission.get("submitted", time), time)

    def _most_memory(self, size: int) -> None:
        if size >= 0:
            self.usage["memory_mb"] = max(self.usage.get("memory_mb", 0), size)

    def document(self, access_point: str, cluster: int, proc: int) -> JobDocument:
        self.submission["array"] = str(cluster)
        return JobDocument(
            id=condor_id(access_point, cluster, proc),
            updated=max(event.time for event in self.events),
            request=Request(**self.request),
            submission=Submission(**self.submission),
            usage=Usage(**self.usage),
            timeline=tuple(self.events),
        )


def _state(code: int, return_value: int | None) -> State | None:
    if code == _TERMINATED:
        return State.COMPLETED if return_value == 0 else State.FAILED
    return CONDOR_EVENTS.get(code)


def documents_of_batch(batch: pa.RecordBatch, access_point: str) -> list[JobDocument]:
    """What a stretch of one log tells of jobs: a partial document of each, in order of first row.

    Args:
        batch: of the event table, as `EventReader` gives it with `generations`: `source` and
            `offset` are those of the generation, each 028 has its own ad.
        access_point: of the documents' ids.
    """
    columns = {name: batch.column(name).to_pylist() for name in _EVENT_COLUMNS}
    ids = zip(*(batch.column(name).to_pylist() for name in ("cluster", "proc")), strict=True)
    times = batch.column("time").cast("int64").to_pylist()
    sources, offsets = (batch.column(name).to_pylist() for name in ("source", "offset"))
    jobs: dict[tuple[int, int], _Job] = {}
    rows = zip(*columns.values(), strict=True)
    for job_id, time, source, offset, row in zip(ids, times, sources, offsets, rows, strict=True):
        if job_id[0] < 0 or job_id[1] < 0:
            continue
        told = dict(zip(_EVENT_COLUMNS, row, strict=True))
        state = _state(told["code"], told["return_value"])
        event = Event(time=time, source=source, position=offset, state=state, **told)
        job = jobs.get(job_id)
        if job is None:
            job = jobs[job_id] = _Job()
        job.events.append(event)
        if event.code in _TELLING:
            job.tell(event)
    return [job.document(access_point, *job_id) for job_id, job in jobs.items()]


def event_table(documents: Iterable[JobDocument]) -> pl.DataFrame:
    """The event table (docs/architecture.md) of the documents' entries that logs have told.

    Logs are numbered by access point and name, in the order of their first records; `source` is the
    generation, `offset` the place in it. All else is as the reader gives it (see the module).

    Args:
        documents: of any jobs, each once, in any order; read once.
    """
    import polars as pl

    frames = [_frame(block) for block in _blocks(documents)]
    table = pl.concat(frames) if frames else _frame([])
    table = pl.concat([table, _headers(table)])
    teller = pl.col("source").str.split("#").list.first()
    logs = (
        table.filter(pl.col("cluster") >= 0)
        .group_by("access_point", teller.alias("teller"))
        .agg(pl.col("time").min().alias("first"))
        .sort("first", "access_point", "teller")
        .with_row_index("number")
        .select("access_point", "teller", pl.col("number").cast(pl.Int32))
    )
    table = (
        table.with_columns(teller=teller)
        .join(logs, on=["access_point", "teller"], how="left", nulls_equal=True)
        .with_columns(log=pl.col("number"))
        .sort("log", "source", "offset", "code")
        .drop("teller", "number")
    )
    return _rejoined(table)


def _blocks(documents: Iterable[JobDocument]) -> Iterator[list[tuple[Any, ...]]]:
    block: list[tuple[Any, ...]] = []
    for document in documents:
        key = parse_key(document.id)
        if key.scheduler != "htcondor":
            continue
        cluster, _, proc = key.job.partition(".")
        point = None if _UNNAMED.fullmatch(key.cluster) else key.cluster
        where = (int(cluster), int(proc), point)
        block += [_row(where, event) for event in document.timeline if _of_log(event)]
        if len(block) >= _BLOCK:
            yield block
            block = []
    if block:
        yield block


def _of_log(event: Event) -> bool:
    return event.position is not None and event.source.startswith(PREFIX)


def _row(where: tuple[int, int, str | None], event: Event) -> tuple[Any, ...]:
    told = (getattr(event, name) for name in _EVENT_COLUMNS)
    return (*where, event.time, event.source, event.position, *told)


def _schema() -> dict[str, Any]:
    import polars as pl

    from jobsight.history.eventlog.columns import event_schema

    empty = pl.from_arrow(event_schema().empty_table())
    assert isinstance(empty, pl.DataFrame)
    return dict(empty.schema)


def _frame(rows: Sequence[tuple[Any, ...]]) -> pl.DataFrame:
    import polars as pl

    kinds = _schema()
    given = ("cluster", "proc", "access_point", "time", "source", "offset", *_EVENT_COLUMNS)
    told = {name: pl.Int64 if name == "time" else kinds[name] for name in given}
    frame = pl.DataFrame(rows, schema=told, orient="row")
    frame = frame.with_columns(
        pl.col("time").cast(kinds["time"]), log=pl.lit(None, dtype=kinds["log"])
    )
    return frame.select(*kinds)


def _headers(table: pl.DataFrame) -> pl.DataFrame:
    """The header record of each generation that has one, dated at its beginning."""
    import polars as pl

    kinds = _schema()
    found = (
        table.group_by("access_point", "source")
        .agg(pl.col("offset").min().alias("first"))
        .filter(pl.col("first") > 0)
    )
    rows = [
        {
            "cluster": -1, "proc": -1, "subproc": -1, "code": _HEADER,
            "time": start - start % _SECOND, "access_point": point, "source": source, "offset": 0,
        }
        for point, source, _ in found.iter_rows()
        if (start := begun(source)) is not None and "~" not in source
    ]  # fmt: skip
    plain = {name: pl.Int64 if name == "time" else kind for name, kind in kinds.items()}
    return pl.DataFrame(rows, schema=plain).with_columns(pl.col("time").cast(kinds["time"]))


def _rejoined(table: pl.DataFrame) -> pl.DataFrame:
    """The table with each 028's ad in the row of its trigger."""
    import polars as pl

    is_ad = (pl.col("code") == _AD) & pl.col("attributes").is_not_null()
    number = pl.col("attributes").str.extract(_TRIGGER).cast(pl.Int64, strict=False)
    trigger = table.select(pl.when(is_ad).then(number).fill_null(-1)).to_series()
    keys = (table[name].cast(pl.Int64).to_numpy(writable=True) for name in _KEYS)
    givers, takers = _pairs(trigger.to_numpy(writable=True), *keys)
    if not len(givers):
        return table
    told = table.select("attributes", "owner")[givers]
    attributes = table["attributes"].clone().scatter(takers, told["attributes"])
    owner = table["owner"].clone().scatter(takers, told["owner"])
    return table.with_columns(attributes=attributes.scatter(givers, None), owner=owner)


_KEYS = ("code", "cluster", "proc", "log")


@kernel
def _pairs(
    trigger: NDArray[np.int64],
    code: NDArray[np.int64],
    cluster: NDArray[np.int64],
    proc: NDArray[np.int64],
    log: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Rows of 028 records and of their triggers, by the rule of `texts`: int64 (2, pairs)."""
    pairs = np.empty((2, len(code)), np.int64)
    taken = np.zeros(len(code), np.bool_)
    count = 0
    for k in range(len(code)):
        if trigger[k] < 0:
            continue
        for back in range(k - 1, max(k - LOOK_BACK, 0) - 1, -1):
            if log[back] != log[k]:
                break
            if code[back] == trigger[k] and cluster[back] == cluster[k] and proc[back] == proc[k]:
                if not taken[back]:
                    taken[back] = True
                    pairs[0, count], pairs[1, count] = k, back
                    count += 1
                break
    return pairs[:, :count].copy()
