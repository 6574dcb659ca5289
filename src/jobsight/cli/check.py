"""``jobsight check``: what will go wrong with a script, before it runs. It is never run.

Exit status 1: there are errors among the findings, or a file could not be read.
"""

from __future__ import annotations

import shlex
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from jobsight.cli.common import ConfigOption, StoreOption, load_settings
from jobsight.cli.output import print_json, print_objects, report_problems, say
from jobsight.configfiles import nothing_set
from jobsight.errors import JobsightError, UsageError
from jobsight.program.preflight.check import Checker
from jobsight.program.preflight.findings import RULES
from jobsight.program.preflight.reports import Report, apply_fixes, sarif
from jobsight.program.site import Site
from jobsight.text import counted, printable

__all__ = ["check"]


def check(
    scripts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SCRIPT...]",
            help="Batch scripts, submit files, DAG files, or programs.",
            show_default=False,
        ),
    ] = None,
    site: Annotated[
        Path | None,
        typer.Option(
            help="Folder with what the scheduler would say: scontrol-partition.txt, "
            "scontrol-node.txt, scontrol-config.txt, sinfo.txt, condor_status.ads, modulefiles/."
        ),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(help="Codes, or their beginnings, to leave out: JS301,JS4; repeatable."),
    ] = None,
    options: Annotated[
        str, typer.Option("--sbatch", help='Options of the call of sbatch: "--mem=4G -p short".')
    ] = "",
    explain: Annotated[
        str | None, typer.Option(metavar="CODE", help="Explain a code, with examples.")
    ] = None,
    shellcheck: Annotated[
        bool,
        typer.Option(
            "--shellcheck/--no-shellcheck", help="Add what ShellCheck finds, if installed."
        ),
    ] = True,
    store: StoreOption = None,
    files: Annotated[
        list[str] | None,
        typer.Option(
            "--import", help="Compare with the jobs of a file that `jobsight import` reads."
        ),
    ] = None,
    fix: Annotated[bool, typer.Option("--fix", help="Write the safe fixes.")] = False,
    config: ConfigOption = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object for one SCRIPT, else a list.")
    ] = False,
    as_sarif: Annotated[
        bool, typer.Option("--sarif", help="SARIF 2.1.0, for editors and code hosts.")
    ] = False,
) -> None:
    """What will go wrong with a job, before it runs?"""
    if explain is not None:
        say(_explained(explain))
        return
    if not scripts:
        raise UsageError("name scripts to check, or a code with --explain")
    if as_json and as_sarif:
        raise UsageError("--json or --sarif, not both")
    ignored = () if nothing_set(config) else load_settings(config, {}).check.ignore
    codes = (*ignored, *(c for one in ignore or [] for c in one.split(",") if c))
    known = Site.saved(site) if site is not None else Site.lately()
    checker = Checker(known, codes, _options(options), shellcheck)
    if store is not None or files:
        from jobsight.cli.failchecks import open_history

        settings = load_settings(config, {"store": store})
        history = open_history(settings, files or [], named=store is not None)
        checker = replace(checker, history=history.findings)
    reports, problems = _checked(checker, scripts)
    if fix and sum(map(apply_fixes, reports)):
        reports, problems = _checked(checker, scripts)
    if as_sarif:
        import_module("jobsight.cli.failchecks")  # its rules are listed too
        print_json(sarif(reports))
    elif as_json:
        print_objects(reports, single=len(scripts) == 1)
    else:
        _print(reports)
    report_problems(problems)
    if any(one.failed for one in reports):
        raise typer.Exit(1)


def _explained(code: str) -> str:
    import_module("jobsight.cli.failchecks")
    found = RULES.get(code.upper())
    if found is None:
        known = "docs/reference/codes.md lists them"
        raise UsageError(f"there is no code {printable(code, 20)}; {known}")
    why = (found.check.__doc__ or "").strip()
    head = f"{found.code} ({found.severity}): {found.title}\n\n{why}\n"
    return f"{head}\nThis fails:\n\n{found.fails}\nThis does not:\n\n{found.passes}".rstrip()


def _options(text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise UsageError(f"--sbatch: {error}") from None


def _checked(checker: Checker, scripts: list[str]) -> tuple[list[Report], list[str]]:
    reports: list[Report] = []
    problems: list[str] = []
    for one in scripts:
        try:
            reports.append(checker.check(one))
        except JobsightError as error:
            problems.append(str(error))
    return reports, problems


def _print(reports: list[Report]) -> None:
    for report in reports:
        for one in report.findings:
            fix = f" ({one.fix})" if one.fix else ""
            place = f"{one.file}:{one.line}:{one.column}"
            say(f"{place}: {one.severity} {one.code} {one.message}{fix}")
    found = [one for report in reports for one in report.findings]
    errors = sum(one.severity == "error" for one in found)
    files = counted(len(reports), "file")
    say(f"{counted(errors, 'error')}, {counted(len(found) - errors, 'warning')} in {files}")
