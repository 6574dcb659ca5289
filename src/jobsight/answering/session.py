"""The session of answers: one history as of a moment, and the models that answer of it.

A command opens one for its call, the service keeps one for each question while the store is in the
same state. Each cluster's jobs are answered by the champion of that cluster, opened and indexed
when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Self, TypeVar

import polars as pl

from jobsight.answering.kept import kept_source
from jobsight.answering.models import champion_of, named_model, open_answering, usable
from jobsight.answering.question import Answer, Answerer
from jobsight.clock import now_micros, parse_since, zone_named
from jobsight.errors import SourceError
from jobsight.format import moment as shown
from jobsight.learning.reading import are_documents, is_pipe, read

if TYPE_CHECKING:
    from jobsight.answering.question import Answerable
    from jobsight.ids import JobName
    from jobsight.learning.modeldir import ModelDir
    from jobsight.learning.reading import Watch
    from jobsight.learning.registry import Entry
    from jobsight.settings import Settings

__all__ = ["AnswerSession", "present", "refuse_before"]

A = TypeVar("A", bound=Answer)
Adapt = Callable[[Any], Any]


class _Words(NamedTuple):
    """Of a history: what it consists of, what its end is called, and µs that follow it.

    `behind`: of a file, which is asked about after the records of its last second; `live`: of what
    is still being written.
    """

    record: str
    end: str
    behind: int
    live: int


_WORDS = {
    "events": _Words("event", "the end of the log", 0, 0),
    "jobs": _Words("record", "the end of the history", 1_000_000, 1),
}


class AnswerSession(Generic[A]):
    """Answers a question for the jobs of one history; for one thread at a time.

    Attributes:
        answerable: the question.
        source: what its answerers share, see `Answerable.source`.
        moment: µs, as of when.
        when: the moment, in words.
        settings: of the call or the service.
    """

    def __init__(
        self,
        answerable: Answerable[A],
        read: Any,
        moment: int,
        settings: Settings,
        *,
        when: str | None = None,
        model: ModelDir | None = None,
        champions: bool = True,
        adapt: Adapt = lambda answerer: answerer,
    ) -> None:
        """Begin to answer.

        Args:
            answerable: the question.
            read: the history that it is asked of; None for a question that is asked of none.
            moment: µs, as of when.
            settings: where the registry is, and of the question.
            when: the moment, in words.
            model: that answers for all clusters.
            champions: without a `model`, whether champions answer.
            adapt: makes known to each answerer what is known besides the history.
        """
        self.answerable, self.settings = answerable, settings
        self.source = answerable.source(read, moment)
        self.moment, self.when = moment, when or shown(moment)
        self._model, self._champions, self._adapt = model, champions, adapt
        self._entries: dict[str | None, Entry | None] = {}
        self._answerers: dict[str | None, Answerer] = {}

    @classmethod
    def open(
        cls,
        answerable: Answerable[A],
        inputs: list[str],
        settings: Settings,
        watch: Watch,
        *,
        model: str | None,
        at: str | None,
        live: bool,
        adapt: Adapt = lambda answerer: answerer,
    ) -> Self:
        """Read a history and open the model that is named.

        Args:
            answerable: the question.
            inputs: what to read.
            settings: of the call.
            watch: is kept informed.
            model: a folder, a model of the registry, or ``none``; None: champions answer.
            at: the moment, as the user writes it; None: now, or the end of files.
            live: whether more may be written to the inputs meanwhile.
            adapt: see `__init__`.

        Raises:
            JobsightError: nothing can be read, or there is no such model or moment.
        """
        given = parse_since(at, zone_named(settings.timezone))
        question = answerable.question
        opened = named_model(model, settings, question)
        stores = all(not is_pipe(name) and are_documents(name) for name in inputs)
        if len(inputs) == 1 and stores and not Path(inputs[0]).is_dir():
            history = kept_source(question, inputs[0], settings, watch)
        else:
            history = read(question, inputs, settings, watch, hashed=False).source
        words, (first, end) = _WORDS[question.reads], answerable.span(history)
        if given is not None:
            refuse_before(given, first, "job" if question.reads == "jobs" else words.record)
            moment, when = given, shown(given)
        elif live:
            moment, when = present(answerable, history)
        else:
            moment, when = end + words.behind, f"{shown(end)} ({words.end})"
        return cls(
            answerable, history, moment, settings,
            when=when, model=opened, champions=model is None, adapt=adapt,
        )  # fmt: skip

    def at(self, moment: int, when: str | None = None) -> Self:
        """This session as of a later moment (µs), until which nothing more became known."""
        later = copy(self)
        later.moment, later.when = moment, when or shown(moment)
        return later

    def adapted(self, adapt: Adapt) -> Self:
        """This session with another `adapt`; see `__init__`."""
        other = copy(self)
        other._adapt = adapt
        return other

    def jobs(self) -> pl.DataFrame:
        """The jobs that may be asked about, see `Answerable.jobs`."""
        return self.answerable.jobs(self.source, self.moment)

    def named(self, name: JobName) -> tuple[list[Any], str | None]:
        """The keys of the jobs of a name; what is wrong where none can be asked about."""
        return self.answerable.named(self.source, name, self.moment)

    def answer_names(self, names: Iterable[JobName]) -> tuple[list[A], list[str]]:
        """The answers for the jobs of names, in their order, and what is wrong with names."""
        keys: dict[Any, None] = {}
        problems = []
        for name in names:
            of_name, problem = self.named(name)
            keys |= dict.fromkeys(of_name)
            problems += [problem] if problem else []
        answers = self._by_key(pl.col(self.answerable.key).is_in(list(keys))) if keys else {}
        return [answers[job] for job in keys], problems

    def answer(self, rows: pl.Expr) -> list[A]:
        """The answers for the jobs that an expression over `jobs` selects, in its order.

        Raises:
            ModelError: a champion cannot be used; says how to go on without it.
        """
        return list(self._by_key(rows).values())

    def _by_key(self, rows: pl.Expr) -> dict[Any, A]:
        """The answers for the jobs that an expression selects, by their keys, in their order."""
        key, cluster = self.answerable.key, self.answerable.cluster
        chosen = self.jobs().filter(rows).select(key, cluster)
        by_entry: dict[str | None, tuple[Entry | None, list[str | None]]] = {}
        for name in chosen[cluster].unique(maintain_order=True):
            entry = self.champion(name)
            by_entry.setdefault(_digest(entry), (entry, []))[1].append(name)
        answers: dict[Any, A] = {}
        for entry, names in by_entry.values():
            answerer = self._answerer(entry)
            asked = answerer.asked(rows & pl.col(cluster).is_in(names, nulls_equal=True))
            answers |= zip(asked[key], answerer.answer(asked), strict=True)
        return {job: answers[job] for job in chosen[key]}

    def answerer(self, cluster: str | None) -> Any:
        """What answers for the jobs of a cluster.

        Raises:
            ModelError: as of `answer`.
        """
        return self._answerer(self.champion(cluster))

    def champion(self, cluster: str | None) -> Entry | None:
        """The champion that answers for a cluster; None: another model, or none.

        A cluster without a name is taken for the only other one of the history.
        """
        if self._model is not None or not self._champions:
            return None
        if cluster not in self._entries:
            if cluster is None and self.source is not None:
                others = self.answerable.clusters(self.source).drop_nulls()
                cluster = others[0] if len(others) == 1 else None
            name = self.answerable.question.name
            self._entries[cluster] = champion_of(self.settings, name, cluster)
        return self._entries[cluster]

    def prepare(self) -> None:
        """Open and index what answers for each cluster of the history."""
        for cluster in self.answerable.clusters(self.source):
            # Indexed now: copies share it.
            self.answerer(cluster).asked(pl.lit(value=False))

    def _answerer(self, entry: Entry | None) -> Any:
        digest = _digest(entry)
        if digest not in self._answerers:
            self._answerers[digest] = self._opened(entry)
        answerer = self._answerers[digest]
        if answerer.moment != self.moment:
            answerer = self._answerers[digest] = answerer.at(self.moment)
        return self._adapt(answerer)

    def _opened(self, entry: Entry | None) -> Answerer:
        answerable, settings = self.answerable, self.settings
        if entry is not None:
            with usable(answerable.question.name, entry.cluster):
                model = open_answering(entry.folder, settings, answerable.question)
                return answerable.answerer(self.source, self.moment, model, settings)
        chosen = self._model
        if chosen is None and answerable.ships is not None:
            chosen = open_answering(answerable.ships, settings, answerable.question)
        return answerable.answerer(self.source, self.moment, chosen, settings)


def present(answerable: Answerable[Any], read: Any, step: int = 1000) -> tuple[int, str]:
    """Now (µs, a multiple of a step), but not before the end of a history; and that in words.

    Without news a job is until now what it was.
    """
    words, (_, end) = _WORDS[answerable.question.reads], answerable.span(read)
    moment = max(end + words.live, now_micros() // step * step)
    return moment, f"{shown(moment)} (now; last {words.record} {shown(end)})"


def refuse_before(moment: int, first: int, what: str) -> None:
    """Refuse to answer as of a moment (µs) that is before all that was read.

    Args:
        moment: asked about.
        first: µs, of the first record.
        what: the first record is, in a word.

    Raises:
        SourceError: it is.
    """
    if moment < first:
        raise SourceError(
            f"nothing is recorded as of {shown(moment)}: the first {what} is of "
            f"{shown(first + 999_999)}; name a later --at"
        )


def _digest(entry: Entry | None) -> str | None:
    return None if entry is None else entry.digest
