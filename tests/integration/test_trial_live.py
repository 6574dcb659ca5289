"""A dozen jobs of the trial on a real pool, decided about by answers without a model."""

import json
from functools import partial
from pathlib import Path

from tests.trial.bot import answers
from tests.trial.schedule import plan
from tests.trial.stage import run_arm


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
