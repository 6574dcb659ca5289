"""JS408: what HTCondor makes of the way in which a job ended."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jobsight.program.preflight.condorjob import CondorJob, Instance
from jobsight.program.preflight.findings import Hit, Severity, hit, rule
from jobsight.program.preflight.job import Job

__all__: list[str] = []


def _never_ends_with(code: str, script: Job | None) -> bool:
    """Whether a Python program, all of whose exit codes are in its text, has none of this value."""
    if script is None or script.language != "python" or len(script.pythons) != 1:
        return False
    given = re.findall(r"\bexit\(\s*([^()]*)\)|\bSystemExit\(([^()]*)\)", script.text)
    calls = len(re.findall(r"exit\b(?!_)|SystemExit|abort|kill|exec[lv]|returncode", script.text))
    return calls == len(given) and all(re.fullmatch(r"\d*", "".join(one)) for one in given) and (
        code not in {"".join(one) for one in given}
    )  # fmt: skip


@rule("JS408 Retries that cannot succeed, or never end", kind="condor")
def _retries(job: CondorJob) -> Iterator[Hit]:
    """Policies that hold, requeue or release a job however it ended."""
    for one in job.instances[:1]:
        given = one.queue.commands
        remove = re.sub(r"[\s()]", "", one.value("on_exit_remove") or "").lower()
        if remove in ("false", "0"):
            message = "on_exit_remove is never true: the job runs again for ever"
            fix = "on_exit_remove = ExitCode == 0 || NumJobCompletions > 3"
            yield hit(given["on_exit_remove"], message, fix)
        hold = re.sub(r"\s", "", one.value("on_exit_hold") or "").lower()
        kept = "max_retries" in given and "periodic_release" not in given
        if kept and re.search(r"exitcode(?:!=|=!=|>)0|^\(?true", hold):
            message = "on_exit_hold holds each failure before it is tried again"
            yield hit(given["max_retries"], message, "leave out on_exit_hold, or max_retries")
        yield from _releases(one)
        yield from _good_ends(job, one)
        retries = one.known("max_retries")
        if retries is not None and not re.fullmatch(r"\d+", retries.strip()):
            message = f"max_retries = {retries[:20]} is not a number"
            yield hit(given["max_retries"], message, "max_retries = 3")
        codes = one.known("success_exit_code"), one.known("retry_until")
        for name, code in zip(("success_exit_code", "retry_until"), codes, strict=True):
            if re.fullmatch(r"-\d+|\d{4,}|[3-9]\d\d|2[6-9]\d|25[6-9]", code or ""):
                yield hit(given[name], f"{name} = {code}: exit codes are 0 to 255")
        if (codes[0] or "0") != "0" and _never_ends_with(codes[0] or "", job.script(one)):
            text = f"{one.known('executable')} never ends with {codes[0]}: all runs fail"
            yield hit(given["success_exit_code"], text, "success_exit_code = 0")
        if codes[0] is not None and codes[0] == codes[1]:
            continue
        periodic = one.value("periodic_remove") or one.value("periodic_hold") or ""
        if re.sub(r"[\s()]", "", periodic).lower() in ("true", "1"):
            name = "periodic_remove" if "periodic_remove" in given else "periodic_hold"
            yield hit(given[name], f"{name} is always true: the job never runs to its end")


_BOUNDED = re.compile(
    r"num(?:job|shadow|system)?\w*(?:starts|holds|completions)|runcount|holdreason(?:sub)?code"
    r"|enteredcurrentstatus|my\.\w+"
)


def _releases(one: Instance) -> Iterator[Hit]:
    release = re.sub(r"[\s()]", "", one.value("periodic_release") or "").lower()
    if release and release not in ("false", "0") and not _BOUNDED.search(release):
        message = "every hold is released again, for ever"
        fix = "periodic_release = NumHolds < 5 && ..."
        yield hit(one.setting("periodic_release"), message, fix, severity="warning")


_PROBLEMS = re.compile(
    r"problem|err(?:or)?s?\b|warn|fail|\bbad|\bnan\b|invalid|miss(?:ed|ing)|skipp|reject|debug"
    r"|\bverbose\b|\bnot ",
    re.IGNORECASE,
)
"""Words for what a good run does not have."""
_MEANT = r"\s-\w*q|\s-s\b|--(?:quiet|silent|brief)|/dev/null"
"""Options of ``grep``, ``diff`` and ``cmp`` with which their status is what is wanted."""


def _ends_with_1(script: Job) -> tuple[int, str] | None:
    """The last line of a shell script and its command, where it fails although nothing went wrong.

    ``grep`` for problems and ``diff``, which print; ``[ -s problems ] && …``.
    """
    lines = [(k, one.strip()) for k, one in enumerate(script.text.split("\n"), 1)
             if one.strip() and not one.lstrip().startswith("#")]  # fmt: skip
    while lines and re.fullmatch(r"exit(?: +\$\?)?", lines[-1][1]):
        lines.pop()
    number, line = lines[-1] if lines else (0, "")
    plain = re.sub(r"'[^']*'|\"[^\"]*\"", "''", line)
    found = re.match(r"([zef]?grep|diff|cmp)\s|(?:\[\[?|test)\s(?=.*&&)", plain)
    if script.language != "bash" or found is None or number in script.here_lines:
        return None
    if re.search(r"[|;]|&$", plain) or re.search(_MEANT if found[1] else r"\s(?:!|-z)\s", plain):
        return None
    name = found[0].split()[0]
    return (number, name) if name in ("diff", "cmp") or _PROBLEMS.search(line) else None


def _ends_with_count(script: Job) -> tuple[int, str] | None:
    """The line where a Python program returns a number of things, which is its exit status."""
    ended = re.search(r"(?m)^[ \t]*(?:sys\.exit|exit|raise SystemExit)\((\w+)\(.*\)\)", script.text)
    if script.language != "python" or ended is None:
        return None
    body = re.search(rf"(?ms)^def {ended[1]}\(.*?(?=^\S|\Z)", script.text)
    count = re.search(r"(?m)^ {4}return (?:len|sum)\(", body[0]) if body else None
    if body is None or count is None:
        return None
    return script.text.count("\n", 0, body.start() + count.start()) + 1, "a count as exit status"


def _good_ends(job: CondorJob, one: Instance) -> Iterator[Hit]:
    """Runs that are good and do not end with 0, where another status than 0 is a failure."""
    script, given = job.script(one), one.queue.commands
    ends = _ends_with_1(script) or _ends_with_count(script) if script is not None else None
    if script is None or ends is None or {"retry_until", "success_exit_code"} & given.keys():
        return
    message = f"{script.source.file} line {ends[0]}: {ends[1]} ends a good run as a failure"
    severity: Severity | None = "warning" if ends[1] in ("diff", "cmp") else None
    for name, form, what in (
        ("on_exit_remove", r"^(?!.*exitcode\W+1).*exitcode=[=?]=?0", "it runs again"),
        ("on_exit_hold", r"exitcode(?:=?!=|>)0", "it is held"),
        ("max_retries", r"[1-9]\d*", "it runs again"),
    ):
        if re.search(form, re.sub(r"[\s()]", "", one.value(name) or "").lower()):
            yield hit(given[name], f"{message}, so {what}", "|| true", severity=severity)
            return
    if job.in_dag and not job.forgiven:
        text = f"{ends[1]} ends a good run as a failure, so the node fails"
        yield hit(ends[0], text, "|| true", severity=severity, source=script.source)
