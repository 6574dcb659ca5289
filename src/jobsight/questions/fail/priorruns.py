"""Earlier runs of a user's jobs, compared with a job that `jobsight check` reads."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any

import polars as pl

from jobsight.documents import JobDocument, State
from jobsight.history.jobsasked import jobs_asked, submitted_now
from jobsight.history.jobtable import JobTable
from jobsight.program.preflight.condorjob import CondorJob
from jobsight.program.preflight.findings import Finding, hits_of
from jobsight.program.preflight.job import Job
from jobsight.program.preflight.limits import ceilings
from jobsight.questions.fail.checks import Known, Used, named_files, places_of
from jobsight.questions.fail.evidence import LAST, Ends

__all__ = ["PriorRuns", "Texts"]

_DONE, _FAILED = State.COMPLETED.value, State.FAILED.value


class Texts:
    """What the jobs of a user named: of each document, its script, command and submit line."""

    def __init__(self, owner: str) -> None:
        self.owner = owner
        self.by_id: dict[str, tuple[str, str | None]] = {}
        self._same: dict[str, str] = {}

    def add(self, document: JobDocument) -> None:
        """Keep the text and the folder of a document, if it is the user's."""
        submission = document.submission
        if submission.user == self.owner:
            parts = (submission.script, submission.command, submission.arguments, submission.line)
            text = "\n".join(part for part in parts if part)
            self.by_id[document.id] = self._same.setdefault(text, text), submission.directory


@lru_cache(maxsize=4096)
def _paths(text: str, folder: str) -> frozenset[str]:
    """All that may be a path in a text, absolute."""
    words = set(re.findall(r"[^\s\"'`=;|&<>()]+", text))
    return frozenset(os.path.normpath(os.path.join(folder, word)) for word in words)  # noqa: PTH118


class PriorRuns:
    """The runs of a job table, and what a job that is checked has in common with them."""

    def __init__(
        self, jobs: JobTable, texts: Texts, row: Callable[[Job | CondorJob], dict[str, Any]]
    ) -> None:
        """Index the runs.

        Args:
            jobs: the table.
            texts: of the user's jobs.
            row: makes a row of the job table of a job that is checked.
        """
        self._jobs, self._row, self._ends = jobs, row, Ends(jobs)
        table = jobs.table.select("id", "reported", "owner", pl.col("state").cast(pl.String))
        own = (pl.col("owner") == texts.owner) & pl.col("reported").is_not_null()
        ended = table.filter(own & pl.col("state").is_in([_DONE, _FAILED])).sort("reported")
        self._ran = [
            (*texts.by_id[id_], state)
            for id_, state in ended.select("id", "state").iter_rows()
            if id_ in texts.by_id
        ]

    def findings(self, job: Job | CondorJob, file: str) -> Iterator[Finding]:
        """What the runs show of a job; `file`: its name."""
        row = self._row(job)
        asked = submitted_now(self._jobs, row, 0, jobs_asked(self._jobs).schema)
        like = self._ends.about(asked)[0].get("like")
        if like is not None and like.key == "user and request":
            like = None  # it may be other work
        # The last runs that named each file; files that the same runs named count once.
        seen: dict[tuple[int, ...], Used] = {}
        named = [_paths(text, own or job.folder) for text, own, _ in self._ran]
        for of in named_files(job):
            runs = tuple(k for k, paths in enumerate(named) if of.path in paths)[-LAST:]
            failed = sum(self._ran[k][2] == _FAILED for k in runs)
            seen.setdefault(runs, Used(of, len(runs), failed))
        used = tuple(own for runs, own in seen.items() if runs)
        whole, most = {**asked.row(0, named=True), **row}, partial(ceilings, job)
        known = Known(whole, places_of(job), like, used, most)
        yield from hits_of("history", known, file)
