"""What is found in the texts of batch scripts, as features of `fail`."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from tests.support.storedjobs import job, told

from jobsight.documents import JobDocument, State, Submission
from jobsight.history.jobsasked import KeysUsed
from jobsight.history.jobtable import JobTable
from jobsight.program.preflight.check import Checker
from jobsight.program.preflight.reports import Report
from jobsight.questions.fail.question import FAIL, FINDINGS, FailSettings, findings_of, outcomes_of

HEAD = "#!/bin/bash\n#SBATCH --mem=1G --time=10\n"
BROKEN = f"{HEAD}for x in 1 2; do\n  sort $x\n"
LATE = f"{HEAD}echo\n#SBATCH --mem=4G\n"


def document(number: int, script: str | None) -> JobDocument:
    asked = Submission(user="ann", submitted=told(number).time, script=script)
    return job(f"slurm:c:{number}", told(number, State.PENDING), submission=asked)


def test_each_text_is_checked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[str] = []
    sent = Checker.sent

    def counted(self: Checker, name: str, text: str) -> Report:
        checked.append(text)
        return sent(self, name, text)

    monkeypatch.setattr(Checker, "sent", counted)
    texts = [BROKEN, None, "#!/bin/bash\n\0", LATE, BROKEN, HEAD + "true\n"]
    for _ in range(2):
        found = findings_of(pl.Series(texts, dtype=pl.Categorical))
    shown = [dict(zip(FINDINGS, map(float, row), strict=True)) for row in found]
    assert shown[0] == shown[4] == dict.fromkeys(FINDINGS, 0.0) | {
        "findings: errors": 1, "findings: syntax": 1,
    }  # fmt: skip
    assert np.isnan(found[[1, 2]]).all() and not found[5].any()
    assert (shown[3]["findings: errors"], shown[3]["findings: requests"]) == (1, 1)
    assert len(checked) == 4


def test_they_are_features_where_scripts_are_known() -> None:
    jobs = JobTable.read(document(k, text) for k, text in enumerate([BROKEN, "x" * 70_000, None]))
    rows = outcomes_of(jobs, FailSettings())
    encoding = KeysUsed.of(rows)
    assert KeysUsed.from_json(encoding.to_json()) == encoding
    _, inputs = FAIL.builder(jobs, encoding, FailSettings()).build(rows, "submission")
    assert inputs.names[-len(FINDINGS) :] == FINDINGS
    assert inputs.features[0, -len(FINDINGS)] == 1
    assert np.isnan(inputs.features[1:, -len(FINDINGS) :]).all()
    without = JobTable.read([document(1, None)])
    encoding = KeysUsed.of(outcomes_of(without, FailSettings()))
    assert not set(FINDINGS) & set(FAIL.builder(without, encoding, FailSettings()).names)
