"""sacct's output: any columns, any delimiter, steps, runs, arrays, components."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from tests.support.importing import SAMPLES, imported, states, written

from jobsight.clock import format_micros
from jobsight.errors import SourceError, UsageError
from jobsight.history.importers import Options
from jobsight.history.importers.sacctdumps import header_of

SAMPLE = SAMPLES / "sacct.psv"
UTC = Options(timezone="UTC")
HEAD = "JobID|State|Cluster|Submit|Start|End"
ROW = "7|COMPLETED|c|2026-03-02T09:00:00|2026-03-02T09:01:00|2026-03-02T09:02:00"


def lines() -> list[list[str]]:
    return [line.split("|") for line in SAMPLE.read_text().splitlines()]


def test_the_sample_by_state() -> None:
    jobs, report = imported(SAMPLE, options=UTC)
    assert states(jobs) == {
        "completed": 3,
        "pending": 2,
        "running": 1,
        "failed": 1,
        "cancelled": 1,
        "timeout": 1,
        "out_of_memory": 1,
    }
    assert set(jobs) == {
        "101", "102", "103_1", "103_2", "103_3", "103_4", "106+0", "106+1", "108", "109",
    }  # fmt: skip
    assert (report.rows, report.bad) == (15, 1)
    assert report.first_bad[0].place == 16
    assert "yesterday" in report.first_bad[0].reason


def test_steps_are_folded_into_their_job() -> None:
    job = imported(SAMPLE, options=UTC)[0]["101"]
    assert job.usage.memory_mb == 3138  # the batch step's 3212480K
    assert job.usage.cpu_s == 4 * 3600 + 31 * 60 + 10
    assert (job.request.cpus, job.request.memory_mb, job.request.time_limit_s) == (4, 4096, 7200)
    assert (job.submission.user, job.submission.line) == ("alice", "sbatch fit.sh")
    assert job.id == "slurm:demo:101"


def test_out_of_memory_is_no_signal_and_allocated_gpus_count(tmp_path: Path) -> None:
    row = ROW.replace("COMPLETED", "OUT_OF_MEMORY") + "|0:125|gres/gpu:a100=2,gres/gpu=2|n1\n"
    path = written(tmp_path, f"{HEAD}|ExitCode|AllocTRES|NodeList\n{row}")
    (job,) = imported(path, options=UTC)[0].values()
    end = job.timeline[-1]
    assert (end.state, end.return_value, end.signal) == ("out_of_memory", None, None)
    assert job.usage.gpus == 2


def test_runs_of_a_requeued_job_are_one_job() -> None:
    job = imported(SAMPLE, options=UTC)[0]["108"]
    assert [str(event.word) for event in job.timeline if event.word != "ELIGIBLE"] == [
        "PENDING", "RUNNING", "NODE_FAIL", "REQUEUED", "RUNNING", "TIMEOUT",
    ]  # fmt: skip
    assert job.submission.submitted is not None
    assert format_micros(job.submission.submitted) == "2026-03-02 09:40:00Z"
    assert job.usage.requeues == 1


def test_waiting_tasks_become_a_job_each() -> None:
    jobs, _ = imported(SAMPLE, options=UTC)
    assert jobs["103_3"].submission.array == jobs["103_1"].submission.array == "103"
    assert str(jobs["103_4"].state) == "pending"


def test_tasks_beyond_the_most_are_counted(tmp_path: Path) -> None:
    row = "9_[1-50]|PENDING|c|2026-03-02T09:00:00|Unknown|Unknown"
    path = written(tmp_path, f"{HEAD}\n{row}\n")
    jobs, report = imported(path, options=Options(most_tasks=3))
    assert set(jobs) == {"9_1", "9_2", "9_3"}
    assert "47 pending array tasks" in report.notes[0]


@pytest.mark.parametrize("delimiter", ["|", ",", ";", "\t", "^", "::", "|~|", "\x1e"])
def test_any_delimiter_and_any_order_give_the_same(delimiter: str, tmp_path: Path) -> None:
    table = lines()
    order = sorted(range(len(table[0])), key=lambda at: table[0][at])
    quote = '"' if delimiter == "," else ""
    text = "\n".join(
        delimiter.join(f"{quote}{row[at]}{quote}" if "," in row[at] else row[at] for at in order)
        for row in table
    )
    found = imported(written(tmp_path, text + "\n"), options=UTC)[0]
    assert found == imported(SAMPLE, options=UTC)[0]


def test_parsable_with_a_delimiter_at_the_end_of_rows(tmp_path: Path) -> None:
    text = "".join(line + "|\n" for line in SAMPLE.read_text().splitlines())
    assert imported(written(tmp_path, text), options=UTC)[0] == imported(SAMPLE, options=UTC)[0]


def test_windows_line_ends_and_a_mark_of_byte_order(tmp_path: Path) -> None:
    text = "\ufeff" + SAMPLE.read_text().replace("\n", "\r\n")
    assert imported(written(tmp_path, text), options=UTC)[0] == imported(SAMPLE, options=UTC)[0]


def test_names_may_hold_the_delimiter(tmp_path: Path) -> None:
    head, row = HEAD.replace("|", "|JobName|", 1), ROW.replace("|", "|a|b|c|", 1)
    assert imported(written(tmp_path, f"{head}\n{row}\n"))[0]["7"].submission.name == "a|b|c"


LONG = "JobID|JobName|User|State|Submit|Start|End|Comment|WorkDir|SubmitLine|MaxRSS"
TIMES = "2026-03-02T09:00:00|2026-03-02T09:01:00|2026-03-02T09:02:00"
HARD = (  # as sacct of 24.11 prints them
    f"1|na|me|ann|COMPLETED|{TIMES}||/work|sbatch --wrap echo a | cat\necho b -J na|me|",
    f"2|nl\nname|ann|FAILED|{TIMES}|x|y|/work|sbatch --wrap true --comment x|y|",
    f"2.batch|batch||FAILED|{TIMES}||||3436K",
    f"3|plain|bob|COMPLETED|{TIMES}||/work|sbatch run.sh|",
    f"4|na|me|ann|FAILED|{TIMES}||/work|sbatch\ntrue|",  # its first line has as many as a row
)


@pytest.mark.parametrize("end", ["", "|"])
@pytest.mark.parametrize("headed", [True, False])
def test_names_and_lines_may_hold_delimiters_and_line_ends(
    end: str, headed: bool, tmp_path: Path
) -> None:
    rows = [*([LONG] if headed else []), *HARD]
    columns = None if headed else tuple(LONG.split("|"))
    path = written(tmp_path, "".join(f"{row}{end}\n" for row in rows))
    jobs, report = imported(path, format="sacct", options=Options(cluster="c", columns=columns))
    assert (report.bad, report.rows, set(jobs)) == (0, 5, {"1", "2", "3", "4"})
    one, two = jobs["1"].submission, jobs["2"].submission
    assert (one.name, one.line) == ("na|me", "sbatch --wrap echo a | cat\necho b -J na|me")
    assert (two.name, two.comment, two.user) == ("nl\nname", "x|y", "ann")
    assert jobs["2"].usage.memory_mb == 4
    assert jobs["4"].submission.line == "sbatch\ntrue"


def test_a_row_cut_short_takes_nothing_from_the_next(tmp_path: Path) -> None:
    rows = [LONG, "1|a|ann|COMP", HARD[3], "4|b|ann|COMPLETED|2026-03-02T09:0", "no row", HARD[3]]
    jobs, report = imported(written(tmp_path, "\n".join(rows) + "\n"), options=Options(cluster="c"))
    assert set(jobs) == {"3"}
    assert [(row.place, row.value[:5]) for row in report.first_bad] == [
        (2, "1|a|a"), (4, "4|b|a"), (5, "no ro"),
    ]  # fmt: skip


def test_a_row_that_lacks_the_delimiter_its_header_ends_with_was_cut(tmp_path: Path) -> None:
    path = written(tmp_path, f"{HEAD}|\n{ROW}|\n{ROW.replace('7', '8', 1)[:-1]}")
    jobs, report = imported(path, options=UTC)
    assert (set(jobs), report.bad, report.first_bad[0].place) == ({"7"}, 1, 3)


def test_a_last_line_that_its_archive_cuts_is_no_row(tmp_path: Path) -> None:
    rows = "".join(f"{ROW.replace('7', str(at), 1)}\n" for at in range(1, 3000))
    whole = gzip.compress(f"{HEAD}\n{rows}".encode(), mtime=0)
    # Wherever the archive is cut: a date that lacks its last digit is a date as well.
    for size in range(len(whole) // 2, len(whole) // 2 + 40):
        jobs, report = imported(written(tmp_path, whole[:size]), options=UTC)
        ends = {job.timeline[-1].time for job in jobs.values()}
        assert (len(report.breaks), len(ends)) == (1, 1)
        assert report.rows == len(jobs) + report.bad


def test_dumps_with_headers_of_other_columns_are_read_each_by_its_own(tmp_path: Path) -> None:
    head, row = f"{HEAD}|User|Account", f"{ROW}|ann|lab"
    other = "Cluster|JobID|Account|User|State|Submit|End"
    text = f"{head}\n{row}\n{other}\nd|8|lab|ann|FAILED|2026-03-02T09:00:00|2026-03-02T09:02:00\n"
    jobs, report = imported(written(tmp_path, text), options=UTC)
    assert (set(jobs), report.bad) == ({"7", "8"}, 0)
    assert jobs["8"].id == "slurm:d:8"
    for job in jobs.values():
        assert (job.submission.user, job.request.account) == ("ann", "lab")


def test_without_states_nothing_is_told_of_jobs(tmp_path: Path) -> None:
    path = written(tmp_path, "JobID|Submit|End\n7|2026-03-02T09:00:00|2026-03-02T09:02:00\n")
    with pytest.raises(SourceError, match="no column State"):
        imported(path, options=Options(cluster="c"))


@pytest.mark.parametrize(
    ("submit", "start", "end", "elapsed", "meant"),
    [
        ("00:30", "01:50", "01:10", "00:20:00", ("06:30", "07:50", "08:10")),
        ("01:50", "01:20", "04:10", "02:50:00", ("07:50", "08:20", "11:10")),
        ("00:30", "00:50", "01:10", "01:20:00", ("06:30", "06:50", "08:10")),
        ("00:30", "00:50", "01:10", "00:20:00", ("06:30", "06:50", "07:10")),
    ],
)
def test_the_hour_shown_twice_keeps_the_order_of_a_life(
    submit: str, start: str, end: str, elapsed: str, meant: tuple[str, ...], tmp_path: Path
) -> None:
    times = "|".join(f"2025-11-02T{time}:00" for time in (submit, start, end))
    path = written(tmp_path, f"{HEAD}|Elapsed\n7|COMPLETED|c|{times}|{elapsed}\n")
    job = imported(path, options=Options(timezone="America/Denver"))[0]["7"]
    assert str(job.state) == "completed"
    assert [format_micros(event.time)[11:16] for event in job.timeline] == list(meant)


def test_without_a_header_the_columns_must_be_named(tmp_path: Path) -> None:
    rows = SAMPLE.read_text().splitlines()
    path = written(tmp_path, "\n".join(rows[1:]))
    with pytest.raises(SourceError, match="--columns"):
        imported(path)
    columns = tuple(rows[0].lower().split("|"))
    found, report = imported(path, options=Options(timezone="UTC", columns=columns))
    assert found == imported(SAMPLE, options=UTC)[0]
    assert report.first_bad[0].place == 15


def test_columns_named_in_vain_do_no_harm() -> None:
    columns = tuple(SAMPLE.read_text().splitlines()[0].split("|"))
    found = imported(SAMPLE, options=Options(timezone="UTC", columns=columns))[0]
    assert found == imported(SAMPLE, options=UTC)[0]


def test_the_table_for_people_is_refused_with_what_to_do(tmp_path: Path) -> None:
    text = (
        "JobID           JobName  Partition      State \n"
        "------------ ---------- ---------- ---------- \n"
        "7                  wrap       main  COMPLETED \n"
    )
    with pytest.raises(SourceError, match=r"--parsable2 \(-P\)"):
        imported(written(tmp_path, text))


def test_the_cluster_must_be_known(tmp_path: Path) -> None:
    path = written(tmp_path, f"{HEAD}\n{ROW}\n".replace("Cluster|", "").replace("|c|", "|"))
    with pytest.raises(UsageError, match="--cluster"):
        imported(path)
    (job,) = imported(path, options=Options(cluster="mine"))[0].values()
    assert job.id == "slurm:mine:7"


def test_jobs_of_two_clusters_stay_apart(tmp_path: Path) -> None:
    text = f"{HEAD}\n{ROW}\n{ROW.replace('|c|', '|d|').replace('COMPLETED', 'FAILED')}\n"
    from jobsight.history.importers import FileImport

    reading = FileImport([str(written(tmp_path, text))], format="auto", options=UTC)
    found = [document.id for batch in reading.batches() for document in batch]
    assert sorted(found) == ["slurm:c:7", "slurm:d:7"]


def test_dumps_put_together_may_repeat_the_header(tmp_path: Path) -> None:
    text = f"{HEAD}\n{ROW}\n{HEAD}\n{ROW.replace('7', '8', 1)}\n"
    jobs, report = imported(written(tmp_path, text))
    assert (set(jobs), report.bad, report.rows) == ({"7", "8"}, 0, 2)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("7|COMPLETED", "2 fields"),
        ("7|BAKED|c|2026-03-02T09:00:00||", "not a state"),
        ("7|COMPLETED|c|Unknown||None", "it has no time"),
        ("seven|COMPLETED|c|2026-03-02T09:00:00||", "not a Slurm job id"),
        ("7|COMPLETED|c|2026-13-02T09:00:00||", "month"),
        ("7|COMPLETED|c|2026-03-02||", "not a time such as"),
    ],
)
def test_bad_rows(row: str, reason: str, tmp_path: Path) -> None:
    jobs, report = imported(written(tmp_path, f"{HEAD}\n{row}\n{ROW.replace('7', '8', 1)}\n"))
    assert set(jobs) == {"8"}
    assert (report.bad, report.first_bad[0].place, report.first_bad[0].value) == (1, 2, row)
    assert reason in report.first_bad[0].reason


@pytest.mark.parametrize(
    ("column", "value", "field"),
    [
        ("ReqMem", "16?", "memory_mb"), ("ReqCPUS", "many", "cpus"),
        ("Timelimit", "1:2:3:4", "time_limit_s"), ("ReqTRES", "cpu", "gpus"),
        ("Priority", "-", "priority"),
    ],
)  # fmt: skip
def test_one_bad_value_costs_itself_alone(
    column: str, value: str, field: str, tmp_path: Path
) -> None:
    path = written(tmp_path, f"{HEAD}|{column}|JobName\n{ROW}|{value}|fit\n")
    jobs, report = imported(path, options=UTC)
    assert (jobs["7"].state, jobs["7"].submission.name) == ("completed", "fit")
    assert getattr(jobs["7"].request, field) is None
    assert (report.rows, report.bad, report.doubts) == (1, 0, 1)
    head, row = report.said()
    assert head == "1 bad value left out; the rest of the row was imported:"
    assert row.startswith(f"  {path}:2: column {column.lower()}: ") and ROW[:40] in row


def test_a_bad_value_of_a_step_is_unknown(tmp_path: Path) -> None:
    step = ROW.replace("7|", "7.batch|", 1)
    path = written(tmp_path, f"{HEAD}|MaxRSS\n{ROW}|\n{step}|lots\n")
    jobs, report = imported(path, options=UTC)
    assert jobs["7"].usage.memory_mb is None
    assert (report.first_doubts[0].place, report.notes) == (3, [])


def test_steps_apart_from_their_job_are_noted(tmp_path: Path) -> None:
    step = ROW.replace("7", "5.batch", 1)
    _, report = imported(written(tmp_path, f"{HEAD}\n{ROW}\n{step}\n"))
    assert "1 rows of steps" in report.notes[0]
    with pytest.raises(SourceError, match="only steps"):
        imported(written(tmp_path, f"{HEAD}\n{step}\n"))


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("JobID|State|User", (("JobID", "State", "User"), "|")),
        ("User|JobIDRaw|State|", (("User", "JobIDRaw", "State", ""), "|")),
        ("JobID%20,State%10,User", (("JobID", "State", "User"), ",")),
        ("JobID\tState\tUser", (("JobID", "State", "User"), "\t")),
        ("JobID State User", None),
        ("JobID|State,User", None),
        ("JobID|State", None),
        ("User|State|Submit", None),
        ("1|COMPLETED|x", None),
        ("", None),
    ],
)
def test_what_is_a_header(line: str, found: object) -> None:
    assert header_of(line) == found


def test_many_jobs_come_in_bounded_batches(tmp_path: Path) -> None:
    from jobsight.history.importers import FileImport

    rows = "".join(ROW.replace("7", str(number), 1) + "\n" for number in range(1, 5001))
    path = written(tmp_path, f"{HEAD}\n{rows}")
    sizes = [len(batch) for batch in FileImport([str(path)], format="auto", options=UTC).batches()]
    assert (sum(sizes), max(sizes)) == (5000, 2000)


XDMOD = (
    "jobid,jobidraw,cluster,partition,qos,account,group,gid,user,uid,submit,eligible,start,end,"
    "elapsed,exitcode,state,nnodes,ncpus,reqcpus,reqmem,reqtres,alloctres,timelimit,nodelist,jobname"
)
XDMOD_ROWS = (
    "12_[3-4]|12|c|p|q|a|g|5|u|6|2026-03-02T09:00:00|Unknown|Unknown|Unknown|00:00:00|0:0|PENDING"
    "|1|8|8|4Gn|cpu=8,mem=4G,node=1||Partition_Limit|None assigned|a|b\n"
    "13|13|c|p|q|a|g|5|u|6|2026-03-02T09:00:00|2026-03-02T09:00:00|2026-03-02T09:01:00"
    "|2026-03-02T09:02:00|00:01:00|0:0|COMPLETED|1|8|8|4Gn|cpu=8,mem=4G,node=1|cpu=8,mem=4G,node=1"
    "|1-00:00:00|n1|fit\n"
)


def test_what_open_xdmod_asks_for_needs_no_columns(tmp_path: Path) -> None:
    path = written(tmp_path, f"a line of damage\n{XDMOD_ROWS}")
    named = Options(timezone="UTC", columns=tuple(XDMOD.split(",")))
    jobs, report = imported(path, format="sacct", options=UTC)
    assert jobs == imported(path, format="sacct", options=named)[0]
    assert set(jobs) == {"12_3", "12_4", "13"}
    assert jobs["12_3"].submission.name == "a|b"
    assert (report.rows, report.bad) == (3, 1)
    assert imported(written(tmp_path, XDMOD_ROWS), options=UTC)[0] == jobs


def test_other_columns_without_a_header_are_not_guessed(tmp_path: Path) -> None:
    swapped = XDMOD_ROWS.replace("2026-03-02T09:00:00|Unknown|Unknown", "COMPLETED|Unknown|Unknown")
    path = written(tmp_path, swapped.splitlines()[0])
    with pytest.raises(SourceError, match="--columns"):
        imported(path, options=UTC)


def test_columns_of_no_interest_are_named_by_a_dash(tmp_path: Path) -> None:
    path = written(tmp_path, "7|x|COMPLETED|y|2026-03-02T09:00:00\n")
    options = Options(cluster="c", columns=("JobID", "-", "State", "-", "Submit"))
    assert set(imported(path, options=options)[0]) == {"7"}


def test_a_row_without_its_cluster_is_a_bad_row(tmp_path: Path) -> None:
    rows = [f"{k}|COMPLETED|2026-01-02T03:04:05|{'' if k == 7 else 'c'}\n" for k in range(1, 15)]
    path = written(tmp_path, "JobID|State|Submit|Cluster\n" + "".join(rows))
    jobs, report = imported(path)
    assert (len(jobs), report.bad) == (13, 1)
    assert report.first_bad[0].reason == "column Cluster is empty; give --cluster NAME"
    assert len(imported(path, options=Options(cluster="c"))[0]) == 14


@pytest.mark.parametrize("restarts", [False, True])
def test_jobs_of_one_number_are_several_and_runs_of_a_requeued_job_are_not(
    tmp_path: Path, restarts: bool
) -> None:
    head = "JobID|State|Cluster|User|Submit|Start|End" + ("|Restarts" if restarts else "")
    runs = [
        ("7", "COMPLETED", "ann", 1, "0"), ("7", "TIMEOUT", "ann", 3, "0"),
        ("7", "FAILED", "bob", 5, "0"),
        ("8", "REQUEUED", "ann", 1, "0"), ("8", "NODE_FAIL", "ann", 3, "1"),
        ("8", "FAILED", "ann", 5, "2"),
        ("9_1", "RUNNING", "ann", 1, "0"), ("9_1", "COMPLETED", "bob", 3, "0"),
    ]  # fmt: skip
    rows = [
        f"{job}|{state}|c|{user}|2026-03-02T0{hour}:00:00|2026-03-02T0{hour}:01:00|"
        f"2026-03-02T0{hour}:02:00" + (f"|{count}" if restarts else "")
        for job, state, user, hour, count in runs
    ]
    whole = written(tmp_path, "\n".join([head, *rows, ""]))
    parts = [written(tmp_path, f"{head}\n{row}\n", name=f"{at}.psv") for at, row in enumerate(rows)]
    found, _ = imported(whole, options=UTC)
    assert {job: str(one.state) for job, one in found.items()} == {
        "7": "completed", "7@2": "timeout", "7@3": "failed", "8": "failed", "9_1": "pending",
        "9_1@2": "completed",
    }  # fmt: skip
    assert found["8"].usage.requeues == 2
    for again in ([*parts, *parts], [whole, whole], parts[::-1]):
        jobs, _ = imported(*again, options=UTC)
        assert {job: one.timeline[-1].time for job, one in jobs.items()} == {
            job: one.timeline[-1].time for job, one in found.items()
        }
        assert {job: one.submission for job, one in jobs.items()} == {
            job: one.submission for job, one in found.items()
        }
