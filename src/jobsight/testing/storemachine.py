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
from jobsight.store.packing import Keys
from jobsight.testing.storedocuments import NOON, event, made_partial
from jobsight.testing.storeprocesses import Opener

__all__ = ["run_machine"]

_NUMBERS = st.integers(0, 12)
_TIMES = st.integers(0, 40)
_USERS = st.sampled_from([None, "ada", "", "sha256:1", "ü\u202e"])
_POINTS = st.sampled_from(["ap", "b;c", "b"])
_LIVING = [state for state in State if not state.ended]
_STATES = st.sampled_from([None, *State])


def _is_living(document: JobDocument, states: list[State]) -> bool:
    """Whether no state is known, and all that have not ended are asked for."""
    return document.state is None and set(states) >= set(_LIVING)


class _Machine(RuleBasedStateMachine):
    opener: Callable[[], Opener]

    @initialize()
    def begin(self) -> None:
        self.open_ = type(self).opener()
        self.store: Store = self.open_()
        self.known: dict[str, JobDocument] = {}
        self.position: dict[str, int] | None = None
        self.numbered = 0

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()

    def _partial(
        self, number: int, time: int, state: State | None, user: str | None, point: str
    ) -> JobDocument:
        self.numbered += 1
        parts_of = event(NOON + time, state, position=self.numbered)
        return made_partial(number, parts_of, user=user, access_point=point)

    @rule(
        parts_of=st.lists(st.tuples(_NUMBERS, _TIMES, _STATES, _USERS, _POINTS), max_size=6),
        moves=st.booleans(),
    )
    def merge(
        self, parts_of: list[tuple[int, int, State | None, str | None, str]], moves: bool
    ) -> None:
        parts = [self._partial(*one) for one in parts_of]
        new = {"at": self.numbered}
        self.store.merge(parts, [Move("log", self.position, new)] if moves else [])
        if moves:
            self.position = new
        for part in parts:
            self.known[part.id] = merge(self.known.get(part.id), part)

    @rule(number=_NUMBERS, time=_TIMES, state=_STATES, right=st.booleans(), point=_POINTS)
    def put(self, number: int, time: int, state: State | None, right: bool, point: str) -> None:
        partial = self._partial(number, time, state, "ada", point)
        found = self.store.get([partial.id])
        assert {id_: one.document for id_, one in found.items()} == (
            {partial.id: self.known[partial.id]} if partial.id in self.known else {}
        )
        document = merge(self.known.get(partial.id), partial)
        based_on = found[partial.id].revision if found else None
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
        wanted = [
            one
            for one in self.known.values()
            if (since is None or Keys.of(one).time >= since)
            and (until is None or Keys.of(one).time < until)
            and (states is None or one.state in states or _is_living(one, states))
            and (user is None or one.submission.user == user)
            and (cluster is None or one.id.rpartition(":")[0] == cluster)
        ]
        wanted.sort(key=lambda one: (Keys.of(one).time, one.id.encode()), reverse=newest_first)
        found = self.store.scan(limit=limit, newest_first=newest_first, **asked)
        assert list(found) == wanted[:limit]

    @invariant()
    def agrees(self) -> None:
        if not hasattr(self, "store"):
            return
        assert self.store.position("log") == self.position
        living = [one for one in self.known.values() if one.state is None or not one.state.ended]
        living.sort(key=lambda one: (Keys.of(one).time, one.id))
        assert list(self.store.active()) == living
        status = self.store.status()
        assert status.active == len(living)
        found = self.store.get(self.known)
        assert {id_: one.document for id_, one in found.items()} == self.known
        live = sum(one.revision is not None for one in found.values())
        assert sum(status.states.values()) == live


def run_machine(new_opener: Callable[[], Opener], examples: int, steps: int = 20) -> None:
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
