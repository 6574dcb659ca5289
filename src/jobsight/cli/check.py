"""``jobsight check``: what will go wrong with a script, before it runs. It is never run.

Exit status 1: there are errors among the findings, or a file could not be read.
"""

from __future__ import annotations

import shlex
from dataclasses import replace
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jobsight.cli.common import ConfigOption, StoreOption, caller, load_settings
from jobsight.cli.output import print_json, print_objects, report_problems, say
from jobsight.configfiles import nothing_set
from jobsight.errors import JobsightError, UsageError
from jobsight.program.preflight.check import Checker
from jobsight.program.preflight.findings import RULES
from jobsight.program.preflight.job import Job
from jobsight.program.preflight.reports import Report, apply_fixes, sarif
from jobsight.program.site import Site
from jobsight.text import counted, printable

if TYPE_CHECKING:
    from jobsight.program.preflight.condorjob import CondorJob
    from jobsight.questions.fail.priorruns import PriorRuns
    from jobsight.settings import Settings

__all__ = ["check"]

_OF_HISTORY = "jobsight.questions.fail.checks"
"""Registers the rules that compare a job with the runs of earlier ones."""


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
            "--import", help="Compare with jobs of a file that `jobsight import` reads, or of -."
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
        import_module(_OF_HISTORY)
        rule = RULES.get(explain.upper())
        if rule is None:
            near = get_close_matches(explain.upper(), RULES, 5, cutoff=0)
            raise UsageError(
                f"there is no code {printable(explain, 20)}; near it are {', '.join(sorted(near))}"
            )
        why = (rule.check.__doc__ or "").strip()
        say(f"{rule.code} ({rule.severity}): {rule.title}\n\n{why}\n")
        say(f"This fails:\n\n{rule.fails}\nThis does not:\n\n{rule.passes}".rstrip())
        return
    if not scripts:
        raise UsageError("name scripts to check, or a code with --explain")
    if as_json and as_sarif:
        raise UsageError("--json or --sarif, not both")
    ignored = () if nothing_set(config) else load_settings(config, {}).check.ignore
    codes = (*ignored, *(code for text in ignore or [] for code in text.split(",") if code))
    known = Site.saved(site) if site is not None else Site.lately()
    try:
        words = tuple(shlex.split(options))
    except ValueError as error:
        raise UsageError(f"--sbatch: {error}") from None
    checker = Checker(known, codes, words, shellcheck)
    if store is not None or files:
        settings = load_settings(config, {"store": store})
        prior = _prior_runs(settings, files or [], named=store is not None)
        checker = replace(checker, history=prior.findings)
    reports, problems = _checked(checker, scripts)
    if fix and sum(map(apply_fixes, reports)):
        reports, problems = _checked(checker, scripts)
    if as_sarif:
        import_module(_OF_HISTORY)  # its rules are listed too
        print_json(sarif(reports))
    elif as_json:
        print_objects(reports, single=len(scripts) == 1)
    else:
        _print(reports)
    report_problems(problems)
    if any(report.failed for report in reports):
        raise typer.Exit(1)


def _prior_runs(settings: Settings, files: list[str], *, named: bool) -> PriorRuns:
    """The runs of the caller's jobs, of files of importers and, if it is `named`, the store."""
    import_module(_OF_HISTORY)
    from jobsight.answering.jobtables import script_row
    from jobsight.cli.asking import own_inputs
    from jobsight.cli.reading import read_for
    from jobsight.history.jobsasked import request_columns
    from jobsight.questions.fail.priorruns import PriorRuns, Texts
    from jobsight.questions.fail.question import FAIL

    inputs = [*files, *own_inputs(settings)] if named else files
    texts = Texts(caller())
    jobs, _, _ = read_for(FAIL, inputs, settings, texts.add)

    def row(job: Job | CondorJob) -> dict[str, Any]:
        if isinstance(job, Job):
            request = request_columns(job.submission)
            return script_row(jobs, settings, job.path, job.source.text, request, texts.owner)
        return {**job.columns(), "scheduler": "htcondor", "owner": texts.owner}

    return PriorRuns(jobs, texts, row)


def _checked(checker: Checker, scripts: list[str]) -> tuple[list[Report], list[str]]:
    reports: list[Report] = []
    problems: list[str] = []
    for script in scripts:
        try:
            reports.append(checker.check(script))
        except JobsightError as error:
            problems.append(str(error))
    return reports, problems


def _print(reports: list[Report]) -> None:
    for report in reports:
        for finding in report.findings:
            fix = f" ({finding.fix})" if finding.fix else ""
            place = f"{finding.file}:{finding.line}:{finding.column}"
            say(f"{place}: {finding.severity} {finding.code} {finding.message}{fix}")
    severities = [finding.severity for report in reports for finding in report.findings]
    errors = severities.count("error")
    files = counted(len(reports), "file")
    say(f"{counted(errors, 'error')}, {counted(len(severities) - errors, 'warning')} in {files}")
