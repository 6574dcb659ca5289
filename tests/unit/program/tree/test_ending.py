"""A job or no job: small programs of both kinds."""

from __future__ import annotations

import pytest
from tests.unit.program.tree.endings import JOBS, NOT_JOBS

from jobsight.program.tree import read_text


@pytest.mark.parametrize("name", JOBS)
def test_a_job_ends_by_itself(name: str) -> None:
    assert read_text(JOBS[name], name).endless == ()


@pytest.mark.parametrize("name", NOT_JOBS)
def test_what_does_not_end_is_named_with_its_line(name: str) -> None:
    line, text = NOT_JOBS[name]
    parts = read_text(text, name).endless
    assert parts
    assert (parts[0].file, parts[0].line) == (name, line)
    assert parts[0].reason
