"""The policies of a job and of its access point: which one held it, and what it does at a release.

A released job waits (JobStatus 1), then runs (2); counters of starts have grown by one then, and
what is counted from the change of its status begins anew. All other attributes stay as they were:
an expression that held the job and names none that changes holds it again at once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from jobsight.history.condor.expressions import evaluated, names_in
from jobsight.text import printable, wordset

__all__ = ["JOB_POLICY", "Policy", "ahead", "policy_of"]

JOB_POLICY = 3
"""The hold code of PeriodicHold and OnExitHold."""

_NAMED = re.compile(
    r"The (job attribute|system macro) (\w{0,20}(?:Periodic|On_?Exit)_?Hold\w{0,40}) expression "
    r"'(.{1,3000})' evaluated to TRUE",
    re.IGNORECASE | re.ASCII,
)
_ON_EXIT = re.compile(r"(?i)on_?exit")
_STARTS = wordset("numjobstarts numshadowstarts jobruncount")
_SINCE = wordset("enteredcurrentstatus jobcurrentstartdate jobcurrentstartexecutingdate shadowbday")
_NEVER = ("false", "undefined")
_RELEASED_AT = 10.0**9
"""Any moment in seconds: only the time since it counts."""

When = Literal["at once", "at exit", "later", "idle", "no longer", "unknown"]
_AGAIN: Mapping[When, str] = {
    "at once": "is still true of it, and would hold it again at once",
    "at exit": "holds it again at each such exit",
    "later": "holds it again once it has run for as long",
    "idle": "holds it again if it waits in the queue for as long",
    "no longer": "is no longer true of it, and would not hold it at once",
    "unknown": "holds it again whenever it is true",
}


@dataclass(frozen=True)
class Policy:
    """A policy expression that holds or removes jobs.

    Attributes:
        name: of the job attribute, or of the system macro in capitals.
        text: the expression; None where only its value is known.
        when: it holds the job again after a release: ``at once`` (it is true then, or at the next
            start), ``at exit`` if the program ends as before, ``later`` in a run as long as the
            last, ``idle`` if it waits as long as before, ``no longer``, or ``unknown``.
    """

    name: str
    text: str | None
    when: When

    @property
    def own(self) -> bool:
        """Whether it is the job's, so that its user may change it."""
        return not self.name.isupper()

    @property
    def again(self) -> str:
        """When it holds the job again, in words."""
        return _AGAIN[self.when]

    @property
    def holds_again(self) -> bool | None:
        """Whether it holds the job again; None where that depends on the next run."""
        return {"at once": True, "no longer": False}.get(self.when)

    @cached_property
    def names(self) -> frozenset[str]:
        """The attributes that the expression names, in lower case."""
        return frozenset() if self.text is None else names_in(self.text)

    @property
    def shown(self) -> str:
        """Whose it is, its name and its expression, to print."""
        whose = "its own policy" if self.own else "the policy of its access point"
        expression = "" if self.text is None else f" ({printable(self.text, 160)})"
        return f"{whose} {printable(self.name, 80)}{expression}"


def policy_of(
    code: int | None, reason: str, ad: Mapping[str, Any], *, fresh: bool
) -> Policy | None:
    """The policy that held a job; None if none did, or it is not known which.

    Args:
        code: of the hold.
        reason: of the hold (hostile text).
        ad: attributes of the job; expressions as texts, or, in a 028, as their values.
        fresh: the ad is not older than the hold.
    """
    named = _NAMED.search(reason[:4000])
    if named:
        own = "OnExitHold" if _ON_EXIT.search(named[2]) else "PeriodicHold"
        if named[1].lower() == "job attribute":
            return _since_edited(own, named[3], ad, fresh=fresh)
        return _policy(named[2].upper(), named[3], ad, fresh=fresh)
    if code != JOB_POLICY:
        return None
    hold, on_exit = _value(ad, "PeriodicHold"), _value(ad, "OnExitHold")
    if on_exit is not None and (hold is None or (fresh and _is_true(on_exit, _lower(ad)))):
        return _policy("OnExitHold", on_exit, ad, fresh=fresh)
    # Of two values from before the hold neither shows which of the two it was.
    unclear = hold is False and on_exit is False and not fresh
    return None if hold is None or unclear else _policy("PeriodicHold", hold, ad, fresh=fresh)


def _since_edited(name: str, text: str, ad: Mapping[str, Any], *, fresh: bool) -> Policy:
    """The policy of a job whose reason names it, unless its user has changed it since."""
    now = ad.get(name)
    if not fresh or not isinstance(now, str) or now == text:
        return _policy(name, text, ad, fresh=fresh)
    if now.lower() in _NEVER or (name == "PeriodicHold" and _released(now, ad) is False):
        return Policy(name, now, "no longer")
    return _policy(name, now, ad, fresh=True)


def ahead(ad: Mapping[str, Any]) -> list[Policy]:
    """The job's own policies that would hold or remove it right after a release, or never let go.

    Args:
        ad: its attributes, not older than its hold.
    """
    found = []
    for name in ("PeriodicHold", "PeriodicRemove"):
        value = _value(ad, name)
        if value is True or (isinstance(value, str) and _released(value, ad)):
            found.append(Policy(name, value if isinstance(value, str) else None, "at once"))
    stays, well = ad.get("OnExitRemove"), {"exitcode": 0, "exitbysignal": False, "exitstatus": 0}
    # By its expression: its value is that of the exit before.
    if isinstance(stays, str) and evaluated(stays, _lower(ad) | well) is False:
        found.append(Policy("OnExitRemove", stays, "at exit"))
    return found


def _policy(name: str, value: str | bool, ad: Mapping[str, Any], *, fresh: bool) -> Policy:
    text = value if isinstance(value, str) else None
    if _ON_EXIT.search(name):
        return Policy(name, text, "at exit")
    if text is None:
        return Policy(name, None, "at once" if value and fresh else "unknown")
    return Policy(name, text, _when(text, ad if fresh else {}))


def _value(ad: Mapping[str, Any], name: str) -> str | bool | None:
    """A policy of an ad: its expression, or its value; None where it has none."""
    value = ad.get(name)
    if isinstance(value, str):
        return None if value.lower() in _NEVER else value
    return value if isinstance(value, bool) else None


def _is_true(value: str | bool, attributes: Mapping[str, Any]) -> bool:
    return value if isinstance(value, bool) else evaluated(value, attributes) is True


def _when(text: str, ad: Mapping[str, Any]) -> When:
    names = names_in(text)
    again = _released(text, ad, was_true=True)
    if again:
        return "at once"
    if names & _SINCE:
        # What is false of every running job counts its time in the queue.
        idle = evaluated(text, {"jobstatus": 2}, was_true=True) is False
        return "idle" if idle else "later"
    return "unknown" if again is None else "no longer"


def _released(text: str, ad: Mapping[str, Any], *, was_true: bool = False) -> bool | None:
    """Whether an expression is true of a job right after its release, or its next start."""
    attributes, since = _lower(ad), names_in(text) & _SINCE
    values = []
    for status in (1, 2):
        changed = _status(status)
        if not since:
            del changed["currenttime"]  # which only grows
        begun = {} if status == 1 else {one: attributes[one] + 1 for one in _STARTS & _counts(ad)}
        value = evaluated(text, attributes | changed | begun)
        if value is None and was_true:
            value = evaluated(text, changed, was_true=True)
        values.append(value)
    return True if True in values else False if values == [False, False] else None


def _status(status: int) -> dict[str, Any]:
    since = dict.fromkeys(_SINCE, _RELEASED_AT)
    return {"jobstatus": status, "lastjobstatus": 5, "currenttime": _RELEASED_AT} | since


def _counts(ad: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(name.lower() for name, value in ad.items() if type(value) is int)


def _lower(ad: Mapping[str, Any]) -> dict[str, Any]:
    return {name.lower(): value for name, value in ad.items()}
