"""What is submitted and what breaks, and when: the same for every arm, made of a seed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random

__all__ = ["OWNERS", "REGIMES", "SITES", "Outage", "Schedule", "Submission", "plan"]

SITES = ("ALDER", "BIRCH", "CEDAR", "HAZEL")
ORIGINS = ("amber", "basalt", "coral", "ember", "flint", "garnet")
OWNERS = ("alice", "bob", "games", "news")
"""Users that the root of the test bed has."""

_LAST_SUBMISSION = 0.65  # of the run
_FIXABLE = 0.8
_MEMORY_MB = 64


@dataclass(frozen=True)
class Regime:
    """How often what goes wrong.

    Attributes:
        causes: weight of each cause among submissions.
        up, down: mean seconds that an origin, or the network of a site, works and does not.
    """

    causes: Mapping[str, float]
    up: float
    down: float


_BUGS = ("bug", "memory", "runtime", "input", "interpreter", "output")
REGIMES: Mapping[str, Regime] = {
    "mixed": Regime({"none": 11, "flaky": 4, "bug": 2} | dict.fromkeys(_BUGS[1:], 1.0), 250, 50),
    "outages": Regime({"none": 16, "flaky": 3, "bug": 1} | dict.fromkeys(_BUGS[1:], 0.4), 130, 50),
    "bugs": Regime({"none": 6, "flaky": 5, "bug": 4} | dict.fromkeys(_BUGS[1:], 1.5), 500, 40),
}


@dataclass(frozen=True)
class Submission:
    """One cluster of like jobs.

    Attributes:
        at: seconds since the start.
        name: of its program; unique.
        origin: that its input comes from.
        count: of its jobs.
        seconds: that a job runs.
        cause: why it fails apart from outages; ``none`` for a sound one.
        share: of the starts that fail, for ``flaky``.
        code: that a failing program exits with.
        fixable: whether its owner finds the bug when asked to.
    """

    at: float
    owner: str
    name: str
    origin: str
    count: int
    seconds: int
    cause: str
    share: float
    code: int
    fixable: bool

    @property
    def recoverable(self) -> bool:
        """Whether its jobs can succeed at all; more memory needs no owner."""
        return self.fixable or self.cause in ("none", "flaky", "memory")

    def program(self, *, fixed: bool = False) -> str:
        """Its script; a flaky start fails by job and number of the start, alike in every arm."""
        broken = "" if fixed else self.cause
        shell = "/cvmfs/soft/bin/runner" if broken == "interpreter" else "/bin/sh"
        lines = [f"#!{shell}", f"sleep {self.seconds}"]
        if broken == "bug":
            lines.append(f"exit {self.code}")
        elif self.cause == "memory":
            hungry = f"import time; x = b'x' * {2 * _MEMORY_MB << 20}; time.sleep(8)"
            lines[1] = f'/usr/bin/python3 -c "{hungry}"'
        elif self.cause == "flaky":
            lines += [
                """n=$(sed -n 's/^NumJobStarts = //p' "$_CONDOR_JOB_AD")""",
                f'draw=$(echo "{self.name} $1 $n" | cksum | cut -d" " -f1)',
                f"[ $((draw % 100)) -ge {self.share * 100:.0f} ] || exit {self.code}",
            ]
        elif self.cause == "output" and fixed:
            lines.append("echo done > result.dat")
        return "\n".join([*lines, "exit 0", ""])

    def commands(self, work: Path) -> dict[str, object]:
        """Its submit commands; `work` is the folder of its files."""
        files = [f"testbed://{self.origin}/{self.name}/$(Process)"]
        files += [str(work / f"{self.name}.txt")] if self.cause == "input" else []
        named = {"transfer_output_files": "result.dat"} if self.cause == "output" else {}
        limit = {"My.MaxSeconds": self.seconds // 2} if self.cause == "runtime" else {}
        return {
            "executable": work / f"{self.name}.sh", "arguments": "$(Process)",
            "transfer_input_files": ", ".join(files), "skip_filechecks": "true",
            "should_transfer_files": "YES", "when_to_transfer_output": "ON_EXIT",
            "request_cpus": 1, "request_memory": _MEMORY_MB, "request_disk": "1MB",
            "on_exit_hold": "ExitCode =!= 0", "on_exit_hold_subcode": 1,
            "on_exit_hold_reason": 'strcat("job exited with code ", ExitCode)',
        } | named | limit  # fmt: skip


@dataclass(frozen=True)
class Outage:
    """Transfers of an origin at all sites (`site` any), or of all origins at a site, that fail.

    An outage of a site takes precedence over one of an origin, also where it is milder.

    Attributes:
        begin, end: seconds since the start.
        share: of transfers that fail.
        delay: seconds that a transfer takes then.
    """

    site: str
    origin: str
    begin: float
    end: float
    share: float
    status: int
    message: str
    delay: float


@dataclass(frozen=True)
class Schedule:
    """All that is planted. Only the stage and the accounting know it, never the arms."""

    seed: int
    regime: str
    seconds: float
    submissions: tuple[Submission, ...]
    outages: tuple[Outage, ...]

    def write(self, path: Path) -> None:
        """The planted truth, as JSON."""
        path.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")


def plan(seed: int, regime: str, *, jobs: int, seconds: float, most: int = 8) -> Schedule:
    """The schedule of a seed.

    Args:
        seed: of all that is drawn.
        regime: how often what goes wrong.
        jobs: of all submissions.
        seconds: length of the run.
        most: jobs of one submission.
    """
    random = Random(f"{regime} {seed}")
    submissions: list[Submission] = []
    while jobs > 0:
        count = min(jobs, random.randint(1, most))
        submissions.append(_submission(random, REGIMES[regime], len(submissions), count, seconds))
        jobs -= count
    places = [("any", origin) for origin in ORIGINS] + [(site, "any") for site in SITES]
    outages = [one for place in places for one in _outages(random, place, regime, seconds)]
    return Schedule(
        seed, regime, seconds,
        tuple(sorted(submissions, key=lambda one: one.at)),
        tuple(sorted(outages, key=lambda one: one.begin)),
    )  # fmt: skip


def _submission(
    random: Random, regime: Regime, number: int, count: int, seconds: float
) -> Submission:
    cause = random.choices(list(regime.causes), list(regime.causes.values()))[0]
    program = random.choice(("reco", "sim", "merge", "fit"))
    return Submission(
        at=random.uniform(0.0, _LAST_SUBMISSION * seconds),
        owner=random.choice(OWNERS),
        name=f"{program}{number}-v1",
        origin=random.choice(ORIGINS),
        count=count,
        seconds=10 if cause == "runtime" else random.randint(3, 12),
        cause=cause,
        share=round(random.uniform(0.2, 0.8), 2),
        code=random.choice((1, 2, 3, 139) if cause == "bug" else (1, 2, 3)),
        fixable=random.random() < _FIXABLE,
    )


def _outages(random: Random, place: tuple[str, str], regime: str, seconds: float) -> list[Outage]:
    """Of one place, one after the other; lengths are heavy-tailed."""
    site, origin = place
    found: list[Outage] = []
    means = REGIMES[regime]
    now = random.expovariate(1.0 / means.up)
    while now < seconds:
        end = now + random.lognormvariate(0.0, 0.8) * 0.73 * means.down
        share = random.choice((1.0, 1.0, 0.7, 0.4))
        if site == "any":
            text = f"could not connect to {origin}: operation timed out"
            found.append(Outage(site, origin, now, end, share, 3, text, 3.0))
        else:
            text = f"could not reach cache from {site}: connection reset by peer"
            found.append(Outage(site, origin, now, end, share, 7, text, 1.0))
        now = end + random.expovariate(1.0 / means.up)
    return found
