"""JS309–JS311, JS318, JS319: small I/O, work of a login node, secrets, slips in Python."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator

from jobsight.program.preflight.findings import Hit, Severity, hit, rule
from jobsight.program.preflight.job import Job
from jobsight.program.preflight.pythondata import Flow
from jobsight.program.python import dotted
from jobsight.program.shell.launchers import MPI
from jobsight.program.shell.model import Command, Source
from jobsight.program.submission.job import Place
from jobsight.text import wordset

__all__ = ["secret_in"]

_MANY = 1000
"""Rounds of a loop from which on a file opened in each is a load for a shared file system."""


@rule("JS309 A file is opened in every round of a long loop", severity="warning")
def _small_io(job: Job) -> Iterator[Hit]:
    """Shared file systems are slow in opening files."""
    for command in job.commands:
        times = math.prod(loop.times or 1 for loop in command.loops)
        for one in command.redirects:
            aside = one.target.text.startswith(("/dev/", "&"))
            if times >= _MANY and one.operator in (">", ">>", "<") and not aside:
                message = f"opens a file {times:,} times"
                yield hit(command, message, "redirect the loop, behind done")
    for program, text in job.pythons:
        flow = Flow(program, text, {})
        for name, call, around in text.calls:
            opens = name.endswith((".open", ".write_text", ".read_text")) and name.count(".") == 1
            if not opens and name not in ("open", "np.save", "numpy.save", "os.fsync"):
                continue
            times = math.prod(_rounds(one, around[:k], flow) or 1 for k, one in enumerate(around))
            tests = [ast.unparse(one.test) for one in around if isinstance(one, ast.If)]
            if times >= _MANY and not any("%" in one for one in tests):
                message = f"opens a file {int(times):,} times"
                yield hit(call, message, "open it once, before the loop", source=program.source)


def _rounds(node: ast.AST, around: tuple[ast.AST, ...], flow: Flow) -> int | None:
    if isinstance(node, ast.For) and isinstance(node.iter, ast.Call):
        numbers = [flow.number(one, around) for one in node.iter.args]
        known = [one for one in numbers if one is not None]
        if dotted(node.iter.func) == "range" and known and len(known) == len(numbers):
            return int(known[0] if len(known) == 1 else known[1] - known[0])
    return None


_EDITORS = wordset("vim vi nano emacs top htop less more man screen tmux gedit")
_INSTALLS = {
    "apt": {"install"}, "apt-get": {"install", "update"}, "yum": {"install"}, "dnf": {"install"},
}  # fmt: skip


@rule("JS310 Work for a terminal or a login node, not for a batch job", severity="warning")
def _login_work(job: Job) -> Iterator[Hit]:
    """Editors, prompts, ``sudo``, ``salloc``, ``srun --pty``; heavy work next to ``sbatch``."""
    for command in job.commands:
        what = _interactive(command) if job.is_slurm else None
        if what is not None and not command.checked:
            place = command.launchers[0].place if command.launchers else command.place
            severity: Severity | None = "error" if what[2] else None
            yield hit(place, *what[:2], severity=severity, source=command.source)
        if command.name == "sbatch" and math.prod(one.times or 1 for one in command.loops) >= 500:
            yield hit(command, "submits hundreds of single jobs", "--array")
        loops = [loop for loop in command.loops if loop.times is None or loop.times > 10]
        asks = command.name in ("squeue", "sacct", "scontrol", "condor_q") and loops
        if asks and not _rests(job, command):
            message = f"asks the scheduler with {command.name} in a loop without rest"
            yield hit(command, message, "sleep 60 in the loop, or sbatch --wait, or --dependency")
    if not job.is_slurm and any(one.name in ("sbatch", "condor_submit") for one in job.commands):
        for command in job.commands:
            heavy = any(one.name in MPI for one in command.launchers)
            if heavy and "SLURM_JOB" not in job.text:
                message = "runs where the script is started: on the login node"
                yield hit(command, message, "put it into the batch script")


def _rests(job: Job, command: Command) -> bool:
    loop = command.loops[-1]
    rests = [one for one in job.commands if one.name == "sleep" and loop in one.loops]
    times = [word.value or "60" for one in rests for word in one.arguments]
    return any(not one.isdecimal() or int(one) >= 10 for one in times)


def _interactive(command: Command) -> tuple[str, str | None, bool] | None:
    """Message, fix, and whether it fails."""
    name = command.bare
    words = [word.text for word in command.arguments]
    for one in command.launchers:
        if one.name == "srun" and "pty" in one.options:
            why = "srun --pty needs a terminal, which a batch job lacks"
            return why, "srun without --pty", True
        if one.name == "sudo":
            return "sudo asks for a password, and a batch job has no terminal", None, False
    if name == "salloc":
        return "salloc asks for a second allocation inside the job", "srun", True
    alone = not any(w in ("-c", "-es") or w.startswith(("-b", "--batch", "-d")) for w in words)
    if name in _EDITORS and alone and not (command.fed or command.piped):
        return f"{name} needs a terminal, which a batch job lacks", None, True
    if name == "read" and not command.fed and any(re.fullmatch(r"-\w*p", w) for w in words):
        why = "read -p waits for an answer, and a batch job has no terminal"
        return why, "give it as an argument", False
    if name in _INSTALLS and words and words[-1] and _INSTALLS[name] & set(words):
        why = f"{name} needs root on the compute node"
        return why, "a module, an environment or a container", False
    return None


_SECRETS = (
    (re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"), "an AWS access key"),
    (re.compile(r"\bgh[pousr]_[A-Za-z0-9]{20,}\b|\bgithub_pat_\w{20,}"), "a GitHub token"),
    (re.compile(r"\bhf_[A-Za-z0-9]{20,}\b"), "a Hugging Face token"),
    (re.compile(r"\bglpat-[\w-]{16,}"), "a GitLab token"),
    (re.compile(r"\bxox[abpr]-[\w-]{10,}"), "a Slack token"),
    (re.compile(r"\bsk-(?:[a-z]+-)*[A-Za-z0-9_-]{20,}"), "an API key"),
    (re.compile(r"\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{5,}"), "a token"),
    (re.compile(r"-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----"), "a private key"),
    (re.compile(r"https?://[^\s:/@$\"']+:([^\s:/@$\"'{]{3,})@"), "a password in an address"),
    (re.compile(r"\bwandb\s+login\s+[0-9a-f]{30,}"), "a key"),
    (re.compile(r"\b(?:sshpass|mysql\w*)\b.*?\s-p\s?([^\s$\"'-][^\s$\"']{3,})"), "a password"),
    (re.compile(r"\bcurl\b.*?\s(?:-u|--user)[ =][\"']?[\w.@-]+:([^\s$\"'{]{3,})"), "a password"),
    (re.compile(r"Bearer\s+([A-Za-z0-9._~+/-]{16,})"), "a token"),
)
_NAMED = re.compile(
    r"(?i)\b(\w*?(?:password|passwd|passphrase|secret|api_?key|token|(?:access|secret)_?key(?:_id)?|private_?key"
    r"|_pass|_pwd)s?\d*)"
    r"\s*[=:]\s*(?:['\"]([^'\"$`{}<>\s]{6,})['\"]|([^\s'\"$`{}<>();,]{6,}))"
)
_PLACEHOLDER = re.compile(
    r"(?i)^(?:[x*.]+|.*(?:your|example|change|placeholder|dummy|todo|secret_?here|insert|replace|redacted|none|"
    r"null|true|false|file|path|env).*|[\w.-]*/[\w./-]*|\d{1,6}|[a-z_]+\(.*)$"
)


@rule("JS311 A secret in plain text")
def _secrets(job: Job) -> Iterator[Hit]:
    """Scripts are kept by the scheduler and shown to others; the secret is not printed here."""
    subjects: list[tuple[Source | None, str]] = [(None, job.text)]
    others = [*(source for _, source in job.sources), *job.walk.sources[1:]]
    subjects += [(one, one.text) for one in others if one.file != job.source.file]
    for source, text in subjects:
        for number, line in enumerate(text.split("\n"), 1):
            if (found := secret_in(line)) is not None:
                message = f"{found[0]} in plain text: the scheduler keeps and shows the script"
                fix = "read it from a file with mode 0600"
                yield hit(Place(number, found[1] + 1), message, fix, source=source)


def secret_in(line: str) -> tuple[str, int] | None:
    """What secret a line has, and where it begins."""
    if len(line) > 4000:
        return None
    for form, what in _SECRETS:
        found = form.search(line)
        if found is not None and not (found.groups() and _is_placeholder(found[1] or "")):
            return what, found.start()
    named = _NAMED.search(line)
    if named is None or (named[1].islower() and named[3] and " " in named[0].replace(named[3], "")):
        return None
    value = named[2] or named[3] or ""
    mixed = re.search(r"\d", value) and re.search(r"[A-Za-z]", value)
    plain = re.search(r"(?i)pass", named[1]) and re.fullmatch(r"[\w!#%&*+,.:;?@^~-]{6,}", value)
    if _is_placeholder(value) or not (mixed or (plain and "export" in line)):
        return None
    return f"the value of {named[1]}", named.start()


def _is_placeholder(value: str) -> bool:
    long = len(value) >= 20 and re.search(r"\d", value) and re.search(r"[a-z]", value, re.I)
    return bool(_PLACEHOLDER.match(value)) and not (long and re.fullmatch(r"[\w+=]+", value))
