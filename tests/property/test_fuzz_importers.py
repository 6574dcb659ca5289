"""Importers given rubbish: some documents and a report, or one named error; never anything else.

With ``JOBSIGHT_PROVE=1`` many more examples are tried.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.importing import JOB_TABLE, SACCT_JSON, SAMPLES, imported
from tests.support.limits import PROVE

from jobsight.documents import decode, encode
from jobsight.errors import JobsightError
from jobsight.history.importers import IMPORTERS, Importer, ImportReport, Mapped, Options

MORE = 40 if PROVE else 1
NAMES = sorted(path.name for path in SAMPLES.iterdir() if path.name != "README.md")
INLINE = {"sacct.json": SACCT_JSON.encode(), "job_table": JOB_TABLE.encode()}
KINDS = [one.name for one in IMPORTERS]
OPTIONS = Options(cluster="c", access_point="ap", timezone="Europe/Paris", most_tasks=50)

PIECES = st.sampled_from(
    [b"|", b",", b"\n", b"\r\n", b'"', b"\\", b"{", b"}", b"[", b"]", b";", b" ", b"-1", b"\0",
     b"\xff", b"0", b"99999999999999999999", b"1e308", b"nan", b"Unknown", b"None", b"UNLIMITED",
     b"CANCELLED by 0", b"7_[1-4294967295%2]", b"2026-03-29T02:30:00", b"0001-01-01T00:00:00",
     b"9999-12-31T23:59:59", b"\xe2\x80\xae", b"\x1b[2J", b"ClusterId = 5\n", b"*** \n", b"...\n"]
)  # fmt: skip


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A sample with stretches cut out, doubled, or replaced."""
    name = draw(st.sampled_from([*NAMES, *INLINE]))
    data = INLINE.get(name) or (SAMPLES / name).read_bytes()[:6000]
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, len(data)))
        size = draw(st.integers(0, 40))
        piece = draw(PIECES | st.binary(max_size=8) | st.just(data[at : at + size]))
        data = data[:at] + piece + data[at + draw(st.integers(0, size)) :]
    return data


def accepted(data: bytes, kind: str | Importer, name: str = "graham") -> ImportReport | None:
    """The report, where the bytes were accepted: then all documents can be stored."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        try:
            jobs, report = imported(path, format=kind, options=OPTIONS)
        except JobsightError as error:
            assert "\n" not in str(error)
            return None
    for document in jobs.values():
        assert decode(encode(document)) == document
    assert report.rows >= report.bad >= len(report.first_bad)
    return report


@settings(deadline=None, max_examples=100 * MORE)
@given(mutated())
def test_damaged_samples(data: bytes) -> None:
    accepted(data, "auto")


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None, max_examples=30 * MORE)
@given(data=mutated())
def test_each_importer_is_given_what_is_anothers(kind: str, data: bytes) -> None:
    accepted(data, kind)


@settings(deadline=None, max_examples=60 * MORE)
@given(st.lists(PIECES | st.binary(max_size=20), max_size=60).map(b"".join), st.sampled_from(KINDS))
def test_rubbish(data: bytes, kind: str) -> None:
    accepted(data, kind)


@settings(deadline=None, max_examples=40 * MORE)
@given(st.integers(0, 4000), st.binary(max_size=16), st.sampled_from(["eagle", "graham"]))
def test_damaged_parquet(at: int, piece: bytes, kind: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.parquet"
        pl.read_csv(SAMPLES / f"{kind}.csv", try_parse_dates=True).write_parquet(path)
        data = path.read_bytes()
    at %= len(data)
    accepted(data[:at] + piece + data[at + len(piece) :], kind)


WORDS = st.sampled_from(
    ["id", "task", "submitted", "{field: state, states: {a: failed}}",
     "{field: exit_code, unit: wait}", "{field: ended, unit: ns}",
     "{field: request.time_limit_s, unit: slurm, unknown: [0, x]}",
     "request.tres", "usage.energy_j", "[", "{", "- ", "\n", "!!python/name:os.system", "*a", "&a"]
)  # fmt: skip


@settings(deadline=None, max_examples=60 * MORE)
@given(
    mapped=st.lists(st.tuples(st.sampled_from(["run_time", "state", "name", "x"]), WORDS)),
    data=mutated(),
)
def test_tables_and_mappings_of_rubbish(mapped: list[tuple[str, str]], data: bytes) -> None:
    lines = [
        "columns:",
        *(f"  {name}: {word}" for name, word in {"job_id": "id", **dict(mapped)}.items()),
    ]
    lines += ["  submit_time: submitted", "recognised_by: [submit_time]"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "map.yaml"
        path.write_text("\n".join(lines))
        try:
            importer = Mapped(path)
        except JobsightError as error:
            assert "\n" not in str(error)
            return
    accepted(data, importer)


@settings(deadline=None, max_examples=60 * MORE)
@given(st.sampled_from(NAMES), st.integers(0, 5000))
def test_cut_anywhere_what_is_whole_is_imported(name: str, at: int) -> None:
    data = (SAMPLES / name).read_bytes()
    whole, _ = imported(SAMPLES / name, options=OPTIONS)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graham"
        path.write_bytes(data[:at])
        try:
            part, _ = imported(path, options=OPTIONS)
        except JobsightError:
            return
    # The last row may be cut within a value, and a job's later rows may be missing.
    assert len(set(part) - set(whole)) <= 1
    assert len(part) <= len(whole) + 1
