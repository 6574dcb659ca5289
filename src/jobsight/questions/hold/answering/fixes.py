"""What to fix before a held job is released, for the causes that are known.

Shapes of reasons are those of HTCondor's starter, shadow and ``file_transfer.cpp``; hold codes are
those of ``condor_holdcodes.h``. Where code and words disagree the words win: codes 12 and 13
changed their meaning, and sites give their own sub-codes. A reason is hostile text: what is taken
from it is shown, bounded and made plain, but never stands in a command.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from jobsight.codes import exit_signal
from jobsight.history.reasons import bare_number, missing_file
from jobsight.program.submission.proposals import proposed
from jobsight.questions.hold.answering.heldjob import CPUS, DISK, MEMORY, Held, Resource
from jobsight.text import printable

__all__ = ["RESOURCE_CODES", "Fix", "known_fix"]


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


_MACHINES: tuple[tuple[str, str], ...] = (
    (r"(?:singularity|apptainer) installation|user namespaces?\b|create \w{0,10} ?namespace",
     "its Apptainer or Singularity cannot run jobs"),
    (r"docker daemon|docker service|dockerd\b", "its Docker daemon does not run"),
    (r"nvidia-container-cli|\bnvml\b|driver not loaded|cuda driver|unable to determine the device "
     r"handle|no cuda-capable device", "its GPU driver does not work"),
    (r"stale (?:nfs )?file handle|transport endpoint is not connected|read-only file system|"
     r"input/output error", "a file system of it does not work"),
    (r"/cvmfs\b[^|]{0,200}(?:not mounted|transport|input/output)", "it has no CVMFS"),
    (r"failed to (?:set|switch) (?:user|uid)|cannot (?:switch to|become) user|unknown user",
     "it cannot run programs as the job's user"),
)  # fmt: skip
"""Words by which reasons say that the machine is broken, and what of it."""
_MACHINE = [(re.compile(words, re.IGNORECASE), what) for words, what in _MACHINES]
_FULL = Fix(
    "space",
    "the disk of the machine where it ran was full: release it to run on another machine, or ask "
    "for more disk (request_disk), so that it is sent where that is free",
    certain=False,
)


def _machine(held: Held) -> Fix | None:
    """What is wrong with the machine: another may run the job as it is."""
    text = held.reason[:2000]
    if held.code not in (6, 34, 35, 45):
        return None
    if "no space left" in text.lower():
        return _FULL
    what = next((what for words, what in _MACHINE if words.search(text)), None)
    if what is None:
        return None
    slot = _SLOT_NAMED.search(text)
    where = f"the machine where it ran{f' ({_shown(slot[1])})' if slot else ''} is broken"
    more = "release it to run on another, and report this one to its administrators"
    return Fix("machine", f"{where}, {what}: {more}", certain=False)


_SLOT_NAMED = re.compile(r"(?:Error from|execution point) ([\w.@-]{1,200}[\w-])")
RESOURCE_CODES = (3, 21, 26, 34)
"""Hold codes of starters, start daemons and policies that hold jobs for what they use."""
_SUBCODES = {(34, 102): "memory", (21, 102): "memory",
             (34, 104): "disk", (21, 103): "disk", (21, 104): "disk"}  # fmt: skip
"""What sub-codes stand for at pools that follow HTCondor's own configuration."""
_WORDS = {
    "memory": r"memory (?:usage|use|limit|of \d)|\bmemoryusage\b[^']{0,80}\b(?:request)?memory\b|"
              r"over (?:cgroup )?memory|out[- ]of[- ]memory|\boom\b|\bmb memory|request_?memory|"
              r"exceed\w* (?:\w+ )?memory\b(?!-)|memory \w{0,20} ?exceed|(?:more|too much) memory|"
              r"(?:requested|allocated|available) memory|\brss (?:usage|exceed|of|limit)",
    "disk": r"\bdisk (?:usage|use|space|limit|of \d)|\bdiskusage\b[^']{0,80}\b(?:requestdisk|"
            r"disk)\b|request_?disk|scratch (?:usage|space)|disk (?!quota)\w{0,20} ?exceed|"
            r"exceed\w* (?:\w+ )?disk\b(?!-)|(?:more|too much) disk|(?:requested|allocated) disk",
    "CPU": r"\bcpus? (?:usage|use|load|consumption)\b|request_?cpus|\bcpususage\b|cpu over-?use|"
           r"(?:more|too many) (?:cpus?|cores|threads)\b",
    "GPU": r"\bgpus?[ -]memory\b|\bvram\b|cuda (?:error: )?out of memory",
}  # fmt: skip
"""The words by which reasons of starters, start daemons and policies name a resource."""
_NAMING = {what: re.compile(words, re.IGNORECASE) for what, words in _WORDS.items()}
_RATE = r"(?:usage|use|utili[sz]ation|efficiency)"
_WASTING = {
    what: re.compile(
        rf"(?i)wast\w+ (?:of )?{what}|(?:low|poor|no) {what} {_RATE}|"
        rf"\b{what}s? {_RATE}[^.]{{0,40}}\b(?:low|below|less than)\b|"
        rf"\buses? (?:only )?(?:less than|under) [^.]{{0,60}}{what}|"
        rf"\b{what}s? (?:is |are )?(?:idle|unused)"
    )
    for what in _WORDS
}
"""The words by which policies say that a job uses too little of what it asked for."""


@lru_cache(4096)
def _named(reason: str) -> list[list[str]]:
    """The resources that a reason names, and those of which it says too little was used."""
    return [
        [what for what, words in table.items() if words.search(reason)]
        for table in (_NAMING, _WASTING)
    ]


_RESOURCES = {of.name: of for of in (MEMORY, DISK, CPUS)}


def _resource(held: Held) -> Fix | None:
    """What to ask for where the job was held for using too much of a resource, or too little.

    The words of the reason win over the sub-code, which pools give at will; where they name
    several, the one of the sub-code, else the one of which more was used than asked for.
    """
    if held.code not in RESOURCE_CODES:
        return None
    named, wasted = _named(held.reason[:2000])
    if len(wasted) == 1:
        return _less(held, wasted[0])
    by_code = _SUBCODES.get((held.code, held.subcode or 0))
    if not named:
        what = None if _OVERRAN.search(held.reason[:2000]) else by_code
    elif len(named) == 1 or "GPU" in named:  # whose memory is not the machine's
        what = "GPU" if "GPU" in named else named[0]
    elif by_code in named:
        what = by_code
    else:
        known = {name: held.known(_RESOURCES[name]) for name in named}
        over = [name for name, of in known.items() if of.used > of.limit > 0]
        what = over[0] if len(over) == 1 else None
    return None if what is None else _MORE[what](held)


def _less(held: Held, what: str) -> Fix:
    """Without a command: what it will use is not known from what it used so far."""
    if what == "GPU":
        return Fix("gpu", "let it use the GPUs that it asks for, or ask for fewer (request_gpus)")
    of = _RESOURCES[what]
    known, less = held.known(of), "less" if of.size else "fewer"
    had = f" than the {of.amount(known.limit)} it had" if known.limit else ""
    used = f"; it was seen to use {of.amount(known.used)}" if known.used else ""
    room = "with room above what it uses at its peak"
    return Fix(what, f"ask for {less} {of.plural}{had}, {room}{used}")


_HEADROOM = 1.25


def _ask_for_memory(held: Held) -> Fix:
    """A quarter more than the job used; at least half as much again as the limit it was stopped at.

    Its true need is unknown then. Rounded up to 64, 256 or 1 024 MB by size.
    """
    known = held.known(MEMORY)
    wanted = max(known.used * _HEADROOM, known.limit * 1.5)
    step = 64 if wanted <= 1024 else 256 if wanted <= 8192 else 1024
    return _ask_for(held, MEMORY, wanted, step)


def _ask_for_disk(held: Held) -> Fix:
    """A quarter more than the job used, and at least twice what it asked for."""
    known = held.known(DISK)
    wanted = max(known.used * _HEADROOM, known.limit * 2.0)
    return _ask_for(held, DISK, wanted, 1024 if wanted <= 1024**2 else 1024**2)


_CPUS_USED = re.compile(
    r"(?i)(?:cpus? (?:usage|use|load)(?: of)?:?|uses?|used|using) (\d{1,5}(?:\.\d{1,4})?)"
    r"(?![\d.]*\d)(?! ?(?:s\b|sec|min|h\b|hour|times)) ?(%|percent)?"
)


def _ask_for_cpus(held: Held) -> Fix:
    """As many as it kept busy; or fewer threads."""
    used = _CPUS_USED.search(held.reason[:2000])
    # Some policies write the use in percent of one CPU.
    named = float(used[1]) / (100.0 if used[2] else 1.0) if used else 0.0
    fix = _ask_for(held, CPUS, max(named, held.known(CPUS).used), 1, named)
    threads = "limit its threads to the CPUs that it asks for (OMP_NUM_THREADS), or "
    return replace(fix, text=threads + fix.text)


_GPU_MEMORY = Fix(
    "gpu", "let it use less GPU memory, or ask for GPUs that have more (gpus_minimum_memory)",
    first=True,
)  # fmt: skip
_MORE: Mapping[str, Callable[[Held], Fix]] = {
    "memory": _ask_for_memory, "disk": _ask_for_disk, "CPU": _ask_for_cpus,
    "GPU": lambda _: _GPU_MEMORY,
}  # fmt: skip


def _ask_for(held: Held, of: Resource, wanted: float, step: int, named: float = 0.0) -> Fix:
    """A larger request; no figure where it is not known what the job was allowed: it needs more.

    Args:
        held: what is known of the job.
        of: which resource.
        wanted: what would do.
        step: the request is a multiple of it.
        named: what it used by the reason, where that is not among what is known.
    """
    known, most = held.known(of), held.largest.get(of.request)
    used, had = max(known.used, named), (known.limit, known.asked, known.given)
    if not known.limit or not wanted:
        command = f"request_{of.request.removeprefix('Request').lower()}"
        than = f"the {of.amount(used)} it used" if used else "it used"
        unread = bare_number(held.reason, of.name) if of.size else None
        quoted = f"; its reason says {unread}, without a unit" if unread else ""
        return Fix(of.name, f"ask for more {of.plural} ({command}) than {than}{quoted}", first=True)
    amount = proposed(wanted, had=had, used=used, most=most, step=step)
    if amount is None:
        least = of.amount(max(used, *had))
        text = f"no slot known has more {of.plural} than the {least} it used or was allowed"
        return Fix(of.name, f"{text}: let it use less", first=True)
    seen = "it used" if used >= known.limit else "it was last seen to use"
    because = [
        f"{seen} {of.amount(used)}" if used else "",
        f"{'was' if used else 'it was'} allowed {of.amount(known.limit)}",
        "no slot known has more" if amount == most else "",
    ]
    text = f"set {of.request} to {of.amount(amount)} ({' and '.join(filter(None, because))})"
    return Fix(of.name, text, edit=(of.request, amount), first=True)


_EXIT_FIXES: Mapping[int, Fix] = {
    126: Fix("permission", "a command that it calls cannot be executed where it ran: make it "
             "executable (chmod +x), and built for that machine", certain=False),
    127: Fix("executable", "a command that it calls is not found where it ran: call it by its "
             "path, bring it along, or use a container that has it", certain=False),
}  # fmt: skip
_MEMORY_EXITS = (8004, 8030, 8031, 50660, 50661)


def _exited(held: Held) -> Fix | None:
    code, signal = held.ended()
    if code is not None:
        signal = exit_signal(code)
    if signal == 11:
        crash = "it crashed with a segmentation fault, a bug of the program or its libraries"
        how = "find it (core file, debugger, valgrind) and fix it"
        return Fix("bug", f"{crash}: {how}", first=True)
    known = held.known(MEMORY)
    # Killed from outside: for its memory, if it had come near what it asked for.
    if code in _MEMORY_EXITS or (signal == 9 and known.used >= 0.8 * known.limit > 0):
        return replace(_ask_for_memory(held), certain=False, first=False)
    return _EXIT_FIXES.get(code or 0)


_DURATION = re.compile(r"(?i)exceeded (?:the )?allowed (job|execute) duration")
_OVERRAN = re.compile(
    r"(?i)\b(?:ran|run|running) (?:for )?(?:longer|more) than|"
    r"exceed\w* (?:\w+ ){0,3}(?:wall[- ]?(?:clock )?time|run[- ]?time)|"
    r"(?:not|failed to) (?:complete|finish|end)\w* (?:with)?in (?:the )?\d|"
    r"(?:wall[- ]?(?:clock )?|run[- ]?)time (?:\w{0,12} ?exceeded|limit)|"
    r"r(?:an|unning) (?:for )?too long|hours? of (?:wall|run)[- ]?time"
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
    45: Fix("image", "the test of its container failed: see that the image can be read and run, "
            "or release it to another machine, where the same image works for others",
            certain=False),
}  # fmt: skip
"""What these codes stand for, where the reason does not blame the machine."""


_QUOTA = re.compile(r"(?i)\bquota (?:is )?(?:exceeded|full|reached)|over (?:the )?quota")
_EXPIRED = re.compile(
    r"(?i)\b(?:proxy|token|credential|certificate)s? (?:\w+ ){0,5}(?:expire|invalid|missing)"
)


def _sure_code(held: Held) -> Fix | None:
    if held.code in RESOURCE_CODES:
        if _EXPIRED.search(held.reason[:2000]):
            return _SURE_CODES[4]
        if _QUOTA.search(held.reason[:2000]):
            return Fix("space", "make room where it writes: its user's quota there is full")
    return _SURE_CODES.get(held.code or 0)


_INTERPRETER = re.compile(r"invalid interpreter \(([^)]{1,400})\)")
_EXECUTABLE = re.compile(r"Failed to execute '([^']{1,400})'")
_OF_ERRNO = {
    2: ("executable", "{} or the interpreter on its first line is missing where it ran; Windows "
        "line ends do that too"),
    7: ("script", "its arguments and environment are too long for {}: pass them in a file"),
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
        names = f"the script's first line names {_shown(interpreter[1])}, which is missing where it"
        do = "name one that is there, bring it along, or ask for places that have it"
        return Fix("executable", f"{names} ran: {do}")
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
    named = _STANDARD.search(held.reason[:2000])
    name = _shown(named[1]) if named else "the file"
    stream = named[2] if named else ("input" if held.code in (8, 10) else "output")
    if "denied" in held.reason or held.subcode == 13:
        return Fix("permission", f"let the job open {name}, its standard {stream} (permissions)")
    if stream == "input":
        return Fix("input", f"supply {name}, the job's standard input")
    return Fix("directory", f"make the folder of {name}, the job's standard {stream}")


_FOLDER = re.compile(r"initial working directory (/[^:]{1,400})")


def _folder(held: Held) -> Fix | None:
    named = _FOLDER.search(held.reason[:2000])
    if held.code != 14 and not named:
        return None
    name = _shown(named[1]) if named else "its initial working directory"
    return Fix("directory", f"make {name}, or let the job enter it")


_SCRATCH = re.compile(r"(?i)writing to (?:file )?\S*(?:/dir_\d|/execute/|/glide_)")
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
        if not output or _SCRATCH.search(text):
            return _FULL
        return Fix("space", "make room where its output goes (disk full or quota)")
    if file is None:
        return None
    if _DENIED.search(text):
        return Fix("permission", f"let the job reach {_shown(file)} (denied)", certain=not is_url)
    if not _MISSING.search(text):
        return None
    if output:
        name = _name_in_sandbox(file)
        # HTCondor makes these itself: if one is gone, the sandbox is, and the job is not to blame.
        if name.startswith(("_condor_", ".machine.ad", ".job.ad")):
            return None
        never = f"the job never wrote {_shown(name)}: see its own output for why"
        return Fix("output", f"{never}, or correct transfer_output_files", certain=not is_url)
    where = "put it there" if is_url else "supply it"
    text = f"input {_shown(file)} is missing: {where}, or correct transfer_input_files"
    return Fix("input", text, certain=not is_url)


_DOLLARS = re.compile(r"^Cannot expand \$\$\(([\w.]{1,100})")


def _unexpanded(held: Held) -> Fix | None:
    """A ``$$(Attribute)`` of the submit file that the matched machine does not have."""
    if not held.reason.startswith("Cannot expand $$"):
        return None
    named = _DOLLARS.match(held.reason)
    name = named[1] if named else "Attribute"
    lacks = f"does not advertise what $$({name}) in its submit file asks for"
    how = f"require it (TARGET.{name} =!= undefined) or give a default, $$({name}:default)"
    return Fix("expression", f"the machine that it matched {lacks}: {how}")


_BY_CODE: Mapping[int, Fix] = {
    5: Fix("expression", "one of its policy expressions is undefined: define what it refers to"),
    19: Fix("script", "its prepare hook failed: see the hook's own output", certain=False),
    20: Fix("schedule", "the time it was deferred to has passed: set a new deferral_time"),
    22: Fix("permission", "let the job's log file be written: its folder and permissions"),
    25: Fix("schedule", "correct its cron_* settings"),
    43: Fix("script", "its pre-command failed: see that command's own output"),
    44: Fix("script", "its post-command failed: see that command's own output"),
}


_FIXES: tuple[Callable[[Held], Fix | None], ...] = (
    _machine, _resource, _duration, _exited, _sure_code, _executable, _standard_file, _folder,
    _transfer, _unexpanded, lambda held: _BY_CODE.get(held.code or 0),
)  # fmt: skip


def _name_in_sandbox(path: str) -> str:
    """A path without the execute folder that a job's files lie in, which is new at each start."""
    inside = re.search(r"/dir_\d{1,12}/(?!.*/dir_\d)(.{1,400})", path)
    return inside[1] if inside else path


def _shown(text: str) -> str:
    return printable(text, 160)
