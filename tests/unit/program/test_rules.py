"""Every rule finds fault with its first example, and not with its second."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.program.checking import SITE, written

from jobsight.program.preflight.check import Checker
from jobsight.program.preflight.findings import RULES, Rule
from jobsight.program.site import Site

NAMES = {"script": "job.sh", "condor": "job.sub", "dag": "job.dag"}


def codes(rule: Rule, example: str, folder: Path) -> set[str]:
    written(folder, NAMES[rule.kind], example)
    report = Checker(Site.saved(written(folder.parent / "site", "", SITE))).check(NAMES[rule.kind])
    return {one.code for one in report.findings}


@pytest.mark.parametrize("code", sorted(one.code for one in RULES.values() if one.kind in NAMES))
def test_examples(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rule = RULES[code]
    for name, example, wanted in (("fails", rule.fails, True), ("passes", rule.passes, False)):
        folder = tmp_path / name
        folder.mkdir()
        monkeypatch.chdir(folder)
        assert (code in codes(rule, example, folder)) == wanted, name
