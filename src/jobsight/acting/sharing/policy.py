"""The placement policy: tokens by user and job name, for Slurm and HTCondor.

Slurm's is the file that ``jobsight-submit.lua`` follows (`jobsight.acting.slurm.policy`).
HTCondor's is a map file, which the transforms of ``92-jobsight-sharing.conf`` ask by userMap():
lines of ``* KEY VALUE``, where KEY is ``TOKEN/user/name`` with ``#`` for each number in the name,
and one of the date (seconds since 1970). A schedd reads it when it is reconfigured. Both expire
after 24 hours. Only enforce gives tokens.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from jobsight.acting.condor.installing import SHARING_MAP
from jobsight.acting.edits import Edits
from jobsight.acting.sharing.slowdown import Matrix
from jobsight.acting.sharing.vectors import RESOURCES, Key, Kind, Node, vectors
from jobsight.acting.slurm import policy as slurm_policy
from jobsight.answering.session import AnswerSession
from jobsight.clock import now_micros
from jobsight.documents import JobDocument
from jobsight.errors import OutputError, SourceError
from jobsight.files import write_shared
from jobsight.history.condor.client import CondorClient
from jobsight.history.slurm.client import SlurmClient
from jobsight.questions.bound.answering import BOUND_ANSWERS, Answer
from jobsight.settings import ActingSettings, Settings
from jobsight.store import Store
from jobsight.store.packing import cluster_of

__all__ = [
    "Found",
    "found_in",
    "map_file",
    "map_text",
    "matrix_of",
    "publish",
    "said_by",
    "withdraw",
]

Found = Mapping[Key, Kind]
_NEWEST = 100_000
"""Jobs of the store that are looked at."""
_RECONFIG_S = 3600
"""Between two reconfigurations of a schedd."""
_OLD_S = 86400 / 2
"""A policy of that age is written again though nothing has changed."""
_PLAIN = re.compile(r"(?![*#/])[!#-\[\]-~]+/[!#-\[\]-~]+")
"""Printable, without quotes and backslashes."""
_CONDOR = ("membw", "diskbw", "netbw")
_SHOWN = 1000
"""Kinds of job of which the decision log has the tokens."""


def matrix_of(settings: ActingSettings) -> Matrix:
    """The measured slowdowns of the cluster's nodes.

    Raises:
        SourceError: none were measured yet.
    """
    path = settings.folder / "sharing.json"
    if not path.exists():
        raise SourceError(
            f"{path} is missing: run `jobsight share measure --output {path}` on a node of the "
            "cluster while nothing else runs there"
        )
    return Matrix.read(path)


def found_in(store: Store, node: Node, settings: Settings) -> dict[Key, Kind]:
    """The vectors of the kinds of job of which the store's newest jobs are."""
    session = AnswerSession(BOUND_ANSWERS, None, now_micros(), settings)

    def judge(document: JobDocument) -> tuple[Mapping[str, float], str] | None:
        if document.submission.script is None:
            return None
        answer = session.answerer(cluster_of(document.id)).of_document(document)
        shares = said_by(answer)
        return None if shares is None else (shares, answer.model)

    return vectors(store.scan(newest_first=True, limit=_NEWEST), node, judge)


def said_by(answer: Answer) -> dict[str, float] | None:
    """The shares of time, by class, for which a program gets tokens; None: it gets none.

    Only what binds it, for as much as that is sure: the shares that a model predicts are means over
    programs like it, and those of a program that writes all the time have half of it on a CPU.
    """
    if not answer.is_job or answer.kind not in RESOURCES.values():
        return None
    most = max(answer.shares[answer.kind], answer.confidence)
    return {"cpu": 0.0, answer.kind: most}


def map_file(settings: ActingSettings) -> Path:
    """Where HTCondor's map is."""
    return settings.folder / SHARING_MAP


def map_text(found: Found, now: float) -> str:
    """The map; jobs whose names it cannot hold are left out."""
    return "".join([f"* date {int(now)}\n", *_lines(found)])


def _lines(found: Found) -> Iterator[str]:
    for key, kind in list(found.items())[: slurm_policy.MOST_RULES]:
        name = f"{key.user}/{key.name}"
        if _PLAIN.fullmatch(name):
            for token, count in kind.tokens().items():
                if token in _CONDOR:
                    yield f"* {token}/{name} {count}\n"


def publish(found: Found, settings: Settings) -> str:
    """Write the policy of the schedulers that this machine has; what was done, in a line.

    Raises:
        OutputError: the policy or the decision log cannot be written.
        SourceError: the schedd cannot be reconfigured: it reads the map at its next one.
    """
    acting = settings.acting
    tokens = {key: given for key, kind in found.items() if (given := kind.tokens())}
    names = list[str]()

    def write() -> int:
        if SlurmClient(settings.slurm).has("scontrol"):
            rules: dict[tuple[str, str], slurm_policy.Rule] = {
                key: slurm_policy.Rule(given) for key, given in tokens.items()
            }
            slurm_policy.write(acting, rules)
            names.append("Slurm")
        condor = CondorClient(settings.condor)
        if acting.mode == "enforce" and condor.has("condor_reconfig"):
            if _write_map(map_file(acting), map_text(found, time.time())):
                _reconfigure(condor, map_file(acting))
            names.append("HTCondor")
        elif map_file(acting).exists():
            _withdraw_map(condor, map_file(acting))
        return len(names)

    shown = [[*key, given, found[key].why] for key, given in list(tokens.items())[:_SHOWN]]
    fields = {"sharing": {"rules": len(tokens), "tokens": shown}}
    refused = Edits(acting).make(write, fields, int(time.time()))
    if isinstance(refused, str):
        return f"no policy is written: {refused}"
    where = " and ".join(names) or "no scheduler"
    return f"{acting.mode}: tokens for {len(tokens):,} kinds of job, written for {where}"


def _write_map(path: Path, text: str) -> bool:
    """Write the map where it differs, at most hourly, or is old; whether it was written."""
    try:
        before, age = path.read_text("utf-8"), time.time() - path.stat().st_mtime
    except (OSError, ValueError):
        before, age = "", float("inf")
    same = before.partition("\n")[2] == text.partition("\n")[2]
    if age < (_OLD_S if same else _RECONFIG_S):
        return False
    write_shared(path, text)
    return True


def withdraw(settings: Settings) -> bool:
    """Remove what was published; whether there was any.

    Raises:
        OutputError: it cannot be removed.
        SourceError: the schedd cannot be reconfigured: it follows the map until that is a day old.
    """
    path = map_file(settings.acting)
    slurm, condor = slurm_policy.withdraw(settings.acting), path.exists()
    if condor:
        _withdraw_map(CondorClient(settings.condor), path)
    return slurm or condor


def _withdraw_map(client: CondorClient, path: Path) -> None:
    """Remove the map once the schedd follows one without tokens."""
    try:
        path.write_text("* date 0\n", "utf-8")
        # A schedd reads a map again only if it is of another second.
        os.utime(path, (0, time.time() - 1 - _RECONFIG_S))
        client.reconfigure()
        path.unlink()
    except OSError as error:
        raise OutputError(f"cannot remove {path}: {error.strerror}") from None


def _reconfigure(client: CondorClient, path: Path) -> None:
    """Have the schedd read the map; where that fails, the map is written again next time."""
    try:
        client.reconfigure()
    except SourceError:
        path.write_text("", "utf-8")
        os.utime(path, (0, 0))
        raise
