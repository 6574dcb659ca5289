"""``python -m corpus.check.score [--json] [--misses FILE]``: `jobsight check` on the corpus.

Prints recall of the planted errors (a finding of any severity on the right line, and on a
neighbouring one), false alarms (sound jobs with an error) and sound jobs with a warning, in per
cent with 95 % bootstrap intervals over jobs, for both parts of the corpus, next to baselines. The
misses and false alarms of the part dev are written to FILE; those of held stay unread.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from corpus.check.baselines import Finding, compilers, shellcheck, submission_linter
from corpus.check.manifest import SITE, Job, jobs

__all__ = ["checked", "interval", "main", "measures"]

_RESAMPLES = 1000
_BATCH = 50
Findings = Mapping[str, Sequence[Finding]]


def checked(chosen: Sequence[Job]) -> dict[str, list[Finding]]:
    """What `jobsight check` reports, by path of the job; each is checked in its own folder."""
    folders = defaultdict(list)
    for job in chosen:
        folders[job.folder].append(job)
    calls = [
        (folder, some[at : at + _BATCH])
        for folder, some in folders.items()
        for at in range(0, len(some), _BATCH)
    ]
    with ThreadPoolExecutor(2) as pool:
        parts = pool.map(lambda call: _checked(*call), calls)
    return {path: found for part in parts for path, found in part.items()}


def _checked(folder: Path, some: Sequence[Job]) -> dict[str, list[Finding]]:
    command = [sys.executable, "-m", "jobsight", "check", "--json", "--site", str(SITE)]
    done = subprocess.run(
        [*command, *(job.file.name for job in some)],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if not done.stdout.strip():
        raise SystemExit(f"jobsight check in {folder} failed: {done.stderr.strip()[-500:]}")
    said = json.loads(done.stdout)
    replies = said if isinstance(said, list) else [said]
    return {
        job.path: [
            Finding(one["file"], one["line"] or 1, one["severity"]) for one in reply["findings"]
        ]
        for job, reply in zip(some, replies, strict=True)
    }


def measures(
    chosen: Sequence[Job], found: Findings, family: str | None = None
) -> dict[str, tuple[list[int], list[int]]]:
    """Per measure, hits and cases of each job (for the bootstrap); recall of one family or all."""
    result: dict[str, tuple[list[int], list[int]]] = {}
    for name, off in (("recall", 0), ("recall ±1", 1)):
        hits, cases = [], []
        for job in chosen:
            errors = [one for one in job.errors if family in (None, one.family)]
            if errors:
                said = found[job.path]
                hits.append(sum(any(e.on(f.file, f.line, off) for f in said) for e in errors))
                cases.append(len(errors))
        result[name] = hits, cases
    if family is None:
        sound = [[one.severity for one in found[job.path]] for job in chosen if job.sound]
        for name, severity in (("false alarms", "error"), ("sound with warning", "warning")):
            result[name] = [int(severity in one) for one in sound], [1] * len(sound)
    return result


def interval(hits: Sequence[int], cases: Sequence[int]) -> tuple[float, float, float]:
    """Per cent, and its 95 % bootstrap interval; jobs are resampled with a fixed seed."""
    if not cases:
        return (float("nan"),) * 3
    generator = random.Random(1)
    shares = []
    for _ in range(_RESAMPLES):
        drawn = generator.choices(range(len(cases)), k=len(cases))
        shares.append(100 * sum(hits[i] for i in drawn) / sum(cases[i] for i in drawn))
    shares.sort()
    low, high = shares[_RESAMPLES * 25 // 1000], shares[_RESAMPLES * 975 // 1000 - 1]
    return 100 * sum(hits) / sum(cases), low, high


def _table(chosen: Sequence[Job], tools: Mapping[str, Findings]) -> list[dict[str, object]]:
    families = sorted({error.family for job in chosen for error in job.errors})
    rows: list[dict[str, object]] = []
    for part in ("dev", "held"):
        some = [job for job in chosen if job.part == part]
        for tool, found in tools.items():
            for family in (None, *families):
                for name, (hits, cases) in measures(some, found, family).items():
                    rate, low, high = interval(hits, cases)
                    rows.append(
                        {"part": part, "tool": tool, "family": family or "all", "measure": name,
                         "cases": sum(cases), "percent": rate, "low": low, "high": high}
                    )  # fmt: skip
    return rows


def _printed(rows: Iterable[Mapping[str, object]]) -> str:
    lines = ["| part | tool | family | measure | cases | % | 95 % |", "|---" * 7 + "|"]
    for row in rows:
        bounds = f"{row['low']:.0f}–{row['high']:.0f}"
        cells = [*(str(row[name]) for name in ("part", "tool", "family", "measure", "cases"))]
        percent = f"{row['percent']:.1f}"
        lines.append(f"| {' | '.join([*cells, percent, bounds])} |")
    return "\n".join(lines)


def _misses(chosen: Sequence[Job], found: Findings) -> str:
    """Misses and false alarms of the part dev, one a line."""
    lines = []
    for job in chosen:
        if job.part != "dev":
            continue
        said = found[job.path]
        for error in job.errors:
            if not any(error.on(one.file, one.line) for one in said):
                place = f"{job.path}: {error.file}:{error.line}"
                lines.append(f"MISS {place} [{error.family}] {error.what}; said {said}")
        if job.sound:
            lines += [f"{o.severity.upper()} on sound {job.path}: {o.file}:{o.line}" for o in said]
    return "\n".join([*lines, ""])


def main(arguments: Sequence[str] | None = None) -> int:
    """Score and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--misses", type=Path)
    chosen_options = parser.parse_args(arguments)
    chosen = jobs()
    baselines: dict[str, Callable[[Job], list[Finding]]] = {
        "bash -n, py_compile": compilers,
        "and ShellCheck": shellcheck,
        "submission linter": submission_linter,
    }
    tools: dict[str, Findings] = {"jobsight check": checked(chosen)}
    for name, tool in baselines.items():
        tools[name] = {job.path: tool(job) for job in chosen}
    if chosen_options.misses:
        chosen_options.misses.write_text(_misses(chosen, tools["jobsight check"]))
    rows = _table(chosen, tools)
    print(json.dumps(rows) if chosen_options.json else _printed(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
