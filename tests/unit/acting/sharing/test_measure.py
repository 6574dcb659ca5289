"""Pairs of programs on this machine."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.calling import jobsight

from jobsight.acting.sharing.measure import Program, measure
from jobsight.acting.sharing.probe import KINDS, work
from jobsight.errors import SourceError, UsageError

SLEEP = Program("sleep", ("sleep", "1.2"))


@pytest.mark.slow
def test_two_programs_that_sleep_do_not_slow_each_other(tmp_path: Path) -> None:
    other = Program("idle", ("sh", "-c", "sleep 1.1; touch here"))
    parts: list[float] = []
    found = measure(
        [SLEEP, other],
        tmp_path,
        runs=1,
        shared=True,
        progress=lambda _what, part: parts.append(part),
    )
    pairs = {(one.program, one.neighbour): one for one in found.pairs}
    assert set(pairs) == {
        ("sleep", "sleep"),
        ("sleep", "idle"),
        ("idle", "sleep"),
        ("idle", "idle"),
    }
    assert all(0.5 < one.slowdown < 2 and one.runs >= 1 for one in found.pairs)
    assert found.shares["sleep"]["diskbw"] < 0.3
    assert "membw" in found.unmeasured and found.disk_mb_s is None
    assert parts == sorted(parts) and parts[0] == 0.0 and parts[-1] < 1.0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("command", "why"), [
    (("sh", "-c", "sleep 2; exit 3"), "ended with exit code 3"),
    (("true",), "ends within 1 s"),
    (("no-such-program",), "cannot run no-such-program|ended with exit code 127"),
])  # fmt: skip
def test_programs_that_cannot_be_measured(
    tmp_path: Path, command: tuple[str, ...], why: str
) -> None:
    with pytest.raises(SourceError, match=why):
        measure([Program("it", command)], tmp_path, runs=1, shared=True)
    assert list(tmp_path.iterdir()) == []


def test_each_program_has_one_name(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="once"):
        measure([SLEEP, SLEEP], tmp_path)


@pytest.mark.parametrize("kind", KINDS)
def test_probes_do_a_little_work(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    work(kind, 1)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["a", "=b", "a=", "a='b", "a= "])
def test_a_program_that_cannot_be_read_is_refused(text: str, tmp_path: Path) -> None:
    done = jobsight("share", "measure", "--folder", tmp_path, "--program", text)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and "Traceback" not in done.stderr
