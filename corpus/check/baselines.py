"""Tools to compare with: bash -n, py_compile, ShellCheck, and a site's submission linter."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator

from corpus.check.manifest import Job

__all__ = ["Finding", "compilers", "shellcheck", "submission_linter"]

Finding = tuple[str, int, str]
"""File relative to the job's folder, line from 1, severity (error, warning or info)."""
_SHELL = re.compile(rb"\A(?:\xef\xbb\xbf)?#!\s*\S*(?:/| )(?:ba|da)?sh\b")
_SETS = re.compile(r"(?:^|[\s;(])(?:export|local|declare|for|read(?: -r)?)?\s*(\w+)(?:\+?=| in\b)")
_USES = re.compile(r"\$\{?([A-Za-z_]\w*)(?![\w:%#/-])")
_GIVEN = re.compile(r"SLURM\w*|HOME|USER|PWD|PATH|TMPDIR|HOSTNAME|RANDOM|LANG|SHELL")
_SECRET = re.compile(r"(?i)(password|passwd|token|secret|api_?key)\w*\s*=\s*['\"]?[^\s'\"$]{6,}")
_OUTPUT = re.compile(r"(?:--output=|-o )(\S+)/")
_RUNS = re.compile(r"\b(?:python3?|Rscript|perl|bash|sh|source)\s+([\w./-]+\.\w+)")


def _shell_files(job: Job) -> Iterator[str]:
    for path in job.files:
        batch = path == job.file and job.scheduler != "htcondor" and path.suffix != ".py"
        if batch or path.suffix == ".sh" or _SHELL.match(path.read_bytes()):
            yield path.relative_to(job.folder).as_posix()


def compilers(job: Job) -> list[Finding]:
    """``bash -n`` (``sh -n`` where #! says sh) and Python's parser, over all files."""
    found = []
    for name in _shell_files(job):
        shell = "sh" if (job.folder / name).read_bytes().startswith(b"#!/bin/sh") else "bash"
        command = [shell, "-n", name]
        said = subprocess.run(command, cwd=job.folder, capture_output=True, text=True, check=False)
        if said.returncode:
            line = re.search(r": (?:line )?(\d+): ", said.stderr)
            found.append((name, int(line[1]) if line else 1, "error"))
    for path in job.files:
        if path.suffix == ".py":
            try:
                with warnings.catch_warnings(action="ignore"):
                    ast.parse(path.read_bytes())
            except SyntaxError as error:
                name = path.relative_to(job.folder).as_posix()
                found.append((name, error.lineno or 1, "error"))
    return found


def shellcheck(job: Job) -> list[Finding]:
    """The compilers and ShellCheck with its default settings."""
    program = shutil.which("shellcheck", path=sys.executable.rpartition("/")[0]) or "shellcheck"
    command = [program, "--format=json1", "--external-sources", *_shell_files(job)]
    said = subprocess.run(command, cwd=job.folder, capture_output=True, text=True, check=False)
    comments = json.loads(said.stdout)["comments"] if said.stdout else []
    return compilers(job) + [(one["file"], one["line"], one["level"]) for one in comments]


def submission_linter(job: Job) -> list[Finding]:
    """What sites' own linters list: late directives, CRLF, --mem, paths, variables, secrets."""
    if job.scheduler != "slurm":
        return []
    text = job.file.read_bytes().decode(errors="replace")
    found = [(1, "error")] * ("\r\n" in text)
    found += [(1, "warning")] * (not re.search(r"^#SBATCH.*--mem", text, re.M))
    known, late = set(_SETS.findall(text)), False
    for number, line in enumerate(text.split("\n"), 1):
        directive = line.startswith("#SBATCH")
        path = (_OUTPUT if directive else _RUNS).search(line)
        unset = [n for n in _USES.findall(line) if n not in known and not _GIVEN.fullmatch(n)]
        if directive:
            wrong = late or (path and not (job.folder / path[1]).is_dir())
            found += [(number, "error")] * bool(wrong)
        elif line.strip() and not line.startswith("#"):
            late = True
            found += [(number, "error")] * bool(path and not (job.folder / path[1]).exists())
            found += [(number, "warning")] * bool(unset or _SECRET.search(line))
    return [(job.file.name, number, severity) for number, severity in found]
