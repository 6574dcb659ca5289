"""JS111: packages of R, Perl and Lua."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from jobsight.commands import bounded_child, child_environment, run_command
from jobsight.program.preflight.findings import Hit, Severity, hit, rule
from jobsight.program.preflight.job import Job
from jobsight.program.preflight.names import PERL_ASIDE
from jobsight.program.shell.model import Command, Source
from jobsight.text import one_slip, wordset

__all__ = ["R_PACKAGES"]

R_PACKAGES = wordset(
    "base compiler datasets graphics grDevices grid methods parallel splines stats stats4 tcltk "
    "tools utils boot class cluster codetools foreign lattice MASS Matrix mgcv nlme nnet rpart "
    "spatial survival ggplot2 dplyr tidyr readr purrr tibble stringr tidyverse data.table lme4 "
    "vegan ape Rcpp doParallel foreach future raster terra sf caret randomForest glmnet jsonlite "
    "optparse argparse DESeq2 edgeR limma Seurat Biostrings GenomicRanges brms rstan reshape2 plyr "
    "igraph"
)
"""Packages that come with R or that many sites install."""
_R_FOLDERS = ("/usr/lib/R/library", "/usr/lib/R/site-library", "/usr/local/lib/R/site-library",
              "/usr/lib64/R/library", "/usr/share/R/library")  # fmt: skip


@cache
def _perl_folders(perl: str) -> tuple[str, ...]:
    words = (perl, "-e", 'print join "\\n", @INC')
    ended = run_command(words, env=child_environment(PERL5OPT=""), timeout=5, most_output=1 << 16,
                        before=bounded_child())  # fmt: skip
    return tuple(ended.stdout.decode("utf-8", "replace").split("\n"))


@cache
def _r_packages() -> frozenset[str]:
    """Packages of R in the usual folders, and in those of the user."""
    own = [str(one) for one in Path.home().glob("R/*/*")]
    names = {one for folder in (*_R_FOLDERS, *own) if Path(folder).is_dir()
             for one in os.listdir(folder)}  # fmt: skip  # noqa: PTH208
    return frozenset(names)


@rule("JS111 R, Perl or Lua lacks a package that is loaded")
def _packages(job: Job) -> Iterator[Hit]:
    """Looked up in the folders of this machine's interpreter, where no module chooses another."""
    for program, source in job.sources:
        command = program.command
        if command.contained or command.environment.opaque:
            continue
        if program.language == "r":
            yield from _of_r(source, command, job)
        elif program.language == "perl" and not command.environment.modules:
            yield from _of_perl(source, command, job)
        elif program.language == "lua" and command.folder and program.path:
            if re.search(r"LUA_PATH|package\.(?:path|searchers|loaders)", source.text + job.text):
                continue
            own = os.path.dirname(program.path)  # noqa: PTH120
            for found in re.finditer(r"\brequire\s*\(?\s*[\"']([\w.]+)[\"']", source.text):
                name = f"{found[1].replace('.', '/')}.lua"
                here = job.machine.exists(f"{command.folder}/{name}")
                if job.machine.exists(f"{own}/{name}") and not here:
                    message = f"Lua looks for {name} in the current folder, not in its program's"
                    yield hit(found, message, "LUA_PATH", source=source)


def _of_r(source: Source, command: Command, job: Job) -> Iterator[Hit]:
    modules = " ".join(one.text for one in command.environment.modules)
    own = _libraries(source, command, job)
    here = own is not None and not modules and job.machine.command("Rscript")
    there = _r_packages() if here else frozenset()
    known = there | R_PACKAGES | (own or frozenset())
    code = re.sub(r"#.*", "", f"{source.text}\n{job.text}\n{job.program_texts}")
    partial = own and not re.search("(?i)bundle|bioc|cran", modules)
    judged = bool(there or partial) and not re.search(r"(?i)install|\b(?:renv|pak|p_load)\b", code)
    form = (
        r"^(?:suppress\w+\()*(?:library|require)\(\s*[\"']?([\w.]+)[\"']?\s*[,)]"
        r"|^[ \t]*([\w.]+)::\w"
    )
    for found in re.finditer(form, source.text, re.M):
        name = found[1] or found[2]
        slip = next((one for one in sorted(known) if len(one) > 3 and one_slip(name, one)), None)
        if name in there or name in (own or ()) or (name in known and not there):
            continue
        if slip is None and not judged:
            continue
        severity: Severity | None = "warning" if name in known or not (there or slip) else None
        yield hit(found, f"R has no package {name}", slip, severity=severity, source=source)


def _libraries(source: Source, command: Command, job: Job) -> frozenset[str] | None:
    """The packages of the folders that a job adds to R's libraries; None: they are not known."""
    if any(one.startswith("R_LIBS") for one in job.given or ()):
        return None
    given = [value for name, value in command.assigned.items() if name.startswith("R_LIBS")]
    start = job.machine.text(f"{command.folder}/.Renviron") or ""
    given += re.findall(r"(?m)^R_LIBS\w*=[\"']?([^\"'\n]+)", start)
    calls = re.findall(r"\.libPaths\((?!\))(.*)", source.text)
    given += [one for call in calls for one in re.findall(r"[\"']([^\"']+)[\"']", call) or [None]]
    found: set[str] = set()
    for one in given:
        for folder in (one or "?").split(":"):
            path = job.machine.real(os.path.join(command.folder or "/", folder))  # noqa: PTH118
            names = os.listdir(path) if folder and os.path.isdir(path) else []  # noqa: PTH112, PTH208
            if folder and not names:
                return None
            found.update(names)
    return frozenset(found)


def _of_perl(source: Source, command: Command, job: Job) -> Iterator[Hit]:
    perl = job.machine.command("perl")
    added = re.search(r"PERL5LIB|\bcpanm?\b|\blocal::lib\b|(?<!\S)-I\s", job.text)
    if perl is None or added or re.search(r"\buse lib\b|@INC", source.text):
        return
    given = (one.text[2:] for one in command.arguments if one.text[:2] == "-I")
    folders = [*_perl_folders(perl), *given]
    text = re.sub(PERL_ASIDE, lambda m: re.sub(r"[^\n]", " ", m[0]), source.text)
    for found in re.finditer(r"^[ \t]*use ([A-Z][\w:]*)", text, re.M):
        path = found[1].replace("::", "/") + ".pm"
        if not any(job.machine.exists(f"{one}/{path}") for one in folders):
            yield hit(found, f"Perl has no module {found[1]}", source=source)
