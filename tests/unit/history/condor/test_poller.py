"""The jobs of a user as HTCondor's tools report them, polled; and hostile ads."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.limits import examples, limit
from tests.unit.history.condor.condor_fakes import Tools

from jobsight.documents import JobDocument, State, decode, encode, merge
from jobsight.errors import SourceError
from jobsight.history.condor.client import Ad, CondorClient
from jobsight.history.condor.poller import CondorSource
from jobsight.history.eventtables import event_table
from jobsight.history.jobtable import JobTable
from jobsight.history.sources import Observed
from jobsight.history.timelines import History
from jobsight.settings import CondorSettings

T0 = 1_795_223_111


def ad(cluster: int, status: int = 1, *, entered: int = 0, **more: Any) -> Ad:
    """The ad of a job of ann's, `entered` seconds after its submission in its present status."""
    return {
        "ClusterId": cluster, "ProcId": 0, "Owner": "ann", "QDate": T0, "JobStatus": status,
        "EnteredCurrentStatus": T0 + entered, "ServerTime": T0 + 500, **more,
    }  # fmt: skip


def held(cluster: int, entered: int = 60, **more: Any) -> Ad:
    reason = {"HoldReason": "no file", "HoldReasonCode": 13, "HoldReasonSubCode": 2}
    start = {"JobStartDate": T0 + 5, "JobCurrentStartDate": T0 + 5, "LastJobStatus": 2}
    return ad(cluster, 5, entered=entered, **reason, **start, **more)


def done(cluster: int, code: int = 0, **more: Any) -> Ad:
    start = {"JobStartDate": T0 + 5, "JobCurrentStartDate": T0 + 5, "CompletionDate": T0 + 90}
    return ad(cluster, 4, entered=90, ExitBySignal=False, ExitCode=code, **start, **more)


class Keeper:
    """Polls through the tools of a folder, each time as a new process does; keeps the documents."""

    def __init__(self, folder: Path, **chosen: Any) -> None:
        self.tools = Tools(folder)
        self.settings = CondorSettings(
            **{"bin": folder, "user": "ann", "timeout": limit(10)} | chosen
        )
        self.schedd: str | None = None
        self.documents: dict[str, JobDocument] = {}
        self.position: dict[str, Any] | None = None
        self.now = T0 + 500.0
        self.tools.answer("condor_q", [])
        self.tools.answer("condor_history", [])

    def poll(self, queue: list[Ad] | None = None, ended: list[Ad] | None = None) -> CondorSource:
        for tool, ads in (("condor_q", queue), ("condor_history", ended)):
            if ads is not None:
                self.tools.answer(tool, ads)
        client = CondorClient(self.settings, schedd=self.schedd)
        source = CondorSource(client, "ap1", self.settings, clock=lambda: self.now)
        source.resume(self.position, self.living)
        self.last = source.poll()
        self.keep(self.last)
        while self.last is not None and self.last.more:
            self.last = source.poll()
            self.keep(self.last)
        assert set(client.calls.values()) <= {1}
        self.now += 60
        return source

    def keep(self, observed: Observed | None) -> None:
        assert observed is not None
        for document in observed.documents:
            self.documents[document.id] = merge(self.documents.get(document.id), document)
        self.position = json.loads(json.dumps(observed.position))

    def living(self, cluster: str | None) -> Any:
        assert cluster == "htcondor:ap1"
        return (one for one in self.documents.values() if not (one.state and one.state.ended))

    def job(self, cluster: int) -> JobDocument:
        return self.documents[f"htcondor:ap1:{cluster}.0"]

    def codes(self, cluster: int) -> list[int | None]:
        return [event.code for event in self.job(cluster).timeline]

    def asked(self, tool: str) -> list[list[str]]:
        return [call[1:] for call in self.tools.calls() if call[0] == tool]


@pytest.fixture
def keeper(tmp_path: Path) -> Keeper:
    return Keeper(tmp_path)


def test_a_life_in_the_queue_and_its_end_in_the_history(keeper: Keeper) -> None:
    keeper.poll([ad(7)])
    assert (keeper.job(7).state, keeper.job(7).submission.user) == (State.PENDING, "ann")
    keeper.poll([held(7, NumHolds=1, RequestMemory=64)])
    assert keeper.job(7).state is State.HELD
    keeper.poll(
        [ad(7, 1, entered=100, LastJobStatus=5, ReleaseReason="fixed", JobStartDate=T0 + 5)]
    )
    released = keeper.job(7).timeline[-1]
    assert (keeper.job(7).state, released.code, released.reason) == (State.PENDING, 13, "fixed")
    run = {"JobStartDate": T0 + 5, "JobCurrentStartDate": T0 + 110, "NumJobStarts": 2}
    keeper.poll([ad(7, 2, entered=110, LastJobStatus=1, MemoryUsage=70, **run)])
    assert keeper.job(7).state is State.RUNNING
    evicted = {"LastVacateTime": T0 + 120, "VacateReasonCode": 1004, "VacateReason": "by user"}
    keeper.poll([ad(7, 1, entered=120, LastJobStatus=2, **run, **evicted)])
    assert (keeper.job(7).timeline[-1].code, keeper.job(7).timeline[-1].vacate_code) == (4, 1004)
    keeper.poll([], [done(7, 3) | run | {"CompletionDate": T0 + 190, "NumJobStarts": 3}])
    last = keeper.job(7)
    assert last.outcome is not None and last.outcome.exit_code == 3
    assert keeper.codes(7) == [0, 1, 12, 13, 1, 4, 5]
    assert (last.usage.starts, last.usage.holds, last.usage.memory_mb) == (3, 1, 70)


def test_the_same_again_changes_nothing(keeper: Keeper) -> None:
    queue, ended = [ad(7), held(8), ad(9, 2, JobCurrentStartDate=T0 + 1)], [done(6)]
    keeper.poll(queue, ended)
    before = dict(keeper.documents)
    keeper.poll([one | {"ServerTime": T0 + 900} for one in queue], ended)
    assert keeper.documents == before


def test_the_history_is_read_from_what_is_known_on(keeper: Keeper) -> None:
    keeper.poll([], [done(12), done(11)])
    keeper.poll([], [])
    first, second = keeper.asked("condor_history")
    assert first[-1] == "ann" and "-since" not in first
    since = second[second.index("-since") + 1]
    assert "ClusterId == 12 && ProcId == 0" in since
    assert f"EnteredCurrentStatus < {T0 + 500 - 3600}" in since
    assert 'Owner == "ann"' in second and "-scanlimit" in second
    keeper.poll([], [])  # what is newest stays known
    assert "ClusterId == 12 &&" in keeper.asked("condor_history")[2][-1]


def test_all_users_are_asked_about_where_that_is_set(tmp_path: Path) -> None:
    keeper = Keeper(tmp_path, user="*")
    keeper.poll([ad(7, Owner="bob"), ad(8)])
    assert {one.submission.user for one in keeper.documents.values()} == {"ann", "bob"}
    calls = [*keeper.asked("condor_q"), *keeper.asked("condor_history")]
    assert len(calls) == 2
    assert all("-constraint" not in call for call in calls)


@pytest.mark.parametrize(("set_", "name"), [(None, "ann"), ("bob", "bob"), ("12", "12")])
def test_whose_jobs_are_asked_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, set_: str | None, name: str
) -> None:
    monkeypatch.setenv("LOGNAME", "ann")
    keeper = Keeper(tmp_path, user=set_)
    keeper.poll()
    assert f'Owner == "{name}"' in keeper.asked("condor_q")[0]
    # A number would be that of a cluster.
    assert (keeper.asked("condor_history")[0][-1] == name) == (not name.isdigit())


def test_a_user_with_a_name_that_no_expression_holds_is_one_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOGNAME", 'a" || true || "')
    with pytest.raises(SourceError, match=r"condor\.user"):
        Keeper(tmp_path, user=None).poll()


# --- jobs that are in neither ---


def test_a_job_that_left_without_a_record_has_ended_until_one_comes(keeper: Keeper) -> None:
    keeper.poll([ad(7), ad(8, Owner="bob")])
    keeper.poll([], [])
    assert keeper.job(7).state is State.UNKNOWN_END
    assert keeper.job(8).state is State.PENDING  # nothing was asked about bob's jobs
    keeper.poll([], [done(7)])
    assert keeper.job(7).state is State.COMPLETED


def test_where_not_all_of_the_queue_was_shown_no_job_has_left_it(tmp_path: Path) -> None:
    keeper = Keeper(tmp_path, queue_most=2)
    keeper.poll([ad(7)])
    keeper.poll([ad(8), ad(9)])
    assert keeper.last is not None and "queue_most" in keeper.last.missed[0]
    assert keeper.job(7).state is State.PENDING
    keeper.poll([ad(8)])
    assert {one.state for one in map(keeper.job, (7, 9))} == {State.UNKNOWN_END}


def test_more_ends_than_are_asked_for_are_counted_but_not_at_first(tmp_path: Path) -> None:
    keeper = Keeper(tmp_path, history_most=1)
    keeper.poll([], [done(7)])
    assert keeper.last is not None and not keeper.last.missed
    keeper.poll([], [done(8)])
    assert "history_most" in keeper.last.missed[0]


def test_of_a_long_queue_what_still_waits_is_not_reported_again(keeper: Keeper) -> None:
    queue = [ad(number) for number in range(1, 1002)]
    keeper.poll(queue)
    assert len(keeper.documents) == 1001
    keeper.now += 3600
    runs = ad(1001, 2, entered=4000, JobCurrentStartDate=T0 + 4000)
    keeper.poll([*queue[:-2], held(1000, 4000), runs])
    assert keeper.last is not None
    assert {one.id for one in keeper.last.documents} == {
        "htcondor:ap1:1000.0", "htcondor:ap1:1001.0",
    }  # fmt: skip


# --- failures ---


def fails(keeper: Keeper, tool: str, script: str) -> None:
    (keeper.tools.folder / tool).write_text(f"#!/bin/sh\n{script}\n")


def test_without_a_history_the_queue_answers_and_the_history_rests(keeper: Keeper) -> None:
    fails(keeper, "condor_history", "exec sleep 60")
    keeper.settings = keeper.settings.model_copy(update={"timeout": limit(1.0)})
    source = keeper.poll([held(7)])
    assert keeper.job(7).state is State.HELD
    assert source.problem is not None and "no answer within" in source.problem
    (keeper.tools.folder / "condor_history").unlink()
    resting = keeper.poll()
    assert "condor_history" not in resting.status()["calls"]
    assert resting.problem == source.problem
    keeper.now += 600
    missing = keeper.poll().problem
    assert missing is not None and "condor_history is not in" in missing
    keeper.now += 600
    Tools(keeper.tools.folder)
    assert keeper.poll([], [done(7)]).problem is None
    assert keeper.job(7).state is State.COMPLETED
    # All of it at once was too much: now no more is looked through than is set.
    assert "-scanlimit" in keeper.asked("condor_history")[0]


def test_a_schedd_that_is_down_leaves_what_the_history_has(keeper: Keeper) -> None:
    keeper.poll([ad(7), ad(8)])
    fails(keeper, "condor_q", "echo cannot connect >&2; exit 1")
    source = keeper.poll(None, [done(7)])
    assert source.problem == "condor_q: cannot connect"
    assert (keeper.job(7).state, keeper.job(8).state) == (State.COMPLETED, State.PENDING)


def test_where_nothing_answers_that_is_an_error_and_the_position_stays(keeper: Keeper) -> None:
    keeper.poll([ad(7)])
    before = keeper.position
    for tool in ("condor_q", "condor_history"):
        fails(keeper, tool, "echo cannot connect >&2; exit 1")
    with pytest.raises(SourceError, match="condor_q: cannot connect"):
        keeper.poll()
    keeper.schedd = "elsewhere"  # which is asked but once
    with pytest.raises(SourceError, match="condor_q: cannot connect"):
        keeper.poll()
    assert keeper.position == before


@pytest.mark.parametrize(
    "position",
    [
        {"version": 2}, {"newest": ["a", 1]}, {"newest": 5}, {"asked": None}, {"logs": [1]},
        {"logs": {"/a": ["ann"]}}, {"newest": [1]},
    ],
)  # fmt: skip
def test_a_damaged_position_is_one_clear_error(keeper: Keeper, position: dict[str, Any]) -> None:
    keeper.position = position
    with pytest.raises(SourceError, match="position of condor:ap1"):
        keeper.poll()


# --- hostile ads ---


def test_ads_of_no_job_and_of_the_future_are_counted(keeper: Keeper) -> None:
    strange = [{"Owner": "ann"}, ad(7, ProcId=2**40), ad(8, 5, entered=10**9)]
    source = keeper.poll([*strange, ad(9)])
    assert source.status()["ads_refused"] == 3
    assert list(keeper.documents) == ["htcondor:ap1:9.0"]


def test_halves_of_characters_are_replaced(keeper: Keeper) -> None:
    keeper.tools.answer("condor_q", json.dumps([held(7, Cmd="/bin/\ud800x")]).encode())
    keeper.poll()
    assert keeper.job(7).submission.command == "/bin/\ufffdx"


class Shown(CondorClient):
    """A client that gives these ads."""

    def __init__(self, queue: Sequence[Ad], ended: Sequence[Ad]) -> None:
        super().__init__(CondorSettings())
        self._shown = {"condor_q": list(queue), "condor_history": list(ended)}

    def _ads(self, tool: str, arguments: list[str]) -> list[Ad]:
        return self._shown[tool]


_TEXTS = st.text(max_size=8) | st.sampled_from(["/dev/null", "/Expr(x)/", "\0", "..", "/", "ann"])
_NUMBERS = st.integers() | st.sampled_from([0, -1, 2**31, 2**63, T0, T0 + 60, 2**33]) | st.floats()
_VALUES = st.none() | st.booleans() | _NUMBERS | _TEXTS | st.lists(_NUMBERS, max_size=2)
_NAMES = st.sampled_from([
    *held(1), *done(1), "UserLog", "DAGManNodesLog", "Iwd", "LastVacateTime", "VacateReasonCode",
    "NumHolds", "GlobalJobId", "Requirements", "LastJobStatus",
])  # fmt: skip
_STATUS = st.integers(0, 8)
_ADS = st.builds(
    lambda cluster, status, more: ad(cluster, status) | more,
    st.integers(1, 4), _STATUS, st.dictionaries(_NAMES, _VALUES | _STATUS, max_size=12),
)  # fmt: skip


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(_ADS, max_size=6), st.lists(_ADS, max_size=6))
def test_whatever_ads_say_documents_and_tables_can_be_made_of_them(
    queue: list[Ad], ended: list[Ad]
) -> None:
    kept: dict[str, JobDocument] = {}
    source = CondorSource(Shown(queue, ended), "ap1", CondorSettings(user="ann"))
    source.resume(None, lambda _: iter(()))
    observed = source.poll()
    assert observed is not None
    for document in observed.documents:
        kept[document.id] = merge(kept.get(document.id), document)
    assert all(decode(encode(one)) == one for one in kept.values())
    History.from_table(event_table(kept.values()))
    JobTable.read(kept.values())
    json.dumps(observed.position)
