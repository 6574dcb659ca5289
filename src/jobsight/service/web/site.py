"""What the service knows, as far as a caller may see it: jobs, answers, models, collectors.

The functions that the API and the pages call. All may be called from any thread. Each is given the
`Caller` and shows no more than that one may see: a job of another user is one that is not there.
Texts are as the documents have them: hostile, to be escaped where they are shown.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import polars as pl
from anyio.to_thread import run_sync

from jobsight import __version__
from jobsight.answering.models import answering_folder
from jobsight.clock import now_micros
from jobsight.documents import JobDocument, to_json
from jobsight.documents.spans import why
from jobsight.documents.states import State, parse_states
from jobsight.errors import JobError, JobsightError, SourceError, StoreUnavailableError, UsageError
from jobsight.ids import parse_job_name
from jobsight.learning.registry import Registry, listed
from jobsight.learning.registry import shown as model_shown
from jobsight.program.preflight.findings import Finding as Fault
from jobsight.program.usage import amounts, fitted, measured
from jobsight.questions import QUESTIONS, question_named
from jobsight.questions.bound.answering import BOUND_ANSWERS
from jobsight.questions.fail.question import FAIL
from jobsight.service import status as collectors
from jobsight.service.logs import log
from jobsight.service.web.analysis import Analysts
from jobsight.service.web.asking import (
    MOST_JOBS,
    JobsPage,
    about_job,
    about_script,
    held_groups,
    new_holds,
    page_of,
    pending_rows,
    quality,
    similar_runs,
    state_counts,
    warm_up,
)
from jobsight.service.web.events import Events, News
from jobsight.service.web.ready import Follower, Ready
from jobsight.service.web.submitting import Submissions
from jobsight.service.web.tokens import Caller, Tokens
from jobsight.store.packing import cluster_of, user_key
from jobsight.store.rows import Query
from jobsight.store.store import find_ids, runs_of_name

if TYPE_CHECKING:
    from jobsight.settings import Settings
    from jobsight.store import Store

__all__ = ["Pseudonyms", "Site"]

_KEPT = frozenset((
    "cluster", "id", "job", "kind", "members", "model", "place", "question", "scheduler", "schema",
    "state", "verb",
))  # fmt: skip
"""Fields that name something else than a user; pages and programs go by them."""


class Pseudonyms:
    """Names of users made unrecognizable; the same name becomes the same pseudonym."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def of(self, name: str) -> str:
        """The pseudonym of a name."""
        return f"user-{hmac.new(self._key, name.encode(), hashlib.sha256).hexdigest()[:8]}"

    def in_text(self, text: str, names: Iterable[str]) -> str:
        """The text without these names, where they are words of it: paths, remarks, fields.

        Also without what a name has before an ``@`` and behind a backslash.
        """
        known: dict[str, str] = {}
        for name in names:
            short = name.rpartition("\\")[2].partition("@")[0]
            known |= dict.fromkeys((name, name.replace("\\", "\\\\"), short), name)
        known.pop("", None)
        if not known:
            return text
        words = "|".join(map(re.escape, sorted(known, key=len, reverse=True)))
        return re.sub(
            rf"(?<![A-Za-z0-9])(?:{words})(?![A-Za-z0-9])", lambda m: self.of(known[m[0]]), text
        )

    def in_data(self, data: Any, names: Iterable[str]) -> Any:
        """Plain data without these names in its texts.

        Keys, ids and words of Jobsight's own stay: a user may have the name of one.
        """
        known = list(names)
        if isinstance(data, str):
            return self.in_text(data, known)
        if isinstance(data, list | tuple):
            return [self.in_data(one, known) for one in data]
        if isinstance(data, dict):
            return {
                key: one if key in _KEPT else self.in_data(one, known) for key, one in data.items()
            }
        return data

    def in_document(self, document: JobDocument) -> JobDocument:
        """A document without the name of its user."""
        name = document.submission.user
        if not name:
            return document
        return msgspec.convert(self.in_data(to_json(document), [name]), JobDocument)

    def real(self, pseudonym: str, names: Iterable[str]) -> str | None:
        """Which of these names has that pseudonym; None: none of them."""
        return next((one for one in names if self.of(one) == pseudonym), None)


_FRESH = 60.0
"""Seconds for which the list of models is given again."""
_PATIENCE_S = 2.0
"""For the first reading of the store; longer readings are reported."""


T = TypeVar("T")


class Site:
    """One store, its models and its collector."""

    def __init__(self, settings: Settings, store: Store) -> None:
        self.settings = settings
        self.store = store
        self.tokens = Tokens(settings.serve)
        self.events = Events(settings.serve.streams, settings.serve.streams_per_user)
        self.follower = Follower(store, settings, self._prepare, self._publish_news)
        self.analysts = Analysts(settings.serve.analysts, settings.serve.waiting)
        self.submissions = Submissions(self.check, lambda: self.follower.current)
        self._started = time.time()

    def jobs(
        self,
        who: Caller,
        *,
        user: str | None = None,
        states: Sequence[str] = (),
        cluster: str | None = None,
        since: int | None = None,
        until: int | None = None,
        after: str | None = None,
        limit: int = 50,
    ) -> JobsPage:
        """A page of jobs: of a user, of states as of `jobsight jobs --state`; otherwise of any.

        `since` and `until`, µs: see `Store.scan`; `cluster`, `after` and `limit`: see `page_of`.

        Raises:
            UsageError: a word is not a state, or the cursor not one.
        """
        wanted = parse_states(list(states))
        asked = None if wanted is None else frozenset(map(str, wanted))
        if user is not None and self._hides(who):  # a pseudonym alone means one
            owners = self._ready().tables.jobs.table["owner"].drop_nulls().unique()
            user = Pseudonyms(self.tokens.pseudonym_key).real(user, owners) or "\0"
        if who.only is not None and user not in (None, who.only):
            return JobsPage([], None)
        owner = who.only or user
        query = Query(since, until, asked, owner and user_key(owner), newest_first=True)
        page = page_of(self.store, query, cluster, after, limit)
        return replace(page, jobs=[self._shown(who, document) for document in page.jobs])

    def job(self, who: Caller, name: str) -> JobDocument:
        """A job by any form of its id that names one alone.

        Raises:
            UsageError: it is not an id.
            JobError: there is none, it names several, or it is another user's.
        """
        return self._shown(who, self._job(who, name))

    def _job(self, who: Caller, name: str) -> JobDocument:
        ids = find_ids(self.store, parse_job_name(name))
        stored = self.store.get(ids[:MOST_JOBS])
        found = [one.document for one in stored.values() if who.sees(one.document.submission.user)]
        if not found:
            raise JobError(f"the store has no job {name}; `jobsight jobs` lists what it has")
        if len(found) > 1:
            raise JobError(f"{len(found)} jobs have this number; name one, such as {found[0].id}")
        return found[0]

    def used(self, who: Caller, name: str) -> dict[str, Any]:
        """What a job used of what it asked for: ``rows``, how it was ``measured``, ``fit``.

        Raises:
            JobsightError: see `job`.
        """
        document, now = self._job(who, name), now_micros()
        job = document.submission
        like = runs_of_name(self.store, cluster_of(document.id), job.user, job.name)
        fit = fitted(document, like, now)
        return {"rows": amounts(document, now), "measured": measured(document), "fit": fit}

    async def answers(self, who: Caller, name: str) -> dict[str, Any]:
        """What each question answers for a job: ``job``, ``answers``, ``problems`` by question.

        Raises:
            UsageError: it is not an id; `JobError`: as of `job`.
            StoreUnavailableError: the store is still being read.
        """
        document = await run_sync(self._job, who, name)
        ready = await run_sync(self._ready)
        asked = {one: partial(self._about_job, who, ready, document, one) for one in QUESTIONS}
        found: dict[str, Any] = {"job": document.id, **await self._attempted(who, asked)}
        return self._without_names(who, found, [document.submission.user])

    def similar(self, who: Caller, document: JobDocument) -> list[dict[str, Any]]:
        """What became of jobs like an ended one, see `jobsight.questions.fail.evidence.Finding`."""
        if document.state is None or not document.state.ended:
            return []
        found = similar_runs(self._ready(), document.id)
        return self._without_names(who, found, [document.submission.user])

    async def answer(
        self, who: Caller, question: str, names: Sequence[str]
    ) -> list[dict[str, Any]]:
        """The answers of one question for jobs: each with ``job`` and ``answer`` or ``problem``.

        Raises:
            UsageError: there is no such question.
        """
        question_named(question)
        ready, found = await run_sync(self._ready), []
        for name in names:
            try:
                document = await run_sync(self._job, who, name)
                one = await self._about_job(who, ready, document, question)
                one = self._without_names(who, one, [document.submission.user])
                found.append({"job": document.id, "answer": one})
            except JobsightError as error:
                found.append({"job": name, "problem": self.explained(who, error)})
        return found

    async def script_answer(
        self, who: Caller, question: str, name: str, text: str, options: Sequence[str] = (),
        report: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        """The answer of one question for a script, as if the caller submitted it now.

        `report`: what `check` finds in it, where that is known.

        Raises:
            UsageError: there is no such question, or it is not asked of scripts.
        """
        if question_named(question).reads == "programs":
            return await self._bound(who, name, text)
        ready, errors = await run_sync(self._ready), []
        if question == FAIL.name:
            report = report or await self.check(who, name, text, options)
            faults = (Fault(**found) for found in report["findings"])
            errors = [fault for fault in faults if fault.severity == "error"]
        return await run_sync(about_script, ready, question, name, text, options, who.name, errors)

    async def script(
        self, who: Caller, name: str, text: str, options: Sequence[str] = ()
    ) -> dict[str, Any]:
        """A script, as if the caller submitted it now: ``answers``, ``problems``, ``check``.

        Raises:
            SourceError: it is not text.
        """
        report = await self.check(who, name, text, options)
        names = [one for one in QUESTIONS if question_named(one).reads != "events"]
        if report["scheduler"] == "htcondor":
            only = "this is asked of batch scripts, and of jobs of HTCondor once they are submitted"
            return {"answers": dict.fromkeys(names), "problems": dict.fromkeys(names, only),
                    "check": report}  # fmt: skip
        ask = partial(self.script_answer, who, name=name, text=text, options=options, report=report)
        asked = {one: partial(ask, one) for one in names}
        return {**await self._attempted(who, asked), "check": report}

    async def check(
        self, who: Caller, name: str, text: str, options: Sequence[str] = ()
    ) -> dict[str, Any]:
        """What `jobsight check` finds in a text; nothing of it is run, no file is looked at.

        Raises:
            SourceError: it is not text, or takes too much; `RefusedError`: see `Analysts.ask`.
        """
        task = {"do": "check", "name": name, "text": text, "options": list(options)}
        ignored = list(self.settings.check.ignore)
        found: dict[str, Any] = await self.analysts.ask(who.name, {**task, "ignored": ignored})
        return found

    async def _about_job(
        self, who: Caller, ready: Ready, document: JobDocument, question: str
    ) -> dict[str, Any]:
        """See `jobsight.service.web.asking.about_job`; a question on programs reads its script."""
        if question_named(question).reads != "programs":
            return await run_sync(about_job, ready, document, question)
        if document.submission.script is None:
            raise JobError("the store has no script of this job")
        return await self._bound(who, document.id, document.submission.script)

    async def _bound(self, who: Caller, name: str, text: str) -> dict[str, Any]:
        """What will bind a program."""
        model = str(await run_sync(answering_folder, self.settings, BOUND_ANSWERS))
        task = {"do": "bound", "name": name, "text": text, "model": model}
        found: dict[str, Any] = await self.analysts.ask(who.name, task)
        return found

    def held(self, who: Caller) -> list[dict[str, Any]]:
        """The held jobs by cause and cluster, see `jobsight.service.web.asking.held_groups`."""
        found = held_groups(self._ready(), who.only)
        owners = {owner for one in found for owner in one["owners"]}
        return self._without_names(who, found, owners)

    def pending(self, who: Caller, limit: int = 200) -> list[dict[str, Any]]:
        """Jobs that wait, as `summary` has them, each with its answers by question.

        Those whose failure would waste most core-hours first, at most `limit`.
        """
        shown = pending_rows(self._ready(), self.store, who.only)[: max(1, limit)]
        return self._without_names(who, shown, {one["user"] for one in shown})

    def counts(self, who: Caller) -> dict[str, int]:
        """How many jobs are in each state."""
        return state_counts(self._ready(), who.only)

    def models(self, who: Caller) -> list[dict[str, Any]]:
        """The trained models, as `jobsight models list --json` has them, without folders.

        Users are not shown who made them, of what, and where.
        """

        def made() -> list[dict[str, Any]]:
            entries = Registry(self.settings.registry).entries()
            return [{k: v for k, v in listed(one).items() if k != "folder"} for one in entries]

        ready = self.follower.current
        found = made() if ready is None else ready.cached("models", _FRESH, made)
        return [_public(who, one) for one in found]

    def quality(self) -> dict[str, list[dict[str, Any]]]:
        """How good the kept answers of each question were, by week; empty while the store is read.

        See `jobsight.learning.review.Week`.
        """
        ready = self.follower.current
        return {} if ready is None else quality(ready, self.store)

    def reading_error(self, who: Caller) -> dict[str, Any] | None:
        """The last error of the service itself, for who sees all: ``time``, ``text``, ``over``.

        It is ``over`` since a time (µs), or not yet: None.
        """
        return self.follower.errors.snapshot() if who.only is None else None

    def model(self, who: Caller, digest: str) -> dict[str, Any]:
        """A model by its digest, as `jobsight models show --json` has it; less of it as `models`.

        Raises:
            JobError: there is none.
            ModelError: its files are damaged.
        """
        registry = Registry(self.settings.registry)
        entry = next((one for one in registry.entries() if one.digest == digest), None)
        if entry is None:
            raise JobError(f"no model has the digest {digest}")
        found = model_shown(entry, registry.history(entry.question, entry.cluster))
        return _public(who, {k: v for k, v in found.items() if k != "folder"})

    async def _attempted(
        self, who: Caller, asked: Mapping[str, Callable[[], Awaitable[Any]]]
    ) -> dict[str, Any]:
        """What each question answers, and why those fail that do: ``answers``, ``problems``."""
        answers, problems = dict[str, Any](), dict[str, str]()
        for name, ask in asked.items():
            try:
                answers[name] = await ask()
            except JobsightError as error:
                answers[name], problems[name] = None, self.explained(who, error)
        return {"answers": answers, "problems": problems}

    def explained(self, who: Caller | None, error: JobsightError) -> str:
        """What a caller is shown of an error: users no path of this machine."""
        trusted = who is not None and who.only is None
        if trusted or isinstance(error, JobError | UsageError | SourceError):
            return str(error)
        if isinstance(error, StoreUnavailableError):
            return "the service cannot read its store now; ask again in a minute"
        log("could not answer", error=error)
        return "the service cannot answer this now; its operators find the reason in its log"

    def outages(self, who: Caller, hours: int = 24) -> dict[str, Any]:
        """New holds over time, see `jobsight.service.web.asking.new_holds`."""
        return new_holds(self._ready(), who.only, hours)

    def collectors(self, who: Caller) -> list[dict[str, Any]]:
        """The status of each collector that is known here, with ``healthy`` and ``problems``.

        Users are shown no more than whether it is well.
        """
        try:
            found = collectors.read(self.settings.collect).to_json()
        except SourceError:
            return []
        shown = ("healthy", "written", "version")
        return [found if who.only is None else {key: found[key] for key in shown}]

    @property
    def warm(self) -> bool:
        """Whether the store is read, and models and kernels are ready to answer."""
        return self.follower.current is not None

    def health(self) -> dict[str, Any]:
        """Whether the service can answer: ``ok``, ``ready``, ``version``, ``uptime_s``, ``store``.

        Also its ``state`` (warming, ready), the ``revision`` of the store, and how many ``jobs``
        were read.
        """
        ready, revision = self.follower.current, self.store.revision()
        return {
            "ok": True,
            "state": "ready" if self.warm else "warming",
            "ready": self.warm,
            "behind": ready is None or ready.tables.revision < revision,
            "version": __version__,
            "uptime_s": round(time.time() - self._started, 1),
            "store": self.store.backend.name,
            "revision": revision,
            "jobs": None if ready is None else len(ready.tables.jobs.table),
        }

    def _ready(self) -> Ready:
        ready = self.follower.await_ready(_PATIENCE_S)
        if ready is None:
            raise StoreUnavailableError(
                "the service has just started and reads the store; ask again in a minute"
            )
        return ready

    def _prepare(self, ready: Ready) -> None:
        before = self.follower.current
        first = before is None or not len(before.tables.jobs.table)
        warm_up(ready, self.store, first=first)

    def _publish_news(
        self, before: Ready | None, ready: Ready, documents: Sequence[JobDocument]
    ) -> None:
        """Publish new holds and answers, and that the state changed."""
        held, made = set[str](), 0
        if before is not None:
            jobs, made = before.tables.jobs.table, before.made
            held = set(jobs.filter(pl.col("state") == State.HELD.value)["id"])
        for one in documents:
            owner, known = one.submission.user, {"id": one.id}
            if one.state is State.HELD and one.id not in held:
                self.events.publish(News("hold", {**known, "reason": why(one)}, owner))
            for said in one.predictions:
                if said.time > made:
                    answer = {**known, "question": said.question, "model": said.model}
                    self.events.publish(News("answer", answer, owner))
        self.events.publish(News("state", {"revision": ready.tables.revision}))

    # Names

    def _hides(self, who: Caller) -> bool:
        return who.role == "facilitator" and self.settings.serve.names == "hidden"

    def _shown(self, who: Caller, document: JobDocument) -> JobDocument:
        if not self._hides(who):
            return document
        return Pseudonyms(self.tokens.pseudonym_key).in_document(document)

    def _without_names(self, who: Caller, data: T, names: Iterable[str | None]) -> T:
        if not self._hides(who):
            return data
        known = [one for one in names if one]
        hidden: T = Pseudonyms(self.tokens.pseudonym_key).in_data(data, known)
        return hidden


def _public(who: Caller, model: dict[str, Any]) -> dict[str, Any]:
    """A model without names of users, hosts and files, for who does not see all."""
    if who.only is None:
        return model
    shown = {**model, "by": None, "why": None, "damaged": model["damaged"] and "damaged"}
    if "sources" in model:
        shown["sources"] = [{**one, "name": "a source"} for one in model["sources"]]
        shown["history"] = [{**one, "by": None, "why": None} for one in model["history"]]
        del shown["settings"]
    return shown
