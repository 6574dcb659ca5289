"""A dozen jobs of the trial on a real pool, decided about by answers without a model."""

import json
from functools import partial
from pathlib import Path

from tests.trial.acting import acting_with
from tests.trial.bot import answers, answers_in_ads
from tests.trial.schedule import plan
from tests.trial.stage import run_arm

from jobsight.acting.decisions import DecisionLog


def test_an_arm_runs_and_accounts_for_every_job(bed_ready: None, tmp_path: Path) -> None:
    schedule = plan(1, "bugs", jobs=12, seconds=30.0)
    run_arm(schedule, partial(answers, model="none"), tmp_path)
    result = json.loads((tmp_path / "result.json").read_text())
    assert len(result["jobs"]) == 12
    assert sum(job["finished"] for job in result["jobs"]) > 0
    decisions = list(map(json.loads, (tmp_path / "decisions.jsonl").read_text().splitlines()))
    assert decisions
    assert {row["verb"] for row in decisions} <= {"release", "wait", "fix", "remove", "unsure"}
    assert (tmp_path / "EventLog").read_text().count("\n012 (") >= len(decisions)


def test_an_arm_acts_through_the_policy_alone(bed_ready: None, tmp_path: Path) -> None:
    """Owners do what is not for HTCondor to do; a bot releases nothing."""
    schedule = plan(1, "outages", jobs=12, seconds=40.0)
    run_arm(schedule, lambda _: answers_in_ads(), tmp_path, acting_with("none"))
    result = json.loads((tmp_path / "result.json").read_text())
    assert len(result["jobs"]) == 12
    asked = list(map(json.loads, (tmp_path / "decisions.jsonl").read_text().splitlines()))
    assert all(row["person"] and row["verb"] in ("fix", "unsure") for row in asked)
    rounds = [record for record in DecisionLog(tmp_path / "acting").latest()
              if record["what"] == "round"]  # fmt: skip
    assert rounds
    assert {record["mode"] for record in rounds} == {"enforce"}
