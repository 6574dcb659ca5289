from tests.support.storedjobs import START, job, told

from jobsight.documents import JobDocument, Request, State, Submission
from jobsight.history.jobtable import JobTable
from jobsight.questions.start.overview import overview
from jobsight.questions.start.question import StartSettings

HOUR = 3600


def asked(number: int, user: str | None, *, started: float | None, reason: str = "") -> JobDocument:
    """A job submitted at second 0 that started so many seconds later, or waits since."""
    last = told(HOUR, State.PENDING, reason=reason) if started is None else (
        told(started, State.RUNNING))  # fmt: skip
    return job(
        f"slurm:c:{number}", told(0, State.PENDING), last,
        request=Request(partition="long", account="lab"),
        submission=Submission(user=user, submitted=START),
    )  # fmt: skip


def test_who_waits_most_and_why() -> None:
    jobs = JobTable.read([
        asked(1, "ann", started=10), asked(2, "ann", started=30),
        asked(3, "bob", started=None, reason="PartitionTimeLimit"),
        asked(4, "bob", started=None, reason="Weird\x1b[31m"),
        asked(5, "bob", started=None, reason="PartitionTimeLimit"),
    ])  # fmt: skip
    found = overview(jobs, StartSettings())
    assert found.points[0].startswith("2 of 5 jobs started; half of these waited up to ")
    assert found.points[1] == "All together waited 3.01 hours, user bob most."
    assert found.points[2].startswith("3 wait still at 20")
    assert found.points[3].startswith("Of these, 2 since 20")
    assert "longer than its partition allows (PartitionTimeLimit)" in found.points[3]
    blocked, other = found.tables["Why jobs wait still"]
    assert (blocked["jobs"], blocked["hours waited"]) == (2, 2.0)
    assert other["why"] == "it waits for what Slurm calls Weird [31m"
    bob, ann = found.tables["Which users wait most"]
    assert (bob["user"], bob["wait still"], bob["half within"]) == ("bob", 3, None)
    assert (ann["user"], ann["half within"], ann["nine of ten within"]) == ("ann", "20 s", "30 s")


def test_without_users_accounts_are_named_and_without_waits_nothing_is_said() -> None:
    found = overview(JobTable.read([asked(1, None, started=0)]), StartSettings())
    assert [row["account"] for row in found.tables["Which accounts wait most"]] == ["lab"]
    assert len(found.points) == 2
