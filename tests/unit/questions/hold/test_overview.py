from typing import Any

from tests.support.hold_models import MEMORY, TIMED_OUT, held, history, released

from jobsight.questions.hold.overview import overview
from jobsight.questions.hold.settings import HoldSettings

BY_HAND = (1, 0, "via condor_hold (by user ann)")


def test_causes_and_owners_are_ranked_by_the_runs_that_they_wasted() -> None:
    of = history(
        *(released(100 * k, k, good=False, cause=MEMORY, owner="bob") for k in (1, 2)),
        released(300, 3, good=True, cause=TIMED_OUT),
        *(held(400 + k, 10 + k, cause=TIMED_OUT) for k in range(4)),
        held(500, 20, cause=BY_HAND, owner="eve"),
    )
    found = overview(of, HoldSettings())
    memory, timeout = found.tables["What holds jobs most"]
    assert memory["cause"].startswith(f"{MEMORY[0]}/{MEMORY[1]} ")
    assert [row["runs wasted"] for row in (memory, timeout)] == [2, 0]
    assert (timeout["jobs"], timeout["holds"]) == (5, 5)
    assert [row["owner"] for row in found.tables["Whose jobs are held most"]] == ["bob", "ann"]
    assert "Of 3 releases 2 failed again: wasted runs." in found.points
    assert found.points[-1].startswith("The owner that wasted most is bob: 2 runs after ")


def test_a_log_without_holds_has_no_tables() -> None:
    found = overview(history(held(10, 1, cause=BY_HAND)), HoldSettings())
    assert found.points[0] == "0 of 1 job (0 %) were held, 0 times in all."
    assert not any(found.tables.values())


def test_a_vacate_counts_as_a_hold_once_the_job_ran_again() -> None:
    job: dict[str, Any] = {"cluster": 1, "proc": 0, "owner": "ann"}
    fault = {"vacate_code": 13, "vacate_subcode": -1004, "reason": "Transfer input files failure"}
    start = {"code": 40, "detail": 2}
    rows: list[dict[str, Any]]
    rows = [{"code": 0}, {"code": 4} | fault, start, {"code": 4} | fault, start]
    found = overview(
        history([job | row | {"at": at} for at, row in enumerate(rows)]), HoldSettings()
    )
    assert found.points[0] == "1 of 1 job (100 %) were held, 2 times in all."
    assert found.points[1] == "Of 2 releases 1 failed again: wasted runs."
