"""``python -m corpus.check.score [--json] [--misses FILE]``: `jobsight check` on the corpus.

Prints, next to baselines and for both parts of the corpus: recall of the planted errors (a finding
of any severity on the right line, and on a neighbouring one), false alarms (sound jobs with an
error), and sound jobs with a warning; in per cent, with 95 % bootstrap intervals over jobs. FILE
gets the misses and false alarms of the part dev; those of held stay unread.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from corpus.check.baselines import Finding, compilers, shellcheck, submission_linter
from corpus.check.manifest import SITE, Job, jobs

__all__ = ["checked", "found_by_check", "interval", "main", "measures"]

_RESAMPLES = 1000
_BASELINES = {
    "bash -n, py_compile": compilers,
    "and ShellCheck": shellcheck,
    "submission linter": submission_linter,
}
_HEAD = ["part", "tool", "family", "measure", "cases", "percent", "low", "high"]
Findings = Mapping[str, Sequence[Finding]]


def checked(folder: Path, names: Sequence[str], *options: str) -> dict[str, list[dict[str, Any]]]:
    """What `jobsight check` finds in files of a folder, by name."""
    command = [sys.executable, "-m", "jobsight", "check", "--json", *options, *names]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if not done.stdout.strip():
        raise SystemExit(f"jobsight check in {folder} failed: {done.stderr.strip()[-500:]}")
    said = json.loads(done.stdout)
    replies = said if isinstance(said, list) else [said]
    return {name: one["findings"] for name, one in zip(names, replies, strict=True)}


def _said(folder: Path, names: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """What is found, by name; a crash is an error at no place, so a miss or a false alarm."""
    try:
        return checked(folder, names, "--site", str(SITE))
    except SystemExit as crash:
        if len(names) > 1:
            return {name: _said(folder, [name])[name] for name in names}
        print(crash, file=sys.stderr)
        return {names[0]: [{"file": "", "line": None, "severity": "error"}]}


def found_by_check(chosen: Sequence[Job]) -> Findings:
    """Findings by path of the job; each job is checked in the folder in which it is submitted."""
    folders = defaultdict(list)
    for job in chosen:
        folders[job.folder].append(job)
    found: dict[str, list[Finding]] = {}
    for folder, some in folders.items():
        said = _said(folder, [job.file.name for job in some])
        for job in some:
            ours = said[job.file.name]
            found[job.path] = [(one["file"], one["line"] or 1, one["severity"]) for one in ours]
    return found


def measures(
    chosen: Sequence[Job], found: Findings, family: str | None = None
) -> Iterator[tuple[str, list[tuple[int, int]]]]:
    """Per measure, hits and cases of each job; recall of one family, or all measures."""
    for name, off in (("recall", 0), ("recall ±1", 1)):
        pairs = []
        for job in chosen:
            errors = [one for one in job.errors if family in (None, one.family)]
            said = found[job.path]
            hits = sum(any(error.on(file, line, off) for file, line, _ in said) for error in errors)
            pairs.append((hits, len(errors)))
        yield name, [pair for pair in pairs if pair[1]]
    if family is None:
        for name, severity in (("false alarms", "error"), ("sound with warning", "warning")):
            sound = [[one[2] for one in found[job.path]] for job in chosen if job.sound]
            yield name, [(int(severity in one), 1) for one in sound]


def interval(pairs: Sequence[tuple[int, int]]) -> tuple[float, float, float]:
    """Per cent, and its 95 % bootstrap interval; jobs are resampled with a fixed seed."""

    def share(some: Sequence[tuple[int, int]]) -> float:
        return 100 * sum(hits for hits, _ in some) / max(1, sum(cases for _, cases in some))

    generator = random.Random(1)
    drawn = sorted(share(generator.choices(pairs, k=len(pairs))) for _ in range(_RESAMPLES))
    return share(pairs), drawn[_RESAMPLES // 40], drawn[-_RESAMPLES // 40 - 1]


def _rows(chosen: Sequence[Job], tools: Mapping[str, Findings]) -> Iterator[list[Any]]:
    families = sorted({error.family for job in chosen for error in job.errors})
    for part in ("dev", "held"):
        some = [job for job in chosen if job.part == part]
        for tool, found in tools.items():
            for family in (None, *families):
                for name, pairs in measures(some, found, family):
                    cases = sum(one for _, one in pairs)
                    yield [part, tool, family or "all", name, cases, *interval(pairs)]


def _misses(chosen: Sequence[Job], found: Findings) -> Iterator[str]:
    """Misses and false alarms of the part dev."""
    for job in chosen:
        said = [one for one in found[job.path] if job.part == "dev"]
        for error in job.errors if job.part == "dev" else ():
            if not any(error.on(file, line) for file, line, _ in said):
                place = f"{job.path}: {error.file}:{error.line}"
                yield f"MISS {place} [{error.family}] {error.what}; said {said}\n"
        if job.sound:
            yield from (f"ON SOUND {job.path}: {one}\n" for one in said)


def main(arguments: Sequence[str] | None = None) -> int:
    """Score and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--misses", type=Path)
    options = parser.parse_args(arguments)
    chosen = jobs()
    ours = found_by_check(chosen)
    if options.misses:
        options.misses.write_text("".join(_misses(chosen, ours)))
    others = {name: {job.path: tool(job) for job in chosen} for name, tool in _BASELINES.items()}
    rows = list(_rows(chosen, {"jobsight check": ours, **others}))
    if options.json:
        print(json.dumps([dict(zip(_HEAD, row, strict=True)) for row in rows]))
    else:
        print(f"| {' | '.join(_HEAD)} |\n{'|---' * len(_HEAD)}|")
        for row in rows:
            cells = [f"{one:.1f}" if isinstance(one, float) else str(one) for one in row]
            print(f"| {' | '.join(cells)} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
