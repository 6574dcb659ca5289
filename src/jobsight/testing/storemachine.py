"""Conformance of stores: any sequence of operations, against dicts in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from jobsight.documents import JobDocument, State, merge
from jobsight.errors import ConflictError
from jobsight.store import Move, Put, Store
from jobsight.store.rows import Keys
from jobsight.testing.madejobs import NOON, event, made_partial

__all__ = ["run_machine"]

_NUMBERS = st.integers(0, 12)
_TIMES = st.integers(0, 40)
_USERS = st.sampled_from([None, "ada", "", "sha256:1", "ü\u202e"])
_POINTS = st.sampled_from(["ap", "b;c", "b"])
_LIVING = [state for state in State if not state.ended]
_STATES = st.sampled_from([None, *State])


class _Machine(RuleBasedStateMachine):
    opener: Callable[[], Callable[[], Store]]

    @initialize()
    def begin(self) -> None:
        self.open_ = type(self).opener()
        self.store = self.open_()
        self.known: dict[str, JobDocument] = {}
        self.position: dict[str, int] | None = None
        self.reports = 0

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()

    def _partial(
        self, number: int, time: int, state: State | None, user: str | None, point: str
    ) -> JobDocument:
        self.reports += 1
        entry = event(NOON + time, state, position=self.reports)
        return made_partial(number, entry, user=user, access_point=point)

    @rule(
        reports=st.lists(st.tuples(_NUMBERS, _TIMES, _STATES, _USERS, _POINTS), max_size=6),
        moves=st.booleans(),
    )
    def merge(
        self, reports: list[tuple[int, int, State | None, str | None, str]], moves: bool
    ) -> None:
        partials = [self._partial(*report) for report in reports]
        new = {"at": self.reports}
        merged = self.store.merge(partials, [Move("log", self.position, new)] if moves else [])
        if moves:
            self.position = new
        for partial in partials:
            self.known[partial.id] = merge(self.known.get(partial.id), partial)
        assert all(change.new == self.known[change.new.id] for change in merged.changes)
        assert len(merged.changes) == len({partial.id for partial in partials})

    @rule(number=_NUMBERS, time=_TIMES, state=_STATES, right=st.booleans(), point=_POINTS)
    def put(self, number: int, time: int, state: State | None, right: bool, point: str) -> None:
        partial = self._partial(number, time, state, "ada", point)
        document = merge(self.known.get(partial.id), partial)
        stored = self.store.get([partial.id]).get(partial.id)
        based_on = None if stored is None else stored.revision
        if not right:
            based_on = 10**9 if based_on is None else None
        try:
            self.store.put([Put(document, based_on)])
        except ConflictError:
            assert not right
        else:
            assert right
            self.known[partial.id] = document

    @rule(time=_TIMES)
    def prune(self, time: int) -> None:
        self.store.prune(NOON + time)

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = self.open_()

    @rule(
        since=st.none() | _TIMES.map(NOON.__add__),
        until=st.none() | _TIMES.map(NOON.__add__),
        states=st.none()
        | st.lists(st.sampled_from(list(State)), max_size=3)
        | st.sampled_from([_LIVING, [*_LIVING, State.FAILED]]),
        user=_USERS,
        cluster=st.none() | _POINTS.map(lambda name: made_partial(1, access_point=name).id[:-4]),
        limit=st.none() | st.integers(0, 5),
        newest_first=st.booleans(),
    )
    def scan(self, *, limit: int | None, newest_first: bool, **asked: Any) -> None:
        names = ("since", "until", "states", "user", "cluster")
        since, until, states, user, cluster = (asked[name] for name in names)

        def is_asked(job: JobDocument) -> bool:
            time, living = Keys.of(job).time, states is not None and set(states) >= set(_LIVING)
            return (
                (since is None or time >= since)
                and (until is None or time < until)
                and (states is None or job.state in states or (job.state is None and living))
                and (user is None or job.submission.user == user)
                and (cluster is None or job.id.rpartition(":")[0] == cluster)
            )

        wanted = self._in_order(filter(is_asked, self.known.values()))[:: -1 if newest_first else 1]
        scanned = self.store.scan(limit=limit, newest_first=newest_first, **asked)
        assert list(scanned) == wanted[:limit]

    @rule(number=_NUMBERS)
    def numbered(self, number: int) -> None:
        wanted = [id_ for id_ in self.known if id_.rpartition(":")[2] == f"{number}.0"]
        assert self.store.numbered(str(number)) == sorted(wanted)

    @invariant()
    def agrees(self) -> None:
        if not hasattr(self, "store"):
            return
        assert self.store.position("log") == self.position
        living = [job for job in self.known.values() if job.state is None or not job.state.ended]
        assert list(self.store.active()) == self._in_order(living)
        stored = self.store.get(self.known)
        assert {id_: job.document for id_, job in stored.items()} == self.known
        status = self.store.status()
        assert status.active == len(living)
        live = sum(job.revision is not None for job in stored.values())
        assert sum(status.states.values()) == live

    def _in_order(self, documents: Any) -> list[JobDocument]:
        return sorted(documents, key=lambda job: (Keys.of(job).time, job.id.encode()))


def run_machine(
    new_opener: Callable[[], Callable[[], Store]], examples: int, steps: int = 20
) -> None:
    """Run sequences of operations, each on a store that `new_opener` makes.

    Raises:
        AssertionError: the store behaves otherwise; shows the shortest sequence that was found.
    """

    class Machine(_Machine):
        opener = staticmethod(new_opener)

    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            print_blob=False,
        ),
    )
