"""``jobsight import`` as users call it."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.support.calling import jobsight
from tests.support.importing import SAMPLES
from tests.support.limits import PROVE, limit

from jobsight.store import open_store

SLURM = Path(__file__).parents[2] / "../shared/data/slurm"
LARGE = ("CEA-Curie-2011-2.1-cln.swf.gz", "graham-2021.parquet")


def run_import(
    store: Path, *arguments: str | Path, stdin: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    """Import what is named; a process of its own has a standard input."""
    words = ["import", *arguments, "--store", store]
    if not stdin:
        done = jobsight(*words)
        printed, said = done.stdout.encode(), done.stderr.encode()
        return subprocess.CompletedProcess(words, done.returncode, printed, said)
    return subprocess.run(
        [sys.executable, "-m", "jobsight", *map(str, words)],
        input=stdin,
        capture_output=True,
        env={**os.environ, "TZ": "UTC", "NO_COLOR": "1"},
        timeout=limit(300),
        check=False,
    )


def summary(store: Path, *arguments: str | Path, stdin: bytes = b"") -> dict[str, Any]:
    done = run_import(store, *arguments, "--json", stdin=stdin)
    assert done.returncode == 0, done.stderr.decode()
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_all_samples_at_once_and_again_changes_nothing(tmp_path: Path) -> None:
    store = tmp_path / "jobs.db"
    samples = [path for path in SAMPLES.iterdir() if path.name != "scontrol.txt"]  # of no cluster
    first = summary(store, *samples)
    assert first["jobs"] == {"new": 53, "changed": 0, "unchanged": 0}
    assert first["bad_rows"] == 3
    with open_store(str(store)) as opened:
        before = list(opened.scan())
    again = summary(store, *samples)
    assert again["jobs"] == {"new": 0, "changed": 0, "unchanged": 53}
    assert again["states"] == first["states"]
    with open_store(str(store)) as opened:
        assert list(opened.scan()) == before


def test_what_is_printed_for_people(tmp_path: Path) -> None:
    done = run_import(tmp_path / "jobs.db", SAMPLES / "eagle.csv")
    out, err = done.stdout.decode(), done.stderr.decode()
    assert done.returncode == 0
    assert "5 jobs from 6 rows of 1 file" in out
    assert "5 new, 0 changed, 0 unchanged" in out
    assert "cannot record" not in out
    more = run_import(tmp_path / "jobs.db", SAMPLES / "eagle.csv", "--verbose")
    assert "what eagle cannot record:" in more.stdout.decode()
    assert "eagle.csv:7: it ends before it starts: 7004,user0003" in err


def test_standard_input(tmp_path: Path) -> None:
    data = gzip.compress((SAMPLES / "sacct.psv").read_bytes())
    assert summary(tmp_path / "jobs.db", "-", stdin=data)["jobs"]["new"] == 10


def test_a_truncated_file_is_imported_as_far_as_it_goes(tmp_path: Path) -> None:
    text = (SAMPLES / "trace.swf").read_text()
    rows = "".join(f"{100 + k} 5 5 {k} 1 1 1 1 1 1 1 1 1 1 1 1 -1 -1\n" for k in range(5000))
    data = gzip.compress((text + rows).encode())
    path = tmp_path / "trace.swf.gz"
    path.write_bytes(data[: len(data) // 2])
    done = run_import(tmp_path / "jobs.db", path)
    assert done.returncode == 0
    assert b"breaks off" in done.stderr


@pytest.mark.parametrize(
    ("content", "arguments", "status", "words"),
    [
        (b"good morning\n", (), 1, ("no known format", "'good morning'", "--format")),
        (b"good morning\n", ("--format", "swf"), 1, ("18 numbers a line",)),
        (b"good morning\n", ("--format", "eventlog"), 1, ("no event record", "'good morning'")),
        (b"1|COMPLETED|x|y\n", (), 1, ("--columns",)),
        (b"JobID|State|Submit\n1|COMPLETED|2026-01-01T00:00:00\n", (), 2, ("--cluster",)),
        (b"x", ("--format", "pbs"), 2, ("no format is named 'pbs'",)),
        (b"x", ("--columns", "user,state"), 2, ("JobID among them",)),
        (b"x", ("--columns", "jobid,stat,submit"), 2, ("no column 'stat'", "State", "Start")),
        (b"x", ("--columns", "jobid,state,zzzzzz"), 2, ("no column 'zzzzzz'", "--helpformat")),
        (b"x", ("--delimiter", ""), 2, ("at least one character",)),
        (b"x", ("--timezone", "Mars/North"), 2, ("no time zone", "Mars")),
    ],
)
def test_errors_are_one_line(
    content: bytes, arguments: tuple[str, ...], status: int, words: tuple[str, ...], tmp_path: Path
) -> None:
    path = tmp_path / "input"
    path.write_bytes(content)
    done = jobsight("import", path, *arguments, "--store", tmp_path / "jobs.db")
    said = done.stderr
    assert (done.returncode, done.stdout) == (status, "")
    assert said.startswith("jobsight: ")
    assert said.count("\n") == 1
    assert all(word in said for word in words), said


def test_slurms_zone_is_not_that_of_event_logs(tmp_path: Path) -> None:
    """The collector reads them so, and both must tell of one job at the same moments."""
    log = tmp_path / "log"
    log.write_text(
        "000 (7.000.000) 2026-03-02 09:00:00 Job submitted from host: <1.2.3.4:5>\n...\n"
    )
    accounts = tmp_path / "sacct"
    accounts.write_text("JobID|State|Cluster|Submit\n7|PENDING|c|2026-03-02T09:00:00\n")
    settings = tmp_path / "settings.yaml"
    settings.write_text("timezone: Europe/Paris\nslurm: {timezone: America/Denver}\n")
    found = [
        summary(tmp_path / f"{path.name}.db", path, "--config", settings)["first"]
        for path in (log, accounts)
    ]
    assert found == ["2026-03-02T08:00:00Z", "2026-03-02T16:00:00Z"]


def test_hostile_rows_are_shown_escaped(tmp_path: Path) -> None:
    row = "\x1b[2J\x07|COMPLETED|c|x"
    path = tmp_path / "input"
    good = "2|COMPLETED|c|2026-01-01T00:00:00"
    path.write_text(f"JobID|State|Cluster|Submit\n{row}\n{good}\n", encoding="utf-8")
    done = run_import(tmp_path / "jobs.db", path)
    assert b"\x1b" not in done.stderr + done.stdout
    assert b"input:2: " in done.stderr


def shared(name: str) -> Path:
    path = SLURM / name
    if name in LARGE and not PROVE:
        pytest.skip(f"{name} is imported by `make prove`")
    if not path.exists():
        pytest.skip(f"there is no {name} beside this checkout")
    return path


SWF = {"0": "failed", "1": "completed", "2": "unknown_end", "5": "cancelled"}


@pytest.mark.parametrize("name", ["UniLu-Gaia-2014-1.swf.gz", "CEA-Curie-2011-2.1-cln.swf.gz"])
def test_real_traces(name: str, tmp_path: Path) -> None:
    path = shared(name)
    found = summary(tmp_path / "jobs.db", path)
    with gzip.open(path, "rt", encoding="latin-1") as file:
        status = [line.split()[10] for line in file if line.strip() and line[0] != ";"]
    counts = pl.Series(status).replace_strict(SWF).value_counts(name="count")
    assert found["states"] == dict(counts.iter_rows())
    assert (found["bad_rows"], found["rows"]) == (0, len(status))


@pytest.mark.parametrize("name", ["eagle-sample.csv", "graham-2021.parquet"])
def test_real_tables(name: str, tmp_path: Path) -> None:
    path = shared(name)
    found = summary(tmp_path / "jobs.db", path)
    table = pl.read_csv(path) if path.suffix == ".csv" else pl.read_parquet(path)
    counts = table["state"].str.to_lowercase().value_counts(name="count")
    assert found["states"] == dict(counts.iter_rows())
    assert (found["bad_rows"], found["jobs"]["new"]) == (0, len(table))


def test_a_real_clusters_accounting(tmp_path: Path) -> None:
    path = shared("slurm-a.sacct.psv.gz")
    found = summary(tmp_path / "jobs.db", path, "--cluster", "a")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [line.split("|") for line in file][1:]
    jobs = [row[6].split()[0].lower() for row in rows if "." not in row[0]]
    states, counts = found["states"], pl.Series(jobs).value_counts(name="count")
    kills = states.pop("out_of_memory")  # which Slurm calls FAILED: see the causes in the truth
    assert states | {"failed": states["failed"] + kills} == dict(counts.iter_rows())
    assert 70 < kills < 100
    assert (found["bad_rows"], found["rows"], found["notes"]) == (0, len(rows), [])


def test_a_real_dump_without_header(tmp_path: Path) -> None:
    path = shared("xdmod-pozidriv-sacct.psv.gz")
    found = summary(tmp_path / "jobs.db", path)
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [line.split("|") for line in file]
    last = {row[0]: row[16].split()[0].lower() for row in sorted(rows, key=lambda row: row[13])}
    counts = pl.Series(list(last.values())).value_counts(name="count")
    assert found["states"] == dict(counts.iter_rows())
    assert (found["bad_rows"], found["rows"]) == (0, len(rows))
