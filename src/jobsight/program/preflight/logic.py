"""JS3xx: scripts that run, and do something else than was meant."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from jobsight.program.preflight.files import BUILDS, BUILTINS, HARMLESS
from jobsight.program.preflight.findings import Hit, Severity, hit, rule
from jobsight.program.preflight.job import Job
from jobsight.program.preflight.known import STARTS, starts_tasks
from jobsight.program.preflight.variables import GIVEN
from jobsight.program.shell.launchers import MPI
from jobsight.program.shell.model import Command, Source
from jobsight.program.shell.programs import interpreter_of
from jobsight.text import wordlist, wordset

__all__ = ["NOT_A_JOB"]

_NO_WORK = (
    HARMLESS
    | BUILDS - {"make", "cmake"}
    | wordset("if then else elif fi for while until do done case esac { } ( ) !")
)
"""What does no work; words of the shell where the grammar takes them for commands."""
_SAYS = wordset("echo date printf true : sleep ls hostname module df free sstat sacct seff times")


_HOLDS = wordset("sleep tail flock timeout xargs srun exec wait find")
"""Commands that may take as long as what runs in the background."""


_ON_FAILURE = re.compile(
    r"\s*(?!\[|test\b|grep\b|\(\(|!)[^|\s][^|]*\|\|\s*(?:\{.*)?\bexit\s+(?:[1-9]|\$)"
)
"""Where a job ends if a command fails that is no test."""


def _programs(job: Job, checked: bool = False) -> list[Command]:
    """Commands that do the work of the job; those whose status is looked at too, if `checked`."""
    walked = {id(one.command) for one, _ in job.sources}  # their commands are known
    return [
        one for one in job.commands
        if one.words
        and (one.name or "?").rpartition("/")[2] not in _NO_WORK
        and one.name not in job.walk.functions
        and not (one.substituted or (one.checked and not checked))
        and not (interpreter_of(one.name) == "bash" and id(one) in walked)
    ]  # fmt: skip


def _own(job: Job) -> list[Command]:
    """The commands of the script itself."""
    file = job.source.file
    return [one for one in job.commands
            if one.source.file == file and one.words and not one.substituted]  # fmt: skip


@rule("JS301 The last command hides the exit status of the program", severity="warning")
def _hidden_status(job: Job) -> Iterator[Hit]:
    """Without ``set -e``, the job counts as completed whatever the program did."""
    last = max(_own(job), key=lambda one: one.place, default=None)
    if not job.is_slurm or last is None or job.language != "bash":
        return
    if re.search(r"\$\?|PIPESTATUS|trap ", job.text):
        return
    shown = [one for one in last.arguments if not one.text.startswith("-")]
    if last.name == "ls" and shown:
        return  # fails where the results are missing
    zero = last.name == "exit" and [word.text for word in last.arguments] == ["0"]
    if not (last.name in _SAYS or zero) or last.conditional or last.piped or last.loops:
        return
    before = [one for one in _programs(job) if one.place < last.place
              and not (one.errexit or one.background or one.conditional)]  # fmt: skip
    if before and before[-1].source.file == job.source.file and not last.errexit:
        name = before[-1].bare or "a program"
        message = f"if {name} fails, the job still counts as completed"
        yield hit(last, message, "set -e after the directives, or exit $? behind the program")


@rule("JS302 A pipe hides the exit status of the program", severity="warning")
def _piped_status(job: Job) -> Iterator[Hit]:
    """The status of a pipe is that of its last command, without ``pipefail``."""
    if "PIPESTATUS" in job.text:
        return
    work, lines = _programs(job, checked=True), job.text.split("\n")
    for at, command in enumerate(job.commands[:-1]):
        following = job.commands[at + 1]
        if not command.piped or command.pipefail or command not in work:
            continue
        name, line = following.bare, following.place.line
        asked = [k for k in (line, line + 1) if "$?" in "".join(lines[k - 1 : k])]
        used = name == "tee" and (following.checked or asked)  # as the status of the program
        if not used and (command.conditional or command.checked or not job.is_slurm):
            continue
        if name in wordlist("tee cat tail grep head ts sed gzip bzip2 xz zstd pigz sort"):
            text = f"| {name} hides whether {command.bare or '?'} fails"
            severity: Severity | None = "error" if used or asked else None
            place = asked[0] if asked and command.source.file == job.source.file else command
            yield hit(place, text, "set -o pipefail", severity=severity)


@rule("JS303 A folder is removed by a name that may be empty")
def _dangerous_rm(job: Job) -> Iterator[Hit]:
    """``rm -rf $X/`` where nothing sets X removes from the root of the file system."""
    for command in job.commands:
        if command.name != "rm" or command.nounset:
            continue
        options = "".join(word.text for word in command.arguments if word.text.startswith("-"))
        if "r" not in options.lower():
            continue
        for word in command.arguments:
            found = re.match(r'"?\$\{?(\w+)-?\}?"?(/|$)', word.text)
            if found is None or word.value or found[1] in job.walk.assigned:
                if word.value in ("/", "/*", "/home", "/home/"):
                    yield hit(word, f"rm -r {word.value} removes everything", source=command.source)
                continue
            if not GIVEN.fullmatch(found[1]) and found[2]:
                gone = word.text.replace(found[0], "/", 1)[:40]
                text = f"nothing sets {found[1]}: this removes {gone}"
                yield hit(word, text, f"${{{found[1]}:?}}/", source=command.source)


@rule("JS305 Scripts run each other without end")
def _cycles(job: Job) -> Iterator[Hit]:
    """Scripts that source or run themselves, or each other; conditions may end it."""
    for one in job.walk.cycles:
        if not one.command.conditional:
            yield hit(one.command, f"runs itself: {' → '.join(one.files)[:200]}")


@rule("JS306 The job submits itself again, always")
def _resubmits(job: Job) -> Iterator[Hit]:
    """``sbatch`` of its own file without a condition goes on for ever."""
    own = PurePosixPath(job.path).name
    yield from _trapped(job, own)
    for command in job.commands:
        if command.name != "sbatch" or command.conditional or not job.is_slurm:
            continue
        leaves = [one for one in job.commands if one.name in ("exit", "return")
                  and one.conditional and not _on_failure(one)]  # fmt: skip
        if any(one.place < command.place and one.source is command.source for one in leaves):
            continue  # it may end before
        for word in command.arguments:
            name = PurePosixPath((word.value or word.text).strip('"')).name
            itself = word.text.strip('"') in ("$0", "${0}", "$BASH_SOURCE")
            if itself or name in (own, "slurm_script"):
                message = "the job submits itself again as long as nothing fails"
                yield hit(command, message, "put a condition before it that ends the chain")


def _on_failure(command: Command) -> bool:
    """Whether the line of an ``exit`` ends the job only where a command fails."""
    line = command.source.text.split("\n")[command.place.line - 1 :][:1]
    return _ON_FAILURE.match("".join(line)) is not None


def _trapped(job: Job, own: str) -> Iterator[Hit]:
    """A function without a condition that ``trap … EXIT`` runs, and that submits the job."""
    for name in re.findall(r"(?m)^[ \t]*trap\s+[\"']?(\w+)[\"']?\s+(?:\w+\s+)*EXIT\b", job.text):
        found = re.search(rf"(?ms)^(?:function\s+)?{name}\s*(?:\(\))?\s*\{{(.*?)^\}}", job.text)
        body = found[1] if found and job.is_slurm else ""
        again = re.search(rf"(?m)^[ \t]*sbatch\b.*(?:\$0|{re.escape(own)})[\"']?\s*$", body)
        if found and again and not re.search(r"\b(?:if|case|while|exit|return)\b|&&|\|\|", body):
            at = found.start(1) + again.start() + again[0].index("sbatch")
            line = job.text.count("\n", 0, at) + 1
            yield hit(line, "the job submits itself again, whatever happened",
                      "put a condition before it that ends the chain")  # fmt: skip


@rule("JS312 The script ends while its programs run")
def _no_wait(job: Job) -> Iterator[Hit]:
    """When a batch script ends, Slurm kills what it started in the background."""
    if not job.is_slurm or job.language != "bash" or not job.walk.complete:
        return
    text = re.sub(r"\(\s*wait[^()]*\)", "", job.text)
    if any(one.name in ("fg", "parallel") for one in job.commands) or re.search(r"\bwait\b", text):
        return
    own = _own(job)
    started = any(
        one.background and one.loops and one.name not in HARMLESS - BUILTINS for one in own
    )
    quick = HARMLESS - _HOLDS if started and not re.search(r"\$!|kill|fifo", text) else _SAYS
    quick |= {"wait"}
    works = (one for one in own if one.background or one.name not in quick)
    last = max(works, key=lambda one: one.place, default=None)
    polls = last and any(one.place > last.place and one.loops and not one.loops[-1].names
                         for one in own)  # fmt: skip
    if last is not None and last.background and not (last.conditional or polls):
        message = "the script ends here, and Slurm kills what runs in the background"
        yield hit(last, message, "wait at the end")


@rule("JS313 The script always fails")
def _always_fails(job: Job) -> Iterator[Hit]:
    """An exit with another status than 0 that no condition guards."""
    leaves = [one for one in job.commands if one.name == "exit" or one.launchers]
    if any(one.conditional for one in leaves):
        return
    for command in job.commands:
        status = command.arguments[0].value if len(command.arguments) == 1 else None
        failed = status and status.isdecimal() and int(status) % 256
        sure = not (command.conditional or command.checked or command.piped)
        if command.name == "exit" and failed and sure and command.source.file == job.source.file:
            yield hit(command, f"always ends with status {status}")


@rule("JS315 The folder of the script is not the folder it was submitted from", severity="warning")
def _spool_folder(job: Job) -> Iterator[Hit]:
    """Slurm runs a copy of the script: ``$0`` is in slurmd's spool folder."""
    asked = "scontrol show job" in job.text or "SLURM_JOB_ID" in job.text.partition("$0")[0]
    if asked or not job.is_slurm:
        return
    for number, line in enumerate(job.text.split("\n"), 1):
        code = "" if line.lstrip().startswith("#") or "SLURM_SUBMIT_DIR:-" in line else line
        if re.search(r"dirname\W+(?:\$0|\$\{?BASH_SOURCE|\$\{0)|\$\{(?:0|BASH_SOURCE\S*?)%/", code):
            yield hit(number, "Slurm runs a copy: $0 is in its spool folder", "$SLURM_SUBMIT_DIR")


@rule("JS320 All tasks of an array do the same", severity="warning")
def _same_tasks(job: Job) -> Iterator[Hit]:
    """Nothing that is known here reads the number of the task."""
    if not job.is_slurm or (job.submission.request.array or 0) < 2 or not job.walk.complete:
        return
    if len(job.sources) < len(job.walk.programs):
        return
    texts = [job.text, job.program_texts, *(one.text for one in job.walk.sources)]
    if any(one.environment.opaque or one.contained for one in job.commands):
        return
    if any("SLURM_ARRAY" in text or ("environ" in text and "SLURM" in text) for text in texts):
        return
    if re.search(
        r"RANDOM|urandom|\$\$|SLURM_JOB_?ID|mktemp|flock|checkpoint|restart|resume",
        "\n".join(texts),
    ):
        return
    yield hit(job.submission.settings["array"], "no command uses $SLURM_ARRAY_TASK_ID")


@rule("JS321 A launcher starts what starts the tasks itself", severity="warning")
def _nested_launchers(job: Job) -> Iterator[Hit]:
    """``srun mpirun`` starts mpirun once per task, ``srun orca`` all that ORCA starts."""
    for command in job.commands:
        yield from _started_again(command, job)
        names = [one.name for one in command.launchers]
        both = [one for one in command.launchers if one.name in MPI]
        if both and "srun" in names and names.index("srun") < names.index(both[0].name):
            tasks = job.submission.request.tasks if job.is_slurm else 0
            srun = command.launchers[names.index("srun")]
            if tasks > 1 and srun.options.get("n") != "1":
                message = f"srun starts {both[0].name} {tasks} times"
                yield hit(command, message, "srun or mpirun, not both")


def _started_again(command: Command, job: Job) -> Iterator[Hit]:
    """A program that starts the tasks of the job itself, and is started once per task."""
    launcher = next((one for one in command.launchers if one.name in (*MPI, "srun")), None)
    options = launcher.options if launcher else {}
    number = next((options[name] for name in ("n", "np", "ntasks") if name in options), None)
    tasks = job.submission.request.tasks if number is None else job.whole(number) or 1
    texts = [source for _, source in job.started_by(command)]
    language = interpreter_of(command.name)
    itself = command.bare in STARTS or any(starts_tasks(language, one) for one in texts)
    if job.is_slurm and launcher and itself and tasks > 1:
        message = f"{command.bare} starts the tasks itself: {launcher.name} starts it {tasks} times"
        yield hit(launcher, message, f"leave out {launcher.name}", source=command.source)


NOT_A_JOB = frozenset({"JS307", "JS308"})
"""Findings that say that what was checked is not a job: it does not end by itself."""


def _parts(job: Job, fix: str, *, server: bool) -> Iterator[Hit]:
    for part in job.endless:
        if part.server == server:
            message = f"{part.reason}: it runs into the time limit"
            yield hit(part.line, message, fix, source=Source(part.file, ""))


@rule("JS307 A loop that nothing ends")
def _endless_loops(job: Job) -> Iterator[Hit]:
    """Always true, with nothing in it that leaves it: it runs into the time limit."""
    yield from _parts(job, "break, or a condition", server=False)


@rule("JS308 A server, which does not end by itself")
def _servers(job: Job) -> Iterator[Hit]:
    """Known servers in the foreground; ``sleep infinity``, ``tail -f``; questions to the user.

    A warning where people are meant to work with it until the time limit.
    """
    fix = "start it in the background, and stop it at the end"
    for found in _parts(job, fix, server=True):
        meant = _for_people(found, job)
        yield (
            found._replace(fix="scancel it when you are done", severity="warning")
            if meant
            else found
        )


_WORKED_WITH = re.compile(
    r"(?:jupyter|rserver|rstudio|code-server|tensorboard|vncserver|voila|streamlit)"
)
"""Servers that one person works with from another machine."""
_REACHED = re.compile(
    r"(?i)\bssh\b|tunnel|port[ -]?forward|your (?:own |local )?(?:machine|computer|laptop|browser)"
    r"|local(?: machine|host:)|https?://\S*(?:\$|hostname)|--jobid|\bsattach\b"
)
"""Words of a script that says how to come to its node."""


def _for_people(found: Hit, job: Job) -> bool:
    """Whether the last that a job does is a server for a person who comes to its node."""
    if "serves" not in found.message or not job.is_slurm:
        return False
    last = max((one.place.line for one in _own(job) if one.name not in _NO_WORK), default=0)
    own = found.source is not None and found.source.file == job.source.file
    named = _WORKED_WITH.match(found.message) or _REACHED.search(job.text)
    return bool(named) and own and last <= found.place.line
