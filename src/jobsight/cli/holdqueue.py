"""What this machine's queue knows of held jobs that their event log does not.

Their policies, which event logs give by their values if at all; and jobs that are held without an
event, such as those submitted on hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from jobsight.answering.session import AnswerSession, now_micros
from jobsight.cli.output import note
from jobsight.errors import SourceError
from jobsight.history.condor.client import CondorClient
from jobsight.history.eventtables import queue_table
from jobsight.history.jobads import plain_ad
from jobsight.history.timelines import History
from jobsight.questions.hold.answerable import HOLD_ANSWERS
from jobsight.text import printable

if TYPE_CHECKING:
    from jobsight.questions.hold.answering.answer import Answer
    from jobsight.questions.hold.answering.heldjob import Pool
    from jobsight.questions.hold.answering.lookup import HeldName
    from jobsight.settings import Settings

__all__ = ["HeldQueue"]

_NEAR = 60_000_000
"""The log and the queue are of the same hold if they date it no farther apart (µs)."""


class HeldQueue:
    """The held jobs of this machine's queue; none where there is no schedd.

    Args:
        settings: where the tools are.
        schedd: name of this machine's schedd; None: it has none, or it is not to be asked.
        names: the jobs asked about; none: all.
    """

    def __init__(
        self, settings: Settings, schedd: str | None, names: Sequence[HeldName] = ()
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
        """Answers for jobs that are held by the queue alone; by their reasons, as of now.

        None where the history has jobs of other access points, which may have equal ids.

        Args:
            session: of the history.
            owner: only of this user; None: of all.
            pool: what is known besides.
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
