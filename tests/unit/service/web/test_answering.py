"""What the service answers, kept up with its store; and the same answers for assistants."""

import asyncio
import gc
import itertools
import json
import os
import socket
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any
from weakref import ref

import pytest
from mcp.client.client import Client
from tests.support.serving import client, documents, site, still_held
from tests.support.storedjobs import HOSTILE, filled, slurm_job

from jobsight.answering.tables import Tables
from jobsight.documents import State
from jobsight.errors import JobError
from jobsight.history.jobtable import JobTable
from jobsight.service.web.application import peer_of
from jobsight.service.web.asking import answers_for_waiting, warm_up
from jobsight.service.web.mcp import server
from jobsight.service.web.ready import Ready
from jobsight.service.web.site import Site
from jobsight.service.web.tokens import Caller
from jobsight.settings import Settings
from jobsight.store import open_store

ALL = Caller("root", "admin")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """A site whose store has been read."""
    found = site(tmp_path_factory.mktemp("site"))
    found.follower.start()
    assert found.follower.await_ready(120) is not None
    return found


def test_tables_that_follow_are_those_read_anew(tmp_path: Path) -> None:
    url = filled(tmp_path / "jobs.db", documents())
    with open_store(url) as store:
        before = Tables.read(store)
        changed = [
            still_held(0, at=95),
            still_held(5),
            slurm_job("90", State.PENDING, State.RUNNING),
        ]
        store.merge(changed)
        seen: list[str] = []
        after, anew = before.followed(store, lambda one: seen.append(one.id)), Tables.read(store)
        assert sorted(seen) == sorted(one.id for one in changed)
        assert after.followed(store, lambda _: None) is after
    for name in ("table", "starts", "ends", "changes"):
        assert getattr(after.jobs, name).equals(getattr(anew.jobs, name)), name
    assert after.history is not None and anew.history is not None
    assert after.history.table.equals(anew.history.table)


def test_what_was_made_of_jobs_that_did_not_change_is_kept(tmp_path: Path) -> None:
    with open_store(filled(tmp_path / "jobs.db", documents())) as store:
        tables = Tables.read(store)
    before, after = Ready(tables, Settings()), Ready(tables, Settings())
    keys = [("job", "hold", "a"), ("job", "hold", "b"), ("similar", "a"), ("held", None)]
    for key in keys:
        before.cached(key, 3600.0, lambda: "then")
    after.keep(before, {"b"})
    assert [after.cached(key, 3600.0, lambda: "now") for key in keys] == [
        "then", "now", "then", "now"
    ]  # fmt: skip


def test_what_a_change_replaces_is_freed_at_once(tmp_path: Path) -> None:
    """Cycles of references kept whole histories until Python looked for such: 70 MB a minute."""
    with open_store(filled(tmp_path / "jobs.db", documents())) as store:
        ready = Ready(Tables.read(store), Settings())
        warm_up(ready, store, first=False)
    gone: list[ref[object]] = [
        ref(ready.session("hold").source),
        ref(ready.require_history()),
        ref(ready.tables.jobs),
    ]
    gc.disable()
    try:
        del ready
        assert [one() for one in gone] == [None, None, None]
    finally:
        gc.enable()


@pytest.mark.slow
def test_while_it_warms_up_it_says_so_and_shows_what_is_known(tmp_path: Path) -> None:
    found, go = site(tmp_path), threading.Event()
    prepare = found.follower._prepare

    def waited(ready: Ready) -> None:
        go.wait()
        prepare(ready)

    found.follower._prepare = waited
    with client(found, "root", "admin") as asks:
        assert asks.get("/api/v1/health").json()["state"] == "warming"
        for path in ("/", "/jobs/90"):
            page = asks.get(path)
            assert page.status_code == 200 and "has just started" in page.text
            assert "name of rid:90" in page.text
        assert asks.get("/api/v1/held").status_code == 503
        go.set()
        assert found.follower.await_ready(120) is not None
        assert asks.get("/api/v1/health").json()["state"] == "ready"
        assert "has just started" not in asks.get("/").text


def test_what_is_made_anew_keeps_nobody_waiting(tmp_path: Path) -> None:
    with open_store(filled(tmp_path / "jobs.db", documents())) as store:
        ready = Ready(Tables.read(store), Settings())
    numbers, begun = itertools.count(), threading.Event()

    def make() -> int:
        begun.set()
        return next(numbers)

    assert ready.cached("key", 0.2, make) == 0
    begun.clear()
    time.sleep(0.2)
    with ready.lock:  # it cannot be made now
        assert ready.cached("key", 0.2, make) == 0
    assert begun.wait(10)
    while ready.cached("key", 60, make) == 0:
        time.sleep(0.01)
    assert ready.cached("key", 60, make) == 1

    def fail() -> int:
        raise JobError(f"number {next(numbers)}")

    for _ in range(2):
        with pytest.raises(JobError, match="number 2"):
            ready.cached("other", 60, fail)


@pytest.mark.slow
def test_a_list_that_is_ahead_of_the_tables_and_an_error_do_not_end_the_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = site(tmp_path, follow_seconds=0.05)
    ended = found.store.get(["slurm:grid:1"])["slurm:grid:1"].document
    waits = found.store.get(["slurm:grid:90"])["slurm:grid:90"].document
    tables = Tables.read(found.store)
    rows = Ready(replace(tables, jobs=JobTable.read([ended, waits])), found.settings)
    assert answers_for_waiting(rows, [ended.id, waits.id])["start"].keys() == {waits.id}

    prepare, failed = found.follower._prepare, threading.Event()

    def fails(ready: Ready) -> None:
        if not failed.is_set():
            failed.set()
            raise KeyError("a fault")
        prepare(ready)

    looks, look = 0, found.follower._look

    def counted() -> None:
        nonlocal looks
        look()
        looks += 1

    found.follower._prepare = fails
    monkeypatch.setattr(found.follower, "_look", counted)
    found.follower.start()
    ready = found.follower.await_ready(120)
    assert ready is not None and failed.is_set()
    while looks < 2:  # another look at the same state makes nothing better
        time.sleep(0.01)
    error = found.follower.errors.snapshot()
    assert error is not None and error["over"] is None
    found.store.merge([still_held(7)])
    again = found.follower.await_ready(120, found.store.revision())
    assert again is not None and again is not ready
    found.follower.stop()
    error = found.follower.errors.snapshot()
    assert error is not None and error["over"] is not None


@pytest.mark.slow
def test_held_jobs_are_one_decision_by_cause_for_those_who_may_see_them(served: Site) -> None:
    (group,) = served.held(ALL)
    assert (group["jobs"], group["owners"]) == (2, ["ann", "bob"])
    assert group["advice"]["steps"]
    (own,) = served.held(Caller("bob", "user"))
    assert own["members"] == ["htcondor:ap40:77.1"]
    assert served.held(Caller("eve", "user")) == []


@pytest.mark.slow
def test_every_question_answers_for_jobs_and_scripts(served: Site) -> None:
    text = "#!/bin/bash\n#SBATCH --mem=1G --time=10\nif true; then\n"

    async def asked() -> tuple[dict[str, Any], dict[str, Any]]:
        answers = await served.answers(ALL, "90"), await served.script(ALL, "run.sh", text)
        await served.analysts.close()
        return answers

    found, sent = asyncio.run(asked())
    assert found["answers"]["start"]["state"] == "pending"
    assert found["answers"]["fail"]["probability"] is not None
    assert "only these are held" in found["problems"]["hold"]
    assert sent["answers"]["fail"]["job"] is None and "hold" not in sent["answers"]
    assert any(one["severity"] == "error" for one in sent["check"]["findings"])
    assert {one["id"] for one in served.pending(ALL)} >= {"slurm:grid:90", "slurm:grid:91"}


@pytest.mark.slow
def test_a_new_hold_is_told_to_those_who_may_see_it(tmp_path: Path) -> None:
    found = site(tmp_path, follow_seconds=0.05)

    async def watched() -> tuple[bytes, bytes]:
        streams = [await found.events.subscribe(Caller(name, "user")) for name in ("ann", "bob")]
        for one in streams:
            await anext(one)
        assert found.events.open == 2
        with open_store(found.store.url) as other:
            await asyncio.to_thread(other.merge, [still_held(7)])
        news = [await asyncio.wait_for(anext(one), 60) for one in streams]
        for one in streams:
            await one.aclose()  # type: ignore[attr-defined]
        return news[0], news[1]

    found.follower.start()
    assert found.follower.await_ready(120) is not None
    to_ann, to_bob = asyncio.run(watched())
    assert to_ann.startswith(b"event: hold") and b"htcondor:ap40:77.7" in to_ann
    assert to_bob.startswith(b"event: state")
    assert found.events.open == 0
    found.follower.stop()


@pytest.mark.slow
def test_assistants_get_the_same_answers_as_data(served: Site) -> None:
    async def asked() -> tuple[set[str], str, str]:
        async with Client(server(served, ALL)) as client_:
            tools = {one.name for one in (await client_.list_tools()).tools}
            jobs = await client_.call_tool("list_jobs", {"state": "pending"})
            none = await client_.call_tool("show_job", {"job": "9999"})
            models = await client_.call_tool("list_models", {})
            assert models.content[0].text == '{"data": []}'  # type: ignore[union-attr]
            return tools, jobs.content[0].text, none.content[0].text  # type: ignore[union-attr]

    tools, jobs, none = asyncio.run(asked())
    assert {"list_jobs", "show_job", "ask_about_job", "held_jobs", "ask_about_script"} <= tools
    assert {one["job"] for one in json.loads(jobs)["data"]} == {"90", "91", "95"}
    assert not any(one in jobs for one in HOSTILE if one < " " or one > "\x7f")
    assert "the store has no job 9999" in json.loads(none)["error"]


def test_metrics_name_no_job_and_no_user(tmp_path: Path) -> None:
    with client(site(tmp_path), None) as asked:
        asked.get("/api/v1/jobs/slurm:grid:90")
        text = asked.get("/metrics").text
    assert 'jobsight_requests_total{method="GET",route=' in text
    assert not any(word in text for word in ('"ann', '"bob', '"eve', "grid:90"))


def test_a_unix_socket_says_who_is_at_the_other_end() -> None:
    ends = socket.socketpair()
    assert [peer_of(one) for one in ends] == [os.getuid()] * 2
    for one in ends:
        one.close()
    with (
        socket.create_server(("127.0.0.1", 0)) as listening,
        socket.create_connection(listening.getsockname()) as asking,
    ):
        accepted, _ = listening.accept()
        assert peer_of(accepted) == peer_of(asking) == os.getuid()
        accepted.close()


@pytest.mark.slow
def test_examples_in_the_description_have_keys_of_what_is_answered(tmp_path: Path) -> None:
    found = site(tmp_path)
    with client(found, "root", "admin") as asks:
        assert found.follower.await_ready(120) is not None
        described = asks.get("/openapi.json").json()["paths"]

        def of(path: str, method: str = "get") -> Any:
            answer = described[f"/api/v1{path}"][method]["responses"]["200"]["content"]
            return answer["application/json"]["example"]

        lists = {path: asks.get(f"/api/v1{path}").json() for path in ("/jobs", "/held", "/pending")}
        assert of("/jobs").keys() <= lists["/jobs"].keys()
        assert of("/jobs")["jobs"][0].keys() <= lists["/jobs"]["jobs"][0].keys()
        assert of("/held")[0].keys() <= lists["/held"][0].keys()
        assert of("/pending")[0].keys() <= lists["/pending"][0].keys()
        own, answered = of("/jobs/{id}/answers"), asks.get("/api/v1/jobs/90/answers").json()
        assert own.keys() <= answered.keys()
        for question in ("fail", "start"):
            assert own["answers"][question].keys() <= answered["answers"][question].keys()
        assert of("/health").keys() <= asks.get("/api/v1/health").json().keys()
        sent = asks.post("/api/v1/answers/fail", json={"jobs": ["90"]}).json()
        assert of("/answers/{question}", "post")["answers"][0].keys() <= sent["answers"][0].keys()
