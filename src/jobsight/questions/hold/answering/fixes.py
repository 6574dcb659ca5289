"""What to fix before a held job is released, for the causes that are known.

Shapes of reasons are those of HTCondor's starter, shadow and ``file_transfer.cpp``; hold codes are
those of ``condor_holdcodes.h``. Where code and words disagree the words win: codes 12 and 13
changed their meaning, and sites give their own sub-codes. A reason is hostile text: what is taken
from it is shown, bounded and made plain, but never stands in a command.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from jobsight.codes import exit_signal
from jobsight.history.reasons import memory_figures, missing_file
from jobsight.questions.hold.answering.heldjob import Held
from jobsight.text import printable

__all__ = ["Fix", "is_about_memory", "known_fix", "memory_request"]


@dataclass(frozen=True)
class Fix:
    """What to change.

    Attributes:
        what: memory, disk, duration, input, output, executable, permission, directory,
            credential, image, space, size, schedule, expression, script, program, policy or bug.
        text: what to do, in a sentence.
        edit: job attribute and new value that ``condor_qedit`` sets, where that fixes it.
        certain: the cause cannot be anything else; a missing URL may be an outage of its server.
        first: releasing it as it is only runs into the cause again, so the fix comes before it.
        policy: the job attribute of the policy that holds it for this, to be switched off instead.
    """

    what: str
    text: str
    edit: tuple[str, int | str] | None = None
    certain: bool = True
    first: bool = False
    policy: str | None = None

    def though_retried(self, succeeded: int, retries: int) -> Fix:
        """This, where retries succeeded all the same: then it is not sure to come again."""
        text = f"{self.text}; yet {succeeded:,} of {retries:,} retries succeeded here"
        return replace(self, text=text, certain=False, first=False)


def known_fix(held: Held) -> Fix | None:
    """The fix of a hold's cause; None where no cause is known."""
    return next(filter(None, (fix_of(held) for fix_of in _FIXES)), None)


_MEMORY = re.compile(
    r"(?i)memory (?:usage|limit)|over (?:cgroup )?memory|out[- ]of[- ]memory|\bmb memory|"
    r"request_?memory|exceed\w* (?:\w+ )?memory|memory \w{0,20} ?exceed"
)
_DISK = re.compile(
    r"(?i)disk (?:usage|space|limit)|request_?disk|scratch (?:usage|space)|disk \w{0,20} ?exceed"
)
_RESOURCE_CODES = (3, 21, 26, 34)


def is_about_memory(held: Held) -> bool:
    """Whether the job was held for using more memory than it asked for."""
    if (held.code, held.subcode) in ((34, 102), (21, 102)):
        return True
    return held.code in _RESOURCE_CODES and _MEMORY.search(held.reason[:2000]) is not None


def _memory(held: Held) -> Fix | None:
    return _ask_for_memory(held) if is_about_memory(held) else None


def _ask_for_memory(held: Held) -> Fix:
    request = memory_request(held)
    if request is None:
        return Fix("memory", "ask for more memory (request_memory) than it used")
    used, limit = _memory_known(held)
    known = [
        f"it used {used:,.0f} MB" if used else "",
        f"was allowed {limit:,.0f} MB" if limit else "",
    ]
    because = " and ".join(text for text in known if text).removeprefix("was ")
    return Fix(
        "memory",
        f"set RequestMemory to {request:,} MB ({because})",
        edit=("RequestMemory", request),
        first=True,
    )


_MOST_MB = 64.0 * 1024 * 1024
_HEADROOM = 1.25


def memory_request(held: Held) -> int | None:
    """RequestMemory (MB) that leaves headroom; None where no figure is known.

    A quarter more than the job used. Where it was stopped at its limit, its true need is unknown:
    then at least one and a half times the limit. Rounded up to 64, 256 or 1024 MB by size.
    """
    used, limit = _memory_known(held)
    if used is None and limit is None:
        return None
    wanted = max((used or 0.0) * _HEADROOM, (limit or 0.0) * 1.5)
    step = 64 if wanted <= 1024 else 256 if wanted <= 8192 else 1024
    return math.ceil(wanted / step) * step


def _memory_known(held: Held) -> tuple[float | None, float | None]:
    """Memory used and allowed, in MB; figures that no machine has are left out."""
    used, limit = memory_figures(held.reason)
    used = max(used or 0.0, held.memory_mb or 0.0)
    limit = limit or held.number("RequestMemory") or 0.0
    return (used if 0 < used < _MOST_MB else None, limit if 0 < limit < _MOST_MB else None)


_DISK_FIGURE = re.compile(
    r"(?i)(?:peak usage:?|usage(?: of)?|using|used|limit(?: of)?|request_?disk(?: of)?) "
    r"(\d{1,15}(?:\.\d{1,6})?) ?(kilo|mega|giga|[KMG])i?b(?:ytes?)?\b"
)
_KIB = {"k": 1.0, "m": 1024.0, "g": 1024.0**2}
_MOST_KIB = 1024.0**4


def _disk(held: Held) -> Fix | None:
    by_code = (held.code, held.subcode) in ((34, 104), (21, 103), (21, 104))
    by_words = held.code in _RESOURCE_CODES and _DISK.search(held.reason[:2000])
    if not by_code and not by_words:
        return None
    figures = [
        float(number) * _KIB[unit[0].lower()]
        for number, unit in _DISK_FIGURE.findall(held.reason[:2000])
    ]
    used = max([*figures, held.number("DiskUsage") or 0.0, held.number("DiskUsage_RAW") or 0.0])
    request = held.number("RequestDisk") or 0.0
    wanted = max(used * _HEADROOM, request * 2.0)
    if not 0 < wanted < _MOST_KIB:
        return Fix("disk", "ask for more disk (request_disk) than it used")
    step = 1024 if wanted <= 1024**2 else 1024**2
    target = math.ceil(wanted / step) * step
    return Fix(
        "disk",
        f"set RequestDisk to {target:,} KB (it asked for {request:,.0f} KB)"
        if request
        else f"set RequestDisk to {target:,} KB",
        edit=("RequestDisk", target),
        first=True,
    )


_EXIT_FIXES: Mapping[int, Fix] = {
    126: Fix(
        "permission",
        "a command that it calls cannot be executed where it ran: make it executable (chmod +x), "
        "and built for that machine",
        certain=False,
    ),
    127: Fix(
        "executable",
        "a command that it calls is not found where it ran: call it by its path, bring it along, "
        "or use a container that has it",
        certain=False,
    ),
}
_SEGFAULT = Fix(
    "bug",
    "it crashed with a segmentation fault, a bug of the program or its libraries: find it (core "
    "file, debugger, valgrind) and fix it",
    first=True,
)
_MEMORY_EXITS = (8004, 8030, 8031, 50660, 50661)


def _exited(held: Held) -> Fix | None:
    code, signal = held.ended()
    if code is not None:
        signal = exit_signal(code)
    if signal == 11:
        return _SEGFAULT
    used, limit = _memory_known(held)
    # Killed from outside: for its memory, if it had come near what it asked for.
    if code in _MEMORY_EXITS or (signal == 9 and used and limit and used >= 0.8 * limit):
        return replace(_ask_for_memory(held), certain=False, first=False)
    return _EXIT_FIXES.get(code or 0)


_DURATION = re.compile(r"(?i)exceeded (?:the )?allowed (job|execute) duration")
_OVERRAN = re.compile(
    r"(?i)\b(?:ran|run|running) (?:for )?(?:longer|more) than|"
    r"\b(?:not|failed to) (?:complete|finish|end) (?:with)?in (?:the )?\d|"
    r"exceed\w* (?:\w+ ){0,3}(?:wall[- ]?(?:clock )?time|run[- ]?time)"
)


def _duration(held: Held) -> Fix | None:
    text = held.reason[:2000]
    words = _DURATION.search(text)
    if held.code in (46, 47) or words:
        execute = words[1].lower() == "execute" if words else held.code == 47
        name = "allowed_execute_duration" if execute else "allowed_job_duration"
        more = f"raise {name} or choose a longer duration category"
    elif held.code in (3, 21, 26) and _OVERRAN.search(text):
        more = "ask for more time if the policy that held it reads that from the job"
    else:
        return None
    save = "split the work, or let it save its progress (checkpoint)"
    text = f"it ran longer than it may: {more}, {save}"
    # The job's own limit, which it reaches again.
    return Fix("duration", text, first=held.code in (46, 47))


_SURE_CODES: Mapping[int, Fix] = {
    4: Fix("credential", "renew the job's credential (proxy or token)"),
    32: Fix("size", "its input files are larger than allowed: shrink them or raise "
            "max_transfer_input_mb"),
    33: Fix("size", "its output files are larger than allowed: shrink them or raise "
            "max_transfer_output_mb"),
    35: Fix("image", "correct the Docker image: its name, its tag, and that it can be read"),
    45: Fix("image", "correct the container image: its name, its tag, and that it can be read"),
}  # fmt: skip
"""What these codes stand for, whatever the reason says."""


def _sure_code(held: Held) -> Fix | None:
    return None if held.code is None else _SURE_CODES.get(held.code)


_INTERPRETER = re.compile(r"invalid interpreter \(([^)]{1,400})\)")
_EXECUTABLE = re.compile(r"Failed to execute '([^']{1,400})'")
_OF_ERRNO = {
    2: ("executable", "{} or the interpreter on its first line is missing where it ran; Windows "
        "line ends do that too"),
    8: ("executable", "{} cannot be executed there: a script needs a first line such as "
        "#!/bin/bash, a program the machines' architecture"),
    13: ("permission", "make {} executable (chmod +x)"),
}  # fmt: skip
"""What an executable's error number stands for, and its fix."""
_LAST_REASON = re.compile(r"\(errno ?=? ?(\d{1,3})")


def _executable(held: Held) -> Fix | None:
    text = held.reason[:2000]
    interpreter, executable = _INTERPRETER.search(text), _EXECUTABLE.search(text)
    if interpreter:
        return Fix(
            "executable",
            f"the script's first line names {_shown(interpreter[1])}, which is missing where it "
            "ran: name one that is there, bring it along, or ask for places that have it",
        )
    if held.code != 6 or not executable:
        return None
    name = _shown(_name_in_sandbox(executable[1]))
    errno = _LAST_REASON.search(text)
    number = int(errno[1]) if errno else held.subcode
    what, text = _OF_ERRNO.get(number or 0, ("", ""))
    return Fix(what, text.format(name)) if what else None


_STANDARD = re.compile(r"Failed to open '([^']{1,400})' as standard (\w{1,10}): ([^(]{1,100})")


def _standard_file(held: Held) -> Fix | None:
    if held.code not in (7, 8, 9, 10):
        return None
    found = _STANDARD.search(held.reason[:2000])
    name = _shown(found[1]) if found else "the file"
    stream = found[2] if found else ("input" if held.code in (8, 10) else "output")
    if "denied" in held.reason or held.subcode == 13:
        return Fix("permission", f"let the job open {name}, its standard {stream} (permissions)")
    if stream == "input":
        return Fix("input", f"supply {name}, the job's standard input")
    return Fix("directory", f"make the folder of {name}, the job's standard {stream}")


_FOLDER = re.compile(r"initial working directory (/[^:]{1,400})")


def _folder(held: Held) -> Fix | None:
    found = _FOLDER.search(held.reason[:2000])
    if held.code != 14 and not found:
        return None
    name = _shown(found[1]) if found else "its initial working directory"
    return Fix("directory", f"make {name}, or let the job enter it")


_SPACE = re.compile(r"(?i)no space left|quota exceeded|disk is full")
_MISSING = re.compile(r"(?i)no such file|not found|\b404\b|\(errno[ =:]{1,3}2\b")
_DENIED = re.compile(r"(?i)denied|forbidden|\b40[13]\b|\(errno[ =:]{1,3}13\b")
_OUTPUT = re.compile(r"(?i)transfer output files? failure|STARTER at \S{1,80} failed to send file")
_INPUT = re.compile(r"(?i)transfer input files? failure|SHADOW at \S{1,80} failed to send file")


def _transfer(held: Held) -> Fix | None:
    text = held.reason[:2000]
    output = _OUTPUT.search(text) or (held.code == 12 and not _INPUT.search(text))
    if not output and held.code != 13 and not _INPUT.search(text):
        return None
    file = missing_file(text)
    is_url = file is not None and "://" in file
    if _SPACE.search(text):
        where = "where its output goes" if output else "where it ran"
        return Fix("space", f"make room {where} (disk full or quota)", certain=bool(output))
    if file is None:
        return None
    if _DENIED.search(text):
        return Fix("permission", f"let the job reach {_shown(file)} (denied)", certain=not is_url)
    if not _MISSING.search(text):
        return None
    if output:
        return _missing_output(file)
    where = "put it there" if is_url else "supply it"
    return Fix(
        "input",
        f"input {_shown(file)} is missing: {where}, or correct transfer_input_files",
        certain=not is_url,
    )


def _missing_output(file: str) -> Fix | None:
    name = _name_in_sandbox(file)
    # HTCondor makes these itself: if one is gone, the sandbox is, and the job is not to blame.
    if name.startswith(("_condor_", ".machine.ad", ".job.ad")):
        return None
    return Fix(
        "output",
        f"the job never wrote {_shown(name)}: see its own output for why, or correct "
        "transfer_output_files",
        certain="://" not in file,
    )


_DOLLARS = re.compile(r"^Cannot expand \$\$\(([\w.]{1,100})")


def _unexpanded(held: Held) -> Fix | None:
    """A ``$$(Attribute)`` of the submit file that the matched machine does not have."""
    if not held.reason.startswith("Cannot expand $$"):
        return None
    found = _DOLLARS.match(held.reason)
    name = found[1] if found else "Attribute"
    return Fix(
        "expression",
        f"the machine that it matched does not advertise what $$({name}) in its submit file asks "
        f"for: require it (TARGET.{name} =!= undefined) or give a default, $$({name}:default)",
    )


_BY_CODE: Mapping[int, Fix] = {
    5: Fix("expression", "one of its policy expressions is undefined: define what it refers to"),
    19: Fix("script", "its prepare hook failed: see the hook's own output", certain=False),
    20: Fix("schedule", "the time it was deferred to has passed: set a new deferral_time"),
    22: Fix("permission", "let the job's log file be written: its folder and permissions"),
    25: Fix("schedule", "correct its cron_* settings"),
    43: Fix("script", "its pre-command failed: see that command's own output"),
    44: Fix("script", "its post-command failed: see that command's own output"),
}


def _by_code(held: Held) -> Fix | None:
    return None if held.code is None else _BY_CODE.get(held.code)


_FIXES: tuple[Callable[[Held], Fix | None], ...] = (
    _memory,
    _disk,
    _duration,
    _exited,
    _sure_code,
    _executable,
    _standard_file,
    _folder,
    _transfer,
    _unexpanded,
    _by_code,
)


def _name_in_sandbox(path: str) -> str:
    """A path without the execute folder that a job's files lie in, which is new at each start."""
    inside = re.search(r"/dir_\d{1,12}/(?!.*/dir_\d)(.{1,400})", path)
    return inside[1] if inside else path


def _shown(text: str) -> str:
    return printable(text, 160)
