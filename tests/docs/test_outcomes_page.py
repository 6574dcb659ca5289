"""Every log of docs/reference/outcomes.md is read, and its row of the table checked."""

import re
from pathlib import Path

import pytest

from jobsight.history.events import read_events
from jobsight.history.labels import label_rows
from jobsight.history.outcomes import KINDS, apply_horizon
from jobsight.history.timelines import History
from jobsight.questions.hold.examples.decisions import hold_decisions
from jobsight.questions.hold.settings import HoldSettings

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "outcomes.md").read_text(
    encoding="utf-8"
)
LOGS = dict(re.findall(r"^### ([^\n]+)\n```\n(.+?)^```$", PAGE, re.M | re.S))
ROWS = {
    row[0]: row[1:]
    for row in re.findall(
        r"^\| \[(.+?)\]\(.+?\) \| (\d) \| (\w*) ?\| (\w*) ?\| (\w*) ?\|$", PAGE, re.M
    )
}
HOUR = 3_600_000_000


def test_table_and_logs_name_the_same_cases() -> None:
    assert list(ROWS) == list(LOGS)
    assert len(ROWS) >= 16


def test_every_kind_of_censoring_a_log_can_show_is_shown() -> None:
    causes = {"log_ended", "unresolved", "held_by_user", "removed_by_user", "removed_by_dag"}
    assert {row[3] for row in ROWS.values()} == {"", *causes}
    # A 005 without its result line is damage; the unit tests show it.
    assert {row[1] for row in ROWS.values()} == {"", *KINDS} - {"exit_unknown"}


@pytest.mark.parametrize("case", ROWS)
def test_case(case: str, tmp_path: Path) -> None:
    log = tmp_path / "job.log"
    log.write_text(LOGS[case], encoding="utf-8")
    history = History.from_table(read_events([str(log)], timezone="UTC").table)
    table = apply_horizon(hold_decisions(history, HoldSettings(), label_rows(history)).table, HOUR)
    count, kind, outcome, censored = ROWS[case]
    assert len(table) == int(count)
    for row in table.iter_rows(named=True):
        word = {True: "success", False: "failure", None: ""}[row["outcome"]]
        assert (row["kind"], word, row["censored"] or "") == (kind, outcome, censored)
