"""squeue's text in our format."""

from __future__ import annotations

import datetime as dt

from jobsight.history.slurm.documents import of_queue
from jobsight.history.slurm.squeue import FIELDS, Queued, format_option, read_queue

D = "\x1f00ff\x1f"


def line(**told: str) -> str:
    row = dict.fromkeys(FIELDS, "(null)") | {
        "id": "7",
        "raw_id": "7",
        "state": "RUNNING",
        "reason": "None",
        "submit": "1795242021",
        "start": "1795242022",
        "end": "N/A",
        "time_limit_s": "1-00:00:00",
        "cpus": "4",
        "nodes": "2-4",
        "memory": "4Gc",
        "priority": "17",
        "restarts": "2",
    }
    return D.join([*(row | told).values(), ""]) + "\n"


def read(text: str) -> tuple[list[Queued], list[str]]:
    refused: list[str] = []
    return list(read_queue(text, D, dt.UTC, lambda error: refused.append(str(error)))), refused


def test_the_format_names_each_field_once() -> None:
    names = [part.removeprefix(",").removesuffix(":0") for part in format_option(D).split(D)]
    assert names == [*FIELDS.values(), ""]
    assert len(set(FIELDS.values())) == len(FIELDS)


def test_a_line() -> None:
    (job,), refused = read(line())
    assert refused == []
    assert (job.id.name, job.state, job.reason) == ("7", "RUNNING", "")
    assert (job.submit, job.start, job.end) == (1795242021000000, 1795242022000000, None)
    assert (job.time_limit_s, job.cpus, job.nodes, job.priority) == (86400, 4, 2, 17)
    assert job.restarts == 2
    assert job.memory == (4 << 30, "cpu")


def test_what_a_running_job_asked_for_is_known_where_it_is_not_what_it_was_given() -> None:
    (job,), _ = read(line(memory="5000M", nodes="2", tres="cpu=4,mem=10000M,gres/gpu:a100=2"))
    request = of_queue("c", job, job.id, (), 0).request
    assert (request.memory_mb, request.gpus, request.cpus) == (10_000, 2, None)
    (job,), _ = read(line(state="PENDING", start="N/A", tres="bad"))
    request = of_queue("c", job, job.id, (), 0).request
    assert (request.memory_mb, request.gpus, request.cpus) == (16 << 10, None, 4)


def test_names_and_comments_of_any_kind_stay_whole() -> None:
    evil = 'x\n8 COMPLETED "|\x1f $(id)'
    jobs, refused = read(
        line(name=evil) + line(id="9_[1-3%2]", comment=evil, time_limit_s="NOT_SET")
    )
    assert refused == []
    assert (jobs[0].name, jobs[1].comment) == (evil, evil)
    assert jobs[1].id.tasks is not None
    assert jobs[1].time_limit_s is None


def test_a_comment_of_an_administrator_is_kept_as_it_is() -> None:
    jobs, _ = read(line() + line(admin_comment="none ") + line(admin_comment=""))
    assert [job.admin_comment for job in jobs] == ["", "none ", ""]


def test_a_bad_line_is_refused_and_the_next_is_read() -> None:
    jobs, refused = read(line(id="?") + line(submit="soon") + line(id="8"))
    assert [job.id.name for job in jobs] == ["8"]
    assert len(refused) == 2


def test_cut_anywhere_only_whole_lines_count() -> None:
    text = line() + line(id="8")
    for end in range(len(text)):
        jobs, refused = read(text[:end])
        whole = text[:end].count(D) // len(FIELDS)
        assert len(jobs) == whole
        assert bool(refused) == bool(
            text[:end].rpartition(D)[2].strip("\n") or text[:end].count(D) % len(FIELDS)
        )


def test_an_empty_queue() -> None:
    assert read("") == ([], [])
