"""Who decides about held jobs, and the bot that carries it out with HTCondor's own commands."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

__all__ = [
    "Bot", "Command", "Decision", "Policy", "always_release", "answers", "answers_in_ads",
    "ask_people", "habits", "read_answer",
]  # fmt: skip

Ad = dict[str, Any]
Command = tuple[str, ...]
_TOOLS = ("condor_qedit", "condor_release", "condor_rm")
_LATER = re.compile(r'echo "([^"]+)" \| TZ=UTC at -t \d{12}')

EXPLORED = 0.1
"""Share of the decisions to release or to wait that are turned into the other."""
EXPLORED_WAIT = 20.0
DELAY = 10.0
"""Seconds until the simple arms release."""
MOST = 5
"""Releases of one job by the simple arms."""
REMOVED_AFTER = 20.0
"""Seconds until the rule set removes: CRAB's seven minutes, in the time scale of the trial."""
OWNER_TAKES = 40.0
"""Seconds from a message to a person until it is acted on."""
ASK_AGAIN = 15.0
"""Seconds until a job that got no decision is asked about again: an answer takes a while."""


@dataclass(frozen=True)
class Decision:
    """What is to be done about a held job.

    Attributes:
        verb: release, wait, fix, remove, unsure, or leave.
        wait: seconds before the commands are run.
        commands: to run in order.
        person: whether a person is needed first, by message.
        probability: of success, if something predicted it.
    """

    verb: str
    wait: float = 0.0
    commands: tuple[Command, ...] = ()
    person: bool = False
    probability: float | None = None

    def concerns(self, job: str) -> bool:
        """Whether it is about this job, not a trial release of others that are held alike."""
        return not self.commands or job in self.commands[-1]


Policy = Callable[[Sequence[Ad]], dict[str, Decision]]
"""From the ads of held jobs to decisions by job id; a job left out is asked about again."""


def job_id(ad: Ad) -> str:
    """`12.3`."""
    return f"{ad['ClusterId']}.{ad['ProcId']}"


def read_answer(answer: dict[str, Any]) -> Decision:
    """What an answer of `jobsight hold --json` asks to be done, by the commands of its steps.

    A first step without a command, or with one that only looks, is a person's; an answer that gives
    no other is passed on to a person who then releases the job.

    Raises:
        ValueError: a command that the bot must not run.
    """
    verb = answer["answer"]
    steps = answer["advice"]["steps"]
    given = [step["command"] or "" for step in steps]
    acting = [text for text in given if text and not text.startswith("condor_q ")]
    commands = [_command(_LATER.sub(r"\1", text)) for text in acting]
    person = given[0] not in acting
    if person and not commands:
        commands = [("condor_release", answer["job"])]
    wait = answer["at_best"]["wait"] if verb == "wait" else 0.0
    return Decision(verb, wait, tuple(commands), person, answer["probability"])


def _command(text: str) -> Command:
    command = tuple(shlex.split(text))
    if command[0] not in _TOOLS:
        raise ValueError(f"not a command for the bot: {text}")
    return command


def answers(log: Path, model: str, *, rule_set: str | None = None) -> Policy:
    """Decisions by `jobsight hold` as of now; or those of a rule set that the answers name."""
    releases: Counter[str] = Counter()

    def ruled(answer: dict[str, Any]) -> Decision:
        named = next(one for one in answer["evidence"] if one["what"] == "rules")
        if named["verdicts"][rule_set] == "remove":
            return Decision("remove", REMOVED_AFTER, (("condor_rm", answer["job"]),))
        return _bounded_release(answer["job"], releases)

    def decide(held: Sequence[Ad]) -> dict[str, Decision]:
        moment = time.strftime("%Y-%m-%d %H:%M:%SZ", time.gmtime(time.time() + 1))
        command = [sys.executable, "-m", "jobsight", "hold", "--each", "--json"]
        command += ["--log", str(log), "--model", model, "--at", moment]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        wanted = set(map(job_id, held))
        found = [one for one in json.loads(done.stdout) if one["job"] in wanted]
        return {one["job"]: ruled(one) if rule_set else read_answer(one) for one in found}

    return decide


def _bounded_release(job: str, releases: Counter[str], most: int = MOST) -> Decision:
    if releases[job] == most:
        return Decision("leave")
    releases[job] += 1
    return Decision("release", DELAY, (("condor_release", job),))


def always_release(most: int = MOST) -> Policy:
    """Each job is released after `DELAY`, at most so many times."""
    releases: Counter[str] = Counter()
    return lambda held: {job_id(ad): _bounded_release(job_id(ad), releases, most) for ad in held}


def ask_people() -> Policy:
    """A person is asked about each hold, whatever its cause."""
    return lambda held: {
        (job := job_id(ad)): Decision("ask", 0.0, (("condor_release", job),), person=True)
        for ad in held
    }


def answers_in_ads() -> Policy:
    """A person is asked where the answer in the ad is not for HTCondor's policy to act on.

    That is to fix, or unsure. The others are asked about again, as their answers change.
    """

    def decide(held: Sequence[Ad]) -> dict[str, Decision]:
        return {
            (job := job_id(ad)): Decision(
                ad["JobsightVerb"], 0.0, (("condor_release", job),), person=True
            )
            for ad in held
            if ad.get("JobsightAsOf", 0) > ad["EnteredCurrentStatus"]
            and ad["JobsightVerb"] in ("fix", "unsure")
        }

    return decide


def habits(random: Random) -> Policy:
    """As owners do, for a history to learn from: release sooner or later, fix, or give up."""

    def one(job: str) -> Decision:
        person, wait = random.random() < 0.1, min(random.expovariate(1 / 25), 90.0)
        if random.random() < 0.08:
            return Decision("leave")
        return Decision("habit", wait, (("condor_release", job),), person)

    return lambda held: {job_id(ad): one(job_id(ad)) for ad in held}


@dataclass
class Bot:
    """Asks a policy about held jobs and runs its commands. Used by one thread.

    Attributes:
        policy: decides.
        run: runs a command in the pool.
        fix: what a person does about a cluster when asked; whether the job is to be released.
        log: gets a line of JSON for each decision.
        random: for what is explored.
        messages: to persons, one for each cluster and cause at a time.
        ask_again: seconds until a job that got no decision is asked about again.
    """

    policy: Policy
    run: Callable[[Command], object]
    fix: Callable[[int], bool]
    log: Path
    random: Random
    messages: int = 0
    ask_again: float = ASK_AGAIN
    _decided: set[tuple[str, int]] = field(default_factory=set)
    _rests: dict[tuple[str, int], float] = field(default_factory=dict)
    _due: list[tuple[float, tuple[str, int], Decision]] = field(default_factory=list)
    _asked: dict[tuple[int, int, int], float] = field(default_factory=dict)

    def round(self, now: float, held: Sequence[Ad]) -> None:
        """Decide about what is newly held, and do what is due.

        Args:
            now: seconds.
            held: ads of all jobs that are held.
        """
        keys = {(job_id(ad), int(ad["EnteredCurrentStatus"])): ad for ad in held}
        new = {
            key: ad
            for key, ad in keys.items()
            if key not in self._decided and self._rests.get(key, now) <= now
        }
        decisions = self.policy(list(new.values())) if new else {}
        for key, ad in new.items():
            decision = decisions.get(key[0])
            if decision is None or not decision.concerns(key[0]):
                self._rests[key] = now + self.ask_again
                continue
            self._decided.add(key)
            self._plan(now, key, ad, decision)
        self._act(now, set(keys))

    def idle(self, held: Sequence[Ad]) -> bool:
        """Whether nothing will be done any more unless another job is held."""
        keys = {(job_id(ad), int(ad["EnteredCurrentStatus"])) for ad in held}
        return not self._due and keys <= self._decided

    def _plan(self, now: float, key: tuple[str, int], ad: Ad, decision: Decision) -> None:
        wait, flipped = decision.wait, False
        if decision.verb in ("release", "wait"):
            flipped = self.random.random() < EXPLORED
            if flipped:
                wait = 0.0 if decision.verb == "wait" else wait + EXPLORED_WAIT
        if decision.person:
            wait = max(wait, self._message(now, ad) - now)
        self._due.append((now + wait, key, decision))
        explorable = decision.verb in ("release", "wait")
        row = {
            "t": round(now, 2), "job": key[0], "held_since": key[1],
            "code": ad["HoldReasonCode"], "subcode": ad["HoldReasonSubCode"],
            "verb": decision.verb, "wait": round(decision.wait, 2), "waits": round(wait, 2),
            "explored": flipped,
            "propensity": (EXPLORED if flipped else 1 - EXPLORED) if explorable else 1.0,
            "probability": decision.probability, "person": decision.person,
            "commands": [shlex.join(command) for command in decision.commands],
        }  # fmt: skip
        with self.log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")

    def _message(self, now: float, ad: Ad) -> float:
        """Ask a person, unless one is at it; when it is acted on."""
        about = (ad["ClusterId"], ad["HoldReasonCode"], ad["HoldReasonSubCode"])
        if self._asked.get(about, now) <= now:
            self.messages += 1
            self._asked[about] = now + OWNER_TAKES
        return self._asked[about]

    def _act(self, now: float, held: set[tuple[str, int]]) -> None:
        due = [one for one in self._due if one[0] <= now]
        self._due = [one for one in self._due if one[0] > now]
        for _, key, decision in due:
            if key not in held:
                continue
            if decision.person and not self.fix(int(key[0].split(".")[0])):
                continue
            for command in decision.commands:
                self.run(_only(command, key[0]))


def _only(command: Command, job: str) -> Command:
    """The command for this job alone: others of a trial release have decisions of their own."""
    return tuple(word for word in command if word == job or not re.fullmatch(r"\d+\.\d+", word))
