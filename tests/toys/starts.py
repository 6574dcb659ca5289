"""What four toy questions share: each start of a job (001) is a decision, and a log to learn from.

A start's features are what its site did before: how many of its runs ended in which way, and how
long they took. `again` cuts the log at the start, so audits prove that nothing later is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from jobsight.history.timelines import History
from jobsight.learning.question import Builder, Decisions, Question, Stratum
from jobsight.models.base import Inputs
from jobsight.settings import QuestionSettings
from tests.support.logtext import record

START, ENDS = 1, (4, 5, 9, 12)
NAMES = {4: "evicted", 5: "terminated", 9: "removed", 12: "held"}


class ToySettings(QuestionSettings):
    """Settings of a toy question."""

    recent: int = 20
    """Runs of a site that count as recent."""
    bootstrap: int = 200


@dataclass(frozen=True)
class Scale:
    """Nothing is learned before the models but how long runs take."""

    seconds: float

    horizon_micros: ClassVar[int] = 0

    def to_json(self) -> dict[str, Any]:
        return {"seconds": self.seconds}


class Starts(Question[ToySettings]):
    """The decisions of all toy questions: starts, and the record that ends each run."""

    title: ClassVar[str] = "A toy question"
    settings = ToySettings
    models: ClassVar[tuple[str, ...]] = ("constant", "boosted")
    searched: ClassVar[tuple[str, ...]] = ("seed", "recent")
    key: ClassVar[pl.Expr] = pl.format("{}.{} {}", "cluster", "proc", "decided")
    strata: ClassVar[Mapping[str, Stratum]] = {"site": Stratum(pl.col("site"), "By site")}
    words: ClassVar[tuple[str, str, str]] = ("start", "starts", "came true")

    def outcome(self, runs: pl.DataFrame) -> pl.DataFrame:
        """The runs with the columns of the question's targets, null where unknown."""
        raise NotImplementedError

    def decisions(self, source: History, settings: ToySettings) -> Decisions:
        table = self.outcome(runs_of(source))
        clock = source.clock
        facts = {"events": len(source), "jobs": len(source.jobs)}
        return Decisions(table, int(clock.min()), int(clock.max()), facts=facts)

    def encoding(self, rows: pl.DataFrame, settings: ToySettings) -> Scale:
        spans = (rows["known_at"] - rows["decided"]).cast(pl.Float64).to_numpy()
        return Scale(float(np.median(spans)) / 1e6)

    def encoding_from(self, data: Mapping[str, Any]) -> Scale:
        return Scale(float(data["seconds"]))

    def builder(self, source: History, encoding: Scale, settings: ToySettings) -> Builder:
        return SiteRecord(source, encoding, settings)

    def again(
        self, source: History, row: pl.DataFrame, encoding: Scale, settings: ToySettings,
        moment: str,
    ) -> Inputs | None:  # fmt: skip
        before = History.from_table(source.table.head(int(row["row"][0]) + 1))
        return SiteRecord(before, encoding, settings).build(row, moment)[1]


def runs_of(history: History) -> pl.DataFrame:
    """One row per start of a job: the columns of `Decisions.table`, and how the run ended."""
    life = np.flatnonzero(np.isin(history.code, (0, START, *ENDS)) & (history.job >= 0))
    order = life[np.lexsort((life, history.job[life]))]
    job, code = history.job[order], history.code[order]
    after, before = np.roll(order, -1), np.roll(order, 1)
    ended = np.isin(history.code[after], ENDS) & (np.roll(job, -1) == job) & (order < after)
    started = np.flatnonzero(code == START)
    rows, ends, known = order[started], after[started], ended[started]
    clock = history.clock
    ids = history.jobs[history.job[rows]].select("cluster", "proc")
    slot = history.table["slot"].gather(rows)
    return pl.DataFrame(
        {
            "row": rows,
            "log": history.log[rows],
            "decided": clock[rows],
            "submitted": clock[before[started]],
            "known_at": pl.Series(clock[ends]).set(pl.Series(~known), None),
            "end": pl.Series(history.code[ends].astype(np.int64)).set(pl.Series(~known), None),
            "exit_code": history.table["return_value"].gather(ends),
            "site": slot.str.split("@").list.last(),
        }
    ).hstack(ids).with_columns(
        batch="cluster", group="cluster", kept=True, teaches=True,
        censored=pl.when(pl.col("end").is_null()).then(pl.lit("log_ended")),
    ).sort("decided", "row")  # fmt: skip


class SiteRecord:
    """What the site of each start did before."""

    def __init__(self, history: History, encoding: Scale, settings: ToySettings) -> None:
        runs = runs_of(history).filter(pl.col("end").is_not_null()).sort("known_at")
        self._recent, self._seconds = settings.recent, encoding.seconds
        self._by_site = {
            str(name): (one["known_at"].to_numpy(), one["end"].to_numpy(),
                        (one["known_at"] - one["decided"]).to_numpy() / 1e6)
            for (name,), one in runs.group_by("site", maintain_order=True)
        }  # fmt: skip

    def build(self, rows: pl.DataFrame, moment: str) -> tuple[pl.DataFrame, Inputs]:
        features = [self._of(*pair) for pair in rows.select("site", "decided").iter_rows()]
        names = (*(f"site: {name}" for name in NAMES.values()), "site: seconds", "site: runs")
        columns = np.array(features, np.float32).reshape(len(rows), len(names))
        sites = rows["site"].to_numpy().astype(np.str_)
        return rows, Inputs(columns, names, {"site": sites}, {}, None, 0)

    def _of(self, site: str, decided: int) -> list[float]:
        known_at, ends, seconds = self._by_site.get(site, (np.zeros(0), np.zeros(0), np.zeros(0)))
        before = int(np.searchsorted(known_at, decided))
        recent = slice(max(before - self._recent, 0), before)
        count = max(before - recent.start, 1)
        rates = [float((ends[recent] == code).sum()) / count for code in NAMES]
        mean = float(seconds[recent].mean()) if before else 0.0
        return [*rates, np.log1p(mean / self._seconds), np.log1p(before)]


def log_text(clusters: int = 420, seed: int = 3) -> bytes:
    """An event log of one pool: sites differ in how runs end there, and how long they take."""
    random = np.random.default_rng(seed)
    evicted = {"a": 0.05, "b": 0.15, "c": 0.6, "d": 0.8}
    events: list[tuple[int, bytes]] = []
    for cluster in range(1, clusters + 1):
        at, job = cluster * 30, f"{cluster:03d}.000.000"
        events.append((at, record(0, "Job submitted from host: <192.0.2.1:9618?alias=ap1>\n", job)))
        at += int(random.integers(2, 40))
        for _ in range(3):
            site = str(random.choice(list(evicted)))
            body = f"Job executing on host: <192.0.2.7:9618>\n\tSlotName: slot1_1@{site}\n"
            events.append((at, record(START, body, job)))
            at += int(random.lognormal({"a": 2.0, "b": 3.0, "c": 4.0, "d": 4.5}[site], 0.3))
            if random.random() >= evicted[site]:
                events.append((at, record(*_ending(random, site), job)))
                break
            body = "Job was evicted.\n\t(0) CPU times\n\t\tUsr 0 00:00:00, Sys 0 00:00:00\n"
            events.append((at, record(4, body, job)))
            at += 5
    events.sort(key=lambda one: one[0])
    return b"".join(_dated(text, at) for at, text in events)


def _ending(random: np.random.Generator, site: str) -> tuple[int, str]:
    failed = random.random() < {"a": 0.1, "b": 0.7, "c": 0.3, "d": 0.2}[site]
    return 5, f"Job terminated.\n\t(1) Normal termination (return value {int(failed)})\n"


def _dated(text: bytes, seconds: int) -> bytes:
    day, rest = divmod(seconds, 86_400)
    stamp = f"2026-01-{2 + day:02d} {rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"
    return text.replace(b"2026-01-02 03:04:05", stamp.encode(), 1)
