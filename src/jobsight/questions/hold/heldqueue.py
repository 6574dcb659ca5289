"""The held jobs of this machine's queue: what their ads say, and those that no history has."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from jobsight.answering.session import AnswerSession
from jobsight.clock import now_micros
from jobsight.errors import SourceError
from jobsight.history.allotments import generations_of
from jobsight.history.condor.client import CondorClient
from jobsight.history.eventtables import queue_table
from jobsight.history.jobads import plain_ad
from jobsight.history.timelines import History
from jobsight.questions.hold.answerable import HOLD_ANSWERS
from jobsight.questions.hold.answering.groups import by_use
from jobsight.questions.hold.answering.heldjob import Pool
from jobsight.text import printable

if TYPE_CHECKING:
    from jobsight.questions.hold.answering.answer import Answer
    from jobsight.questions.hold.examples.decisions import HeldName
    from jobsight.settings import Settings

__all__ = ["HeldQueue", "here"]

_NEAR = 60_000_000
"""The log and the queue are of the same hold if they date it no farther apart (µs)."""


class HeldQueue:
    """The held jobs of this machine's queue, those of `names` or all.

    `schedd` is the name of its schedd; None: it has none, or it is not to be asked.
    """

    def __init__(
        self,
        settings: Settings,
        schedd: str | None,
        names: Sequence[HeldName] = (),
        note: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._settings = settings
        self._schedd = schedd
        self._names = names
        self._ads: dict[tuple[Any, Any], Mapping[str, Any]] = {}
        if schedd is None:
            return
        try:
            ads = CondorClient(settings.condor).held([str(one.job) for one in names])
        except SourceError as error:
            note(f"the queue was not asked for the policies of held jobs: {printable(error, 200)}")
            return
        self._ads = {(ad.get("ClusterId"), ad.get("ProcId")): plain_ad(ad) for ad in ads}

    def ads(self, held: pl.DataFrame) -> dict[int, Mapping[str, Any]]:
        """The ads of held jobs (rows of `held_jobs`) by job number, of the same hold."""
        found = {}
        for row in held.iter_rows(named=True):
            ad = self._ads.get((row["cluster"], row["proc"]))
            since = None if ad is None else ad.get("EnteredCurrentStatus")
            if ad is None or type(since) is not int or not self._is_here(row["access_point"]):
                continue
            if abs(since * 1_000_000 - row["hold_time"]) <= _NEAR:
                found[row["job"]] = ad
        return found

    def others(self, session: AnswerSession[Answer], owner: str | None, pool: Pool) -> list[Answer]:
        """Answers for jobs of an owner (None: of all) that the queue alone has held, as of now.

        None where the history has jobs of other access points, which may have equal ids.
        """
        points = session.source.history.jobs["access_point"].drop_nulls().unique()
        known = set(session.jobs().select("cluster", "proc").iter_rows())
        ads = [
            ad
            for key, ad in self._ads.items()
            if key not in known and owner in (None, ad.get("Owner"))
        ]
        if not ads or self._schedd is None or not all(map(self._is_here, points)):
            return []
        history = History.from_table(queue_table(ads, self._schedd))
        of_queue = AnswerSession(
            HOLD_ANSWERS, history, now_micros(), self._settings, champions=False,
            adapt=lambda answerer: answerer.within(pool),
        )  # fmt: skip
        return [
            answer
            for answer in of_queue.answer(pl.lit(value=True))
            if not self._names
            or any(name.covers(answer.job, answer.access_point) for name in self._names)
        ]

    def _is_here(self, access_point: str | None) -> bool:
        return (access_point or "").lower() == (self._schedd or "").lower() != ""

    def pool(self, logs: Callable[[], Iterable[str | Path]]) -> Pool:
        """What is known of the pool of this machine; `logs` gives the files of its event log."""

        def generations() -> Mapping[str, str]:
            try:
                return generations_of([str(path) for path in logs()])
            except SourceError:
                return {}

        largest = CondorClient(self._settings.condor).largest_slot
        return Pool(cache(largest), cache(generations), self.ads, self._schedd)

    def answers(self, session: AnswerSession[Answer], pool: Pool) -> list[Answer]:
        """The answers for all held jobs, of the history and of the queue, by use."""
        return by_use(session.answer(pl.lit(value=True)) + self.others(session, None, pool))


def here(settings: Settings) -> str | None:
    """The name of this machine's schedd; None: it has none."""
    with contextlib.suppress(SourceError):
        return CondorClient(settings.condor).schedd_name()
    return None
