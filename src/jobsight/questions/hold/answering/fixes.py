"""What to fix before a held job is released, for the causes that are known.

What reasons say is in the tables of `jobsight.history.causes.holds`. Here is what depends on the
job: by how much its request is to grow, how its program ended, what pools mean by their sub-codes.
A reason is hostile text: what is taken from it is shown, bounded and made plain; of it only the
name of a machine may stand in a command (`Group.elsewhere`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from jobsight.codes import exit_signal
from jobsight.history.causes.cause import Cause
from jobsight.history.causes.holds import READ, causes_of_hold
from jobsight.history.causes.table import Entry
from jobsight.history.reasons import bare_number
from jobsight.program.submission.proposals import proposed
from jobsight.questions.hold.answering.heldjob import CPUS, DISK, MEMORY, Held, Resource
from jobsight.text import printable

__all__ = ["RESOURCE_CODES", "Fix", "known_fix"]


@dataclass(frozen=True)
class Fix:
    """What to change.

    Attributes:
        kind: of `jobsight.history.causes.cause.KINDS`.
        text: the cause and what to do, in a sentence.
        edit: job attribute and new value that ``condor_qedit`` sets, where that fixes it.
        certain: the cause cannot be anything else; a missing URL may be an outage of its server.
        first: releasing it as it is only runs into the cause again, so the fix comes before it.
        policy: the job attribute of the policy that holds it for this, to be switched off instead.
        passing: nothing of the job is to be changed: a server or the network failed.
        machine: name of the machine that is to blame, as the log has it (hostile text).
    """

    kind: str
    text: str
    edit: tuple[str, int | str] | None = None
    certain: bool = True
    first: bool = False
    policy: str | None = None
    passing: bool = False
    machine: str | None = None

    def though_retried(self, succeeded: int, retries: int) -> Fix:
        """This, where retries succeeded all the same: then it is not sure to come again."""
        text = f"{self.text}; yet {succeeded:,} of {retries:,} retries succeeded here"
        return replace(self, text=text, certain=False, first=False)


Found = Sequence[tuple[Entry, Cause]]


def known_fix(held: Held) -> Fix | None:
    """The fix of a hold's cause; None where no cause is known."""
    found = causes_of_hold(held.reason[:READ], held.code)
    sure = bool(found) and found[0][0].level in ("final", "error")
    fix = None if sure else _by_subcode(held, found) or _exited(held)
    if fix is not None or not found:
        return fix
    entry, cause = found[0]
    return _resource(held, entry, found) if entry.ask else _as_told(held, entry, cause)


_PLACE = "where it ran"


def _as_told(held: Held, entry: Entry, cause: Cause) -> Fix:
    text, machine = cause.text, None
    if cause.kind == "node" and (slot := _slot(held)):
        text = text.replace(_PLACE, f"{_PLACE} ({printable(slot, 160)})", 1)
        machine = slot.rpartition("@")[2]
    text = f"{text}: {cause.fix}"
    passing = cause.whose == "network"
    return Fix(
        cause.kind, text, certain=cause.sure, first=entry.first, passing=passing, machine=machine
    )


_SLOT_NAMED = re.compile(r"(?:Error from|execution point) ([\w.@-]{1,200}[\w-])")


def _slot(held: Held) -> str | None:
    """The slot that the reason names, else the one that it ran in last."""
    named = _SLOT_NAMED.search(held.reason[:READ])
    return named[1] if named and named[1] not in ("starter", "slot", "shadow") else held.slot


RESOURCE_CODES = (3, 21, 26, 34)
"""Hold codes of starters, start daemons and policies that hold jobs for what they use."""
_SUBCODES = {(34, 102): "memory", (21, 102): "memory",
             (34, 104): "disk", (21, 103): "disk", (21, 104): "disk"}  # fmt: skip
"""What sub-codes stand for at pools that follow HTCondor's own configuration."""
_RESOURCES = {"memory": MEMORY, "disk": DISK, "cpu": CPUS}


def _by_subcode(held: Held, found: Found) -> Fix | None:
    kind = _SUBCODES.get((held.code or 0, held.subcode or 0))
    return None if kind is None or found else _MORE[kind](held)


def _resource(held: Held, entry: Entry, found: Found) -> Fix:
    """What to ask for where the job was held for using too much of a resource, or too little.

    The words of the reason win over the sub-code, which pools give at will; where they name
    several, the one of the sub-code, else the one of which more was used than asked for.
    """
    if entry.ask == "less":
        return _less(held, entry.kind)
    kinds = {of.kind for of, _ in found if of.ask == "more"}
    by_code = _SUBCODES.get((held.code or 0, held.subcode or 0))
    if len(kinds) == 1:
        return _MORE[entry.kind](held)
    if by_code in kinds:
        return _MORE[by_code](held)
    known = {kind: held.known(_RESOURCES[kind]) for kind in kinds}
    over = [kind for kind, of in known.items() if of.used > of.limit > 0]
    if len(over) == 1:
        return _MORE[over[0]](held)
    requests = " or ".join(_RESOURCES[kind].command for kind in sorted(kinds))
    text = "ask for more of what it used more of than it asked for"
    return Fix(entry.kind, f"{text} ({requests}): the table in its log shows it", certain=False)


def _less(held: Held, kind: str) -> Fix:
    """Without a command: what it will use is not known from what it used so far."""
    if kind == "gpu":
        return Fix("gpu", "let it use the GPUs that it asks for, or ask for fewer (request_gpus)")
    of = _RESOURCES[kind]
    known, less = held.known(of), "less" if of.size else "fewer"
    had = f" than the {of.amount(known.limit)} it had" if known.limit else ""
    used = f"; it was seen to use {of.amount(known.used)}" if known.used else ""
    room = "with room above what it uses at its peak"
    return Fix(kind, f"ask for {less} {of.plural}{had}, {room}{used}")


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
    used = _CPUS_USED.search(held.reason[:READ])
    # Some policies write the use in percent of one CPU.
    named = float(used[1]) / (100.0 if used[2] else 1.0) if used else 0.0
    fix = _ask_for(held, CPUS, max(named, held.known(CPUS).used), 1, named)
    threads = "limit its threads to the CPUs that it asks for (OMP_NUM_THREADS), or "
    return replace(fix, text=threads + fix.text)


_MORE: Mapping[str, Callable[[Held], Fix]] = {
    "memory": _ask_for_memory, "disk": _ask_for_disk, "cpu": _ask_for_cpus,
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
        than = f"the {of.amount(used)} it used" if used else "it used"
        unread = bare_number(held.reason, of.name) if of.size else None
        quoted = f"; its reason says {unread}, without a unit" if unread else ""
        return Fix(
            of.name.lower(),
            f"ask for more {of.plural} ({of.command}) than {than}{quoted}",
            first=True,
        )
    amount = proposed(wanted, had=had, used=used, most=most, step=step)
    if amount is None:
        least = of.amount(max(used, *had))
        text = f"no slot known has more {of.plural} than the {least} it used or was allowed"
        return Fix(of.kind, f"{text}: let it use less", first=True)
    seen = "it used" if used >= known.limit else "it was last seen to use"
    because = [
        f"{seen} {of.amount(used)}" if used else "",
        f"{'was' if used else 'it was'} allowed {of.amount(known.limit)}",
        "no slot known has more" if amount == most else "",
    ]
    text = f"set {of.request} to {of.amount(amount)} ({' and '.join(filter(None, because))})"
    return Fix(of.kind, text, edit=(of.request, amount), first=True)


_EXIT_FIXES: Mapping[int, Fix] = {
    126: Fix("permission", "a command that it calls cannot be executed where it ran: make it "
             "executable (chmod +x), and built for that machine", certain=False),
    127: Fix("software", "a command that it calls is not found where it ran: call it by its "
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
        return Fix("crash", f"{crash}: {how}", first=True)
    known = held.known(MEMORY)
    # Killed from outside: for its memory, if it had come near what it asked for.
    if code in _MEMORY_EXITS or (signal == 9 and known.used >= 0.8 * known.limit > 0):
        return replace(_ask_for_memory(held), certain=False, first=False)
    return _EXIT_FIXES.get(code or 0)
