"""Findings as SARIF 2.1.0 (OASIS, Static Analysis Results Interchange Format)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jobsight import __version__
from jobsight.program.preflight.check import Report
from jobsight.program.preflight.findings import RULES, Finding

__all__ = ["sarif"]


def sarif(reports: Sequence[Report]) -> dict[str, Any]:
    """One run with all findings."""
    found = [one for report in reports for one in report.findings]
    rules = [
        {
            "id": one.code,
            "shortDescription": {"text": one.title},
            "defaultConfiguration": {"level": one.severity},
        }
        for one in RULES.values()
    ]
    driver = {"name": "jobsight", "version": __version__, "rules": rules}
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": [_result(one) for one in found]}],
    }


def _result(one: Finding) -> dict[str, Any]:
    text = f"{one.message}. Instead: {one.fix}" if one.fix else one.message
    region = {"startLine": one.line, "startColumn": one.column}
    place = {"artifactLocation": {"uri": one.file}, "region": region}
    return {
        "ruleId": one.code,
        "level": one.severity,
        "message": {"text": text},
        "locations": [{"physicalLocation": place}],
    }
