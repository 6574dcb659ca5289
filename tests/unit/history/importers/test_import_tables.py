"""Tables: NREL's Eagle, the waiting jobs of Graham and Cedar, and a user's by a mapping."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.support.importing import SAMPLES, imported, states, written

from jobsight.clock import format_micros
from jobsight.documents import JobDocument, encode
from jobsight.errors import SettingsError, SourceError, UsageError
from jobsight.history.importers import Mapped, Options
from jobsight.history.importers.base import timeline_of

EAGLE, GRAHAM = SAMPLES / "eagle.csv", SAMPLES / "graham.csv"


def test_a_job_of_eagle() -> None:
    jobs, report = imported(EAGLE)
    job = jobs["7002"]
    assert job.id == "slurm:eagle:7002"
    assert (job.request.cpus, job.request.nodes, job.request.gpus) == (72, 2, 4)
    assert (job.request.memory_mb, job.request.time_limit_s) == (184_000, 1800)
    assert (job.submission.user, job.submission.line) == ("user0002", "submit_line02")
    assert [str(event.state) for event in job.timeline] == ["pending", "running", "timeout"]
    assert job.usage.wall_s == 1805.0
    assert states(jobs) == {"completed": 3, "failed": 1, "timeout": 1}
    assert (report.rows, report.bad) == (6, 1)
    assert report.first_bad[0].reason == "it ends before it starts"
    assert report.first_bad[0].place == 7


def test_eagle_stands_in_colorado_unless_told_otherwise() -> None:
    job = imported(EAGLE)[0]["7001"]
    assert format_micros(job.timeline[0].time) == "2020-02-03 15:00:00Z"
    job = imported(EAGLE, options=Options(timezone="UTC"))[0]["7001"]
    assert format_micros(job.timeline[0].time) == "2020-02-03 08:00:00Z"


def test_no_memory_asked_for_is_not_known_rather_than_none() -> None:
    assert imported(EAGLE)[0]["7001"].request.memory_mb is None


def test_tasks_that_bear_their_arrays_number_stay_apart() -> None:
    jobs, _ = imported(EAGLE)
    tasks = [jobs[f"7003_{number}"] for number in (1, 2, 3)]
    assert {task.submission.array for task in tasks} == {"7003"}
    assert [str(task.state) for task in tasks] == ["completed", "failed", "completed"]


def test_a_job_of_graham() -> None:
    jobs, report = imported(GRAHAM)
    job = jobs["9002"]
    assert job.id == "slurm:graham:9002"
    assert (job.request.cpus, job.request.gpus, job.request.memory_mb) == (8, 2, 16_384)
    assert (job.request.partition, job.request.account, job.request.nodes) == ("3", "42", 1)
    assert job.request.priority is None  # only that of the end is known
    assert job.usage.nodes == 1
    times = [format_micros(event.time) for event in job.timeline]
    assert times == [
        "2021-05-01 15:00:00Z",  # 11:00 in Toronto
        "2021-05-01 15:30:00Z",
        "2021-05-01 16:00:00Z",
        "2021-05-02 00:00:00Z",
        "2021-05-02 00:01:00Z",
    ]
    assert [event.word for event in job.timeline] == [None, "ELIGIBLE", None, None, "OUT_OF_MEMORY"]
    assert not report.bad


def test_a_table_in_parquet_gives_the_same_documents(tmp_path: Path) -> None:
    for path in (EAGLE, GRAHAM):
        frame = pl.read_csv(path, try_parse_dates=True)
        parquet = tmp_path / f"{path.stem}.parquet"
        frame.with_columns(pl.col("submit_time").cast(pl.Datetime("ns"))).write_parquet(parquet)
        assert frame.schema["submit_time"] == pl.Datetime
        assert imported(parquet)[0] == imported(path)[0]


def test_parquet_is_read_from_compressed_files_and_pipes(tmp_path: Path) -> None:
    import gzip

    pl.read_csv(GRAHAM).write_parquet(tmp_path / "t.parquet")
    packed = written(
        tmp_path, gzip.compress((tmp_path / "t.parquet").read_bytes()), "graham.parquet.gz"
    )
    assert imported(packed)[0] == imported(GRAHAM)[0]


def test_which_of_the_two_clusters_must_be_known(tmp_path: Path) -> None:
    path = written(tmp_path, GRAHAM.read_bytes(), "jobs.csv")
    with pytest.raises(UsageError, match="--cluster"):
        imported(path)
    (job, *_) = imported(path, options=Options(cluster="cedar"))[0].values()
    assert job.id == "slurm:cedar:9001"
    assert format_micros(job.timeline[0].time) == "2021-05-01 17:00:00Z"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("2020-02-03 08:00:00", "soon", "not a time"),
        ("2020-02-03 08:00:00", "", "no time of submission"),
        ("2020-02-03 08:00:00", "1901-01-01 00:00:00", "not a time of a job"),
        ("COMPLETED", "DONE", "not a state"),
        ("7001,", ",", "no number"),
        ("7001,", "7001.5,", "whole number"),
        ("normal", "nor,mal", "19 fields"),
        ("normal", '"normal', "quotes"),
        ("2020-02-03 08:00:10", "2020-02-03 07:00:10", "starts before"),
    ],
)
def test_bad_rows_of_tables(old: str, new: str, reason: str, tmp_path: Path) -> None:
    head, first, *rest = EAGLE.read_text().splitlines(keepends=True)
    text = head + first.replace(old, new, 1) + "".join(rest[:-1])
    jobs, report = imported(written(tmp_path, text))
    assert len(jobs) == 4
    assert (report.bad, report.first_bad[0].place) == (1, 2)
    assert reason in report.first_bad[0].reason


@pytest.mark.parametrize("value", ["-5", "inf", "soon"])
def test_a_bad_value_that_a_job_does_without_is_unknown(value: str, tmp_path: Path) -> None:
    head, first, *rest = EAGLE.read_text().splitlines(keepends=True)
    text = head + first.replace("3600.0", value, 1) + "".join(rest[:-1])
    jobs, report = imported(written(tmp_path, text))
    assert (len(jobs), report.bad, report.doubts) == (5, 0, 1)
    assert (report.first_doubts[0].place, report.first_doubts[0].value[:5]) == (2, "7001,")
    assert value == "soon" or "out of range" in report.first_doubts[0].reason


@pytest.mark.parametrize(
    ("start", "end", "seconds", "meant"),
    [("01:50", "01:10", 1200, ("07:50", "08:10")), ("00:50", "01:10", 4800, ("06:50", "08:10"))],
)
def test_the_hour_that_eagles_clock_showed_twice(
    start: str, end: str, seconds: int, meant: tuple[str, str], tmp_path: Path
) -> None:
    head, first, *_ = EAGLE.read_text().splitlines()
    row = dict(zip(head.split(","), first.split(","), strict=True))
    told = {"submit_time": "00:30", "start_time": start, "end_time": end}
    row |= {name: f"2019-11-03 {time}:00" for name, time in told.items()}
    row["run_time"] = str(seconds)
    (job,) = imported(written(tmp_path, f"{head}\n{','.join(row.values())}\n"))[0].values()
    assert tuple(format_micros(event.time)[11:16] for event in job.timeline[1:]) == meant


def test_quoted_fields_may_hold_commas(tmp_path: Path) -> None:
    text = EAGLE.read_text().replace("name02", '"a, ""b"""')
    assert imported(written(tmp_path, text))[0]["7002"].submission.name == 'a, "b"'


def test_a_table_that_lacks_a_column_says_which(tmp_path: Path) -> None:
    path = written(tmp_path, EAGLE.read_text().replace("wallclock_req", "limit"))
    with pytest.raises(SourceError, match="lacks the column 'wallclock_req'"):
        imported(path, format="eagle")


def test_a_damaged_parquet_file_is_one_clear_error(tmp_path: Path) -> None:
    path = written(tmp_path, b"PAR1" + bytes(100) + b"PAR1", "graham.parquet")
    with pytest.raises(SourceError, match="no known format"):
        imported(path)
    with pytest.raises(SourceError, match="damaged Parquet"):
        imported(path, format="graham")


def test_parquet_times_may_have_a_zone(tmp_path: Path) -> None:
    frame = pl.read_csv(EAGLE, try_parse_dates=True)
    moved = frame.with_columns(
        pl.col("submit_time", "start_time", "end_time").dt.replace_time_zone("UTC")
    )
    moved.write_parquet(tmp_path / "eagle.parquet")
    job = imported(tmp_path / "eagle.parquet")[0]["7001"]
    moment = dt.datetime(2020, 2, 3, 8, tzinfo=dt.UTC)
    assert job.timeline[0].time == int(moment.timestamp()) * 1_000_000


MAPPING = """\
name: eagle
clusters: {eagle: America/Denver}
repeated_ids: array_tasks
columns:
  Job Number: id
  owner: submission.user
  hours: {field: request.time_limit_s, unit: h}
  cores: request.cpus
  GB: {field: request.memory_mb, unit: GB, unknown: [0]}
  queued: {field: submitted, unit: s}
  began: started
  finished: ended
  run: usage.wall_s
  how: {field: state, states: {ok: completed, bad: failed, "9": timeout}}
"""


def mapped(folder: Path, table: str, mapping: str = MAPPING) -> tuple[dict[str, JobDocument], Any]:
    """What is imported of a table by a mapping."""
    return imported(
        written(folder, table, "jobs.csv"), format=Mapped(written(folder, mapping, "map.yaml"))
    )


def test_a_mapped_table_gives_the_documents_that_the_packaged_mapping_gives(tmp_path: Path) -> None:
    names = {
        "job_id": "Job Number", "user": "owner", "processors_req": "cores", "start_time": "began",
        "end_time": "finished", "run_time": "run",
    }  # fmt: skip
    words = {"COMPLETED": "ok", "FAILED": "bad", "TIMEOUT": "9"}
    lean = pl.read_csv(EAGLE, infer_schema=False).head(5).select(
        *names, "wallclock_req", "mem_req", "submit_time", "state"
    )  # fmt: skip
    native, _ = imported(written(tmp_path, lean.write_csv()), format="eagle")
    other = lean.rename(names).select(
        *names.values(),
        hours=(pl.col("wallclock_req").cast(float) / 3600),
        GB=(pl.col("mem_req").cast(float) / 1024),
        queued=pl.col("submit_time").str.to_datetime().dt.replace_time_zone("America/Denver")
        .dt.epoch("s"),
        how=pl.col("state").replace_strict(words),
    )  # fmt: skip
    found, report = mapped(tmp_path, other.write_csv(separator="\t"))
    assert not report.bad
    worded = {
        id_: encode(job).replace(f'"{one}"'.encode(), f'"{words[one]}"'.encode())
        for id_, job in native.items()
        for one in words
        if job.timeline[-1].word == one
    }
    assert {id_: encode(job) for id_, job in found.items()} == worded


def test_units_as_slurm_writes_them_exit_codes_and_tasks(tmp_path: Path) -> None:
    mapping = """
columns:
  cluster: cluster
  id: id
  task: {field: task, unknown: [0]}
  at: {field: submitted, unit: ms}
  from: {field: started, unit: s}
  to: {field: ended, unit: s}
  limit: {field: request.time_limit_s, unit: slurm}
  memory: {field: request.memory_mb, unit: slurm}
  asked: request.tres
  code: {field: exit_code, unit: slurm}
  why: reason
"""
    rows = """cluster;id;task;at;from;to;limit;memory;asked;code;why
a;5;0;1000;2;9;1-00:00:00;4G;cpu=8,node=2,gres/gpu=4;0:0;
b;5;3;1000;2;9;UNLIMITED;512M;;0:9;"too; much"
b;6;0;1000;;;30;;;;
b;7;0;1000;;9;;;;;
;8;0;1000;;9;;;;;
"""
    found, report = mapped(tmp_path, rows, mapping)
    assert (report.rows, report.first_bad[0].reason) == (5, "no cluster")
    assert [job.id for job in found.values()] == [
        "slurm:a:5",
        "slurm:b:5_3",
        "slurm:b:6",
        "slurm:b:7",
    ]
    one, task, waits, gone = found.values()
    assert (one.request.cpus, one.request.nodes, one.request.gpus) == (8, 2, 4)
    assert (one.request.time_limit_s, one.request.memory_mb) == (86_400, 4096)
    assert one.outcome is not None
    assert task.outcome is not None
    assert (str(one.state), one.outcome.exit_code) == ("completed", 0)
    assert (str(task.state), task.outcome.signal, task.outcome.reason) == ("failed", 9, "too; much")
    assert (task.submission.array, task.request.time_limit_s) == ("5", -1)
    assert (str(waits.state), str(gone.state)) == ("pending", "unknown_end")


@pytest.mark.parametrize(
    ("old", "new", "place", "reason"),
    [
        ("request.cpus", "request.cpu", "8:3", "did you mean 'request.cpus'"),
        ("unit: GB", "unit: stones", "9:", "the unit of request.memory_mb may be B, KB, MB"),
        ("ok: completed", "ok: done", "14:", "'completed'"),
        ("repeated_ids: array_tasks", "repeated_ids: many", "3:1", "'one_job' or 'array_tasks'"),
        ("Job Number: id", "Job Number: submission.name", "4:1", "must be the field id"),
        ("finished: ended", "finished: started", "4:1", "two columns are the field started"),
        ("owner:", "colour: {field: reason, hue: red}\n  owner:", "6:", "hue"),
        ("America/Denver", "Mars/North", "2:1", "no time zone"),
        ("  began", "\tbegan", "11:1", "tabs"),
        ("name: eagle", "name: [1]", "1:1", "name"),
    ],
)
def test_what_is_wrong_with_a_mapping_is_said_with_its_place(
    old: str, new: str, place: str, reason: str, tmp_path: Path
) -> None:
    assert old in MAPPING
    with pytest.raises(SettingsError) as error:
        mapped(tmp_path, "x\n", MAPPING.replace(old, new))
    assert f"map.yaml:{place}" in str(error.value)
    assert reason in str(error.value)


def test_a_column_that_the_table_lacks_is_named_with_those_like_it(tmp_path: Path) -> None:
    head = "Job Number,Owner,hours,cores,GB,queued,began,finished,run,how\n"
    with pytest.raises(SourceError, match=r"map.yaml:6:3\): it lacks .* 'owner'; .*'Owner'"):
        mapped(tmp_path, head)


def test_a_table_without_ids_is_refused_whatever_it_is_recognised_by(tmp_path: Path) -> None:
    columns = "columns: {j: {field: id, unknown: [0]}, s: submitted}"
    mapping = f"clusters: {{c: UTC}}\nrecognised_by: [s]\n{columns}"
    with pytest.raises(SourceError, match="lacks the column 'j'"):
        mapped(tmp_path, "s\n2026-01-01\n", mapping)
    with pytest.raises(SourceError, match=r"no record of .* \(no number\)"):
        mapped(tmp_path, "j,s\n0,2026-01-01\n", mapping)


def test_a_table_of_no_known_cluster_asks_for_its_name(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--cluster NAME, or clusters in the mapping"):
        mapped(tmp_path, "j,s\n1,2026-01-01\n", "columns: {j: id, s: submitted}")


def test_a_job_seen_in_the_queue_before_it_was_eligible_was_seen_then() -> None:
    events = timeline_of("graham", 0, eligible=300, waiting=100, start=400, queue='{"x":1}')
    assert [(event.time, event.attributes) for event in events] == [
        (0, None), (100, '{"x":1}'), (300, None), (400, None),
    ]  # fmt: skip
