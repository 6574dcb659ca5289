"""A small made-up pool for tests: its jobs, outages, and what its owners do about holds.

Two transfer origins have outages; one owner's programs are broken for good; one owner's jobs ask
for too little memory. Everybody releases what is held after a while, some while the outage lasts;
whoever failed four times removes the job. The same seed gives the same events.
"""

import heapq
from functools import lru_cache
from typing import Any

import numpy as np
import polars as pl
import pytest

from jobsight.history.timelines import History
from jobsight.learning.audit import Audit, audit, leaks
from jobsight.learning.dataset import Dataset
from jobsight.learning.train import Trained, train
from jobsight.questions.hold.question import HOLD
from jobsight.questions.hold.settings import HoldSettings
from tests.support.fewtrees import few_trees
from tests.support.histories import table
from tests.support.once import once

SITES = ("mwt2", "ucsd", "purdue")
ORIGINS = ("http://alpha.edu", "http://beta.edu")
OWNERS = ("ann", "bob", "cho", "dee", "eve")
QUICK = ("constant", "rules:ospool", "rates", "boosted")
SECONDS_A_CLUSTER = 40
OUTAGE, BETWEEN = 240, 900

Row = dict[str, Any]


def settings(**changed: Any) -> HoldSettings:
    """Settings that are quick to train with."""
    small = {"bootstrap": 200, "frames": {"m": 6, "j": 3}, "lstm": {"epochs": 5, "hidden_size": 8}}
    return HoldSettings.model_validate(small | changed)


def events(clusters: int = 260, seed: int = 1) -> pl.DataFrame:
    """The event table of a pool that runs this many clusters, one every 40 s."""
    return table(_Pool(clusters, seed).run())


@lru_cache(maxsize=4)
def history(clusters: int = 260, seed: int = 1) -> History:
    """The same, indexed."""
    return History.from_table(events(clusters, seed))


def grown() -> History:
    """The usual pool's log, with some of the day after behind it."""
    first, more = history().table, history(clusters=60, seed=5).table
    more = more.with_columns(pl.col("time") + pl.duration(days=1), pl.col("cluster") + 10_000)
    return History.from_table(pl.concat([first, more]))


@lru_cache(maxsize=1)
def trained() -> Trained:
    """Quick models of the usual pool."""
    data = Dataset.for_training
    with few_trees(most=60):
        return once("trained", lambda: train(data(HOLD, history(), settings()), names=QUICK))


@lru_cache(maxsize=1)
def audited() -> Audit:
    """The audit of these models on their own log."""
    with few_trees(most=60), pytest.MonkeyPatch.context() as patch:
        patch.setattr(leaks, "PROVED", 30)
        return once("audited", lambda: audit(trained().model, history()))


class _Pool:
    def __init__(self, clusters: int, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.rows: list[Row] = []
        self.queue: list[tuple[float, int, str, tuple[int, int, int]]] = []
        self.pending: dict[tuple[int, int, int], Row] = {}
        self.turn = 0
        for cluster in range(1, clusters + 1):
            for proc in range(int(self.random.integers(1, 5))):
                self.plan(cluster * SECONDS_A_CLUSTER + proc, "submit", (cluster, proc, 0))

    def plan(self, at: float, what: str, job: tuple[int, int, int]) -> None:
        self.turn += 1
        heapq.heappush(self.queue, (at, self.turn, what, job))

    def run(self) -> list[Row]:
        while self.queue:
            at, _, what, job = heapq.heappop(self.queue)
            getattr(self, what)(at, job)
        return self.rows

    def write(self, at: float, job: tuple[int, int, int], code: int, **told: Any) -> None:
        cluster, proc, _ = job
        row = {"at": at, "cluster": cluster, "proc": proc, "code": code}
        self.rows.append(row | {"owner": OWNERS[cluster % len(OWNERS)]} | told)

    def submit(self, at: float, job: tuple[int, int, int]) -> None:
        self.write(at, job, 0)
        self.plan(at + self.random.uniform(2, 8), "start", job)

    def start(self, at: float, job: tuple[int, int, int]) -> None:
        site = SITES[int(self.random.integers(len(SITES)))]
        slot = f"slot1_1@{site}@vm"
        self.write(at, job, 1, slot=slot, host=site)
        trouble = self.trouble(at, job[0])
        if trouble is None:
            self.plan(at + self.random.uniform(10, 30), "end", job)
        else:
            code, subcode, reason = trouble
            told = {"hold_code": code, "hold_subcode": subcode, "reason": reason.format(slot=slot)}
            self.pending[job] = told
            self.plan(at + self.random.uniform(3, 10), "hold", job)

    def trouble(self, at: float, cluster: int) -> tuple[int, int, str] | None:
        owner, origin = cluster % len(OWNERS), cluster % len(ORIGINS)
        if owner == 3:
            return 3, 1, "job exited with code 1"
        if owner == 4 and self.random.random() < 0.5:
            return 26, 34, "memory usage 900 MB exceeded request_memory 800 MB"
        if (at + origin * 400) % BETWEEN < OUTAGE:
            return (
                13, 256, "Transfer input files failure at execution point {slot} using protocol "
                f"http. Details: could not connect to {ORIGINS[origin]}/data/1 ",
            )  # fmt: skip
        return None

    def hold(self, at: float, job: tuple[int, int, int]) -> None:
        self.write(at, job, 12, **self.pending.pop(job))
        cluster, proc, failed = job
        after = at + float(self.random.choice([20, 45, 90, 180], p=[0.3, 0.3, 0.2, 0.2]))
        self.plan(after, "give_up" if failed == 3 else "release", (cluster, proc, failed + 1))

    def release(self, at: float, job: tuple[int, int, int]) -> None:
        self.write(at, job, 13, reason="via condor_release (by user x)")
        self.plan(at + self.random.uniform(2, 6), "start", job)

    def give_up(self, at: float, job: tuple[int, int, int]) -> None:
        self.write(at, job, 9, reason="via condor_rm (by user x)")

    def end(self, at: float, job: tuple[int, int, int]) -> None:
        self.write(at, job, 5, return_value=0)
