from typing import Any

import pytest
from tests.support.storedjobs import HOSTILE, job, told

from jobsight.documents import JobDocument, Request, State, Submission, Usage
from jobsight.history.jobtable import JobTable
from jobsight.reports.site import site_numbers
from jobsight.reports.sitepage import site_html

HOUR = 3600.0


def numbers(*documents: JobDocument, pieces: int = 1) -> dict[str, Any]:
    size = -(-len(documents) // pieces)
    parts = [documents[at : at + size] for at in range(0, len(documents), size)]
    return site_numbers(map(JobTable.read, parts), lambda code, reason: f"fix {code}: {reason}")


def ran(
    number: int, state: State | None = State.COMPLETED, hours: float = 2.0, *, user: str = "ann",
    wait: float = HOUR, cores: int = 4, usage: Usage | None = None, **end: Any,
) -> JobDocument:  # fmt: skip
    """A job that waited, ran on so many cores and ended; None: it still runs."""
    at = wait + hours * HOUR
    events = [told(0, State.PENDING), told(wait, State.RUNNING, host="n1")]
    events += [told(at, state, **end)] if state else []
    return job(
        f"slurm:grid:{number}", *events, submission=Submission(user=user, name="fit"),
        request=Request(cpus=cores, memory_mb=4096, nodes=1, time_limit_s=36_000,
                        partition="main", account="geo"),
        usage=usage or Usage(cpus=cores, cpu_s=hours * HOUR, memory_mb=1024),
    )  # fmt: skip


def test_core_hours_by_what_became_of_them_add_up() -> None:
    made = [
        ran(1), ran(2, State.FAILED, 1.0, user="bob", return_value=1), ran(3, State.TIMEOUT, 3.0),
        ran(4, State.CANCELLED, 0.5), ran(5, State.PREEMPTED, 0.25), ran(6, None, 0.0),
        ran(7, State.COMPLETED, 8.0, cores=1),
    ]  # fmt: skip
    found = numbers(*made)
    total = found["total"]
    went = {name: total[name] for name in
            ("completed", "failed", "held", "cancelled", "interrupted", "unfinished")}  # fmt: skip
    # The sixth has run from its start to the end of the history, that of the seventh.
    assert went == {"completed": 16.0, "failed": 16.0, "held": 0.0, "cancelled": 2.0,
                    "interrupted": 1.0, "unfinished": 32.0}  # fmt: skip
    assert total["core_hours"] == sum(went.values())
    assert (total["jobs"], total["failed_jobs"], total["failing"]) == (7, 2, 0.5)
    # Of completed jobs: 10 of 16 core-hours, 1 of 4 GB, 10 of 20 hours of time limit.
    assert (total["cpu_share"], total["idle"]) == (pytest.approx(10 / 16), pytest.approx(6.0))
    assert (total["memory_share"], total["time_share"]) == (0.25, 0.5)
    users = [(row["name"], row["core_hours"]) for row in found["by"]["user"]]
    assert users == [("ann", 63.0), ("bob", 4.0)]
    assert [row["name"] for row in found["by"]["partition"]] == ["main"]
    assert [row["name"] for row in found["by"]["week"]] == ["2026-11-16"]
    assert numbers(*made, pieces=3) == found


def test_causes_have_cost_users_and_a_fix() -> None:
    found = numbers(
        ran(1), ran(2, State.OUT_OF_MEMORY, 4.0, user="bob", signal=9),
        ran(3, State.OUT_OF_MEMORY, 1.0, user="ann", signal=9),
        ran(4, State.FAILED, 0.5, return_value=127),
    )  # fmt: skip
    memory, command = found["causes"]
    assert (memory["kind"], memory["jobs"], memory["users"]) == ("memory", 2, 2)
    assert memory["core_hours"] == 20.0
    assert "--mem" in memory["fix"]
    assert [user["name"] for user in memory["top_users"]] == ["bob", "ann"]
    assert (memory["first"], memory["recent"]) == ("2026-11-21 03:35:00Z", 2)
    assert "127" in command["text"]
    assert command["kind"] == "software"


def test_holds_and_runs_that_they_ended() -> None:
    records: list[tuple[float, int, State, dict[str, Any]]] = [
        (0, 0, State.PENDING, {}), (1, 1, State.RUNNING, {"slot": "slot1_2@m1"}),
        (3, 12, State.HELD, {"hold_code": 13, "reason": "Transfer of /data/7 failed"}),
        (13, 13, State.PENDING, {}), (14, 1, State.RUNNING, {"slot": "slot1_3@m2"}),
        (15, 4, State.PENDING, {}), (16, 1, State.RUNNING, {"slot": "slot1_3@m2"}),
        (20, 5, State.COMPLETED, {"return_value": 0}),
    ]  # fmt: skip
    held = [
        job(f"htcondor:ap:{number}.0",
            *(told(at * HOUR, state, source="eventlog#1", code=code, position=place, **columns)
              for place, (at, code, state, columns) in enumerate(records)))
        for number in (1, 2)
    ]  # fmt: skip
    found = numbers(*held)
    total = found["total"]
    assert [total[one] for one in ("held", "interrupted", "completed")] == [4.0, 2.0, 8.0]
    assert (total["failed_jobs"], found["cores_assumed"]) == (2, 2)
    (cause,) = found["causes"]
    assert cause["kind"] == "hold"
    assert cause["text"].startswith("held (TransferInputError): Transfer of ")
    assert cause["fix"].startswith("fix 13: Transfer of ")
    assert (cause["jobs"], cause["held_h"], cause["core_hours"]) == (2, 20.0, 4.0)
    assert found["by"]["account"] == []


def test_a_job_without_dated_start_has_the_time_that_its_scheduler_counts() -> None:
    usage = Usage(wall_s=2 * HOUR)
    events = told(0, State.PENDING), told(9, State.FAILED, undated=True)
    found = numbers(job("slurm:grid:1", *events, usage=usage, request=Request(cpus=8)), ran(2))
    assert (found["total"]["failed"], found["total"]["completed"]) == (16.0, 8.0)
    assert [cause["core_hours"] for cause in found["causes"]] == [16.0]


def test_a_wrong_date_in_the_last_piece_prolongs_no_run() -> None:
    wrong = job("slurm:grid:9", told(0, State.PENDING), told(50 * 8766 * HOUR, State.CANCELLED))
    found = numbers(ran(1), ran(2, None), wrong, pieces=3)
    assert found["last"] == "2026-11-21 04:35:00Z"
    assert found["total"]["unfinished"] == 8.0


def test_waits_by_what_was_asked() -> None:
    made = [ran(number, wait=60.0 * number, cores=1 if number < 5 else 16) for number in range(10)]
    waiting = job("slurm:grid:77", told(0, State.PENDING), request=Request(partition="main"))
    found = {(row["by"], row["of"]): row for row in numbers(*made, waiting)["waits"]}
    assert list(found) == [("all", "all"), ("cores", "≤ 32"), ("cores", "1 core"),
                           ("limit", "≤ 1 d")]  # fmt: skip
    whole = found["all", "all"]
    assert (whole["jobs"], whole["waiting"], whole["median_s"]) == (10, 1, 270.0)
    assert (found["cores", "1 core"]["median_s"], found["cores", "≤ 32"]["median_s"]) == (120, 420)


def test_a_node_on_which_runs_fail_is_named_at_any_users() -> None:
    made = []
    for number in range(600):
        node = number % 6
        bad = node == 0 and number % 4 == 0
        user = f"u{number % 35}"
        one = ran(number, State.NODE_FAIL if bad else State.COMPLETED, user=user, return_value=0)
        host = f"n{node}"
        events = [told(e.time / 1e6 - one.timeline[0].time / 1e6 + number * HOUR, e.state,
                       host=host if e.state is State.RUNNING else None,
                       return_value=e.return_value) for e in one.timeline]  # fmt: skip
        made.append(job(one.id, *events, submission=one.submission, request=one.request))
    nodes = numbers(*made)["outliers"]["nodes_failing"]
    assert nodes["compared"] == 6
    assert [row["name"] for row in nodes["named"]] == ["n0"]


def test_the_page_stands_alone_and_escapes_what_it_shows() -> None:
    evil = f"<script>alert(1)</script>{HOSTILE}"
    found = numbers(
        ran(1, user=evil), ran(2, State.FAILED, user=evil, return_value=1), ran(3), ran(4)
    )
    page = site_html(found, [evil], about="<b>ours</b>")
    assert "<script>alert" not in page
    assert "&lt;b&gt;ours" in page
    assert "25 % of the core-hours went into failures" in page
    assert "src=" not in page
    assert page == site_html(found, [evil], about="<b>ours</b>")
    for part in ("What costs most", "Where core-hours went", "How long jobs waited", "exit code 1"):
        assert part in page
    # Users appear only where the data have them.
    nameless = numbers(job("slurm:grid:1", told(0, State.PENDING), told(1, State.RUNNING),
                           told(HOUR, State.FAILED, return_value=1), user=None))  # fmt: skip
    assert "By user" not in site_html(nameless, ["x"])
    assert nameless["by"]["user"] == []
