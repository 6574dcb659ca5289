"""``python -m corpus.check.real FOLDER``: `jobsight check` on the batch scripts of a real cluster.

FOLDER has ``slurm-a.scripts.jsonl.gz``, ``slurm-a.sacct.psv.gz`` and ``slurm-a.truth.jsonl.gz``.
Each distinct script is checked in a copy of what its user had: home folders, and the shared folders
that scripts name. Prints, per planted cause, what happened and what the check reports.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from corpus.check.score import checked

__all__ = ["main"]

_SHARED = ("lab/lic.json", "quota/", "scratch-ro/")
_HEAD = "| cause | scripts | failed | completed | not run | error | warning only | codes |"
# The cluster's Python has no packages beside the system's.
_PATH = "/usr/bin:/bin"


def _records(folder: Path, name: str) -> list[dict[str, Any]]:
    with gzip.open(folder / f"slurm-a.{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _findings(scripts: dict[str, str]) -> dict[str, list[dict[str, Any]]]:
    """By job; paths below / are moved below a temporary folder."""
    found: dict[str, list[dict[str, Any]]] = {}
    with tempfile.TemporaryDirectory() as place:
        for name in _SHARED:
            path = Path(place, name)
            path.parent.mkdir(exist_ok=True)
            path.mkdir() if name.endswith("/") else path.write_text("{}")
        homes = defaultdict(list)
        for job, text in scripts.items():
            home = re.search(r"^cd /(home/\w+)", text, re.M)
            folder = Path(place, home[1] if home else "home")
            (folder / "w").mkdir(parents=True, exist_ok=True)
            moved = re.sub(r"/(?=(?:home|lab|quota|scratch-ro)/)", f"{place}/", text)
            (folder / f"{job}.sh").write_text(moved)
            homes[folder].append(job)
        for folder, jobs in homes.items():
            said = checked(folder, [f"{job}.sh" for job in jobs])
            found |= {job: said[f"{job}.sh"] for job in jobs}
    return found


def main(folder: Path) -> None:
    """Print the table."""
    os.environ["PATH"] = _PATH
    causes = {one["job"]: one["cause"] for one in _records(folder, "truth")}
    texts = {one["script"]: one["job"] for one in _records(folder, "scripts")}
    found = _findings({job: text for text, job in texts.items() if job in causes})
    with gzip.open(folder / "slurm-a.sacct.psv.gz", "rt", encoding="utf-8") as lines:
        states = {row[0]: row[6].split()[0] for row in (line.split("|") for line in lines)}
    groups = defaultdict(list)
    for job in found:
        groups[causes[job]].append(job)
    print(f"{_HEAD}\n{'|---' * (_HEAD.count('|') - 1)}|")
    for cause, jobs in sorted(groups.items()):
        ended = Counter(states[job] for job in jobs)
        failed, completed = ended["FAILED"] + ended["TIMEOUT"], ended["COMPLETED"]
        levels = [{one["severity"] for one in found[job]} for job in jobs]
        errors = sum("error" in one for one in levels)
        warned = sum("error" not in one and "warning" in one for one in levels)
        codes = Counter(code for job in jobs for code in {one["code"] for one in found[job]})
        common = ", ".join(f"{code} {count}" for code, count in codes.most_common(3))
        rest = len(jobs) - failed - completed
        cells = [len(jobs), failed, completed, rest, errors, warned, common]
        print(f"| {cause} | {' | '.join(map(str, cells))} |")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
