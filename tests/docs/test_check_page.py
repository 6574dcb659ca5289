"""docs/check.md lists the rules as they are."""

from pathlib import Path

from jobsight.program.preflight.check import Checker
from jobsight.program.preflight.findings import RULES
from jobsight.questions.fail import checks

PAGE = Path(__file__).resolve().parents[2] / "docs/check.md"


def test_the_page_lists_every_code() -> None:
    assert Checker is not None and checks is not None  # importing them registers the rules
    rows = [f"| `{one.code}` | {one.severity} | {one.title} |" for _, one in sorted(RULES.items())]
    shown = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if "| `JS" in line]
    assert shown == rows
