"""Tokens on a real HTCondor pool: set from the map at submission, and taken from slots."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.testbed.condor import HtcondorPool
from tests.testbed.namespace import until

from jobsight.acting.condor.installing import SHARING, file_texts
from jobsight.acting.sharing.policy import Found, map_file, publish, withdraw
from jobsight.acting.sharing.vectors import Kind, Vector, key_of
from jobsight.settings import ActingSettings, CondorSettings, Mode, Settings

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def pool(bed_ready: None) -> Iterator[HtcondorPool]:
    """A pool of two slots with tokens, whose access point follows the map."""
    with HtcondorPool(settings=["MACHINE_RESOURCE_membw = 100"]) as pool:
        (pool.folder / "etc/condor" / SHARING).write_text(file_texts(acting(pool))[SHARING])
        map_file(acting(pool)).touch()
        # A schedd reads a map again only if it is of another second.
        os.utime(map_file(acting(pool)), (0, 0))
        pool.configure([f"include : /etc/condor/{SHARING}"])
        yield pool


@pytest.fixture(autouse=True)
def clean(pool: HtcondorPool) -> Iterator[None]:
    yield
    pool.remove_all()
    map_file(acting(pool)).unlink(missing_ok=True)


def acting(pool: HtcondorPool) -> ActingSettings:
    folder = pool.folder / "work" / "acting"
    folder.mkdir(exist_ok=True)
    return ActingSettings(folder=folder, mode="enforce")


def settings_of(pool: HtcondorPool, mode: Mode = "enforce") -> Settings:
    tool = pool.bin / "condor_reconfig"
    if not tool.exists():
        tool.write_text((pool.bin / "condor_q").read_text().replace("condor_q", "condor_reconfig"))
        tool.chmod(0o755)
    return Settings(
        condor=CondorSettings(bin=pool.bin), acting=acting(pool).model_copy(update={"mode": mode})
    )


def published(pool: HtcondorPool, tokens: Mapping[str, float], mode: Mode = "enforce") -> str:
    """Publish tokens by program of alice, and have the schedd read the map."""
    found: Found = {
        key_of("alice", name): Kind(Vector({"membw": share}, "measured, 3 runs"), "measured", 3)
        for name, share in tokens.items()
    }
    return publish(found, settings_of(pool, mode))


def asked(ad: Mapping[str, Any]) -> int | None:
    """The tokens that a job asks for, by whatever case of its name."""
    return next((value for name, value in ad.items() if name.lower() == "requestmembw"), None)


def program(pool: HtcondorPool) -> str:
    """The path of the program of the next job that is submitted."""
    before = pool.submit("exit 0")
    path = Path(pool.job(before)["Cmd"])
    pool.remove(before)
    number = int(path.stem.removeprefix("job-"))
    return str(path.with_name(f"job-{number + 1}.sh"))


def test_jobs_that_use_memory_keep_apart(pool: HtcondorPool) -> None:
    assert "tokens for 1 kinds of job" in published(pool, {program(pool): 0.6})
    cluster = pool.submit("sleep 60", count=3)
    until(lambda: len(pool.queue("JobStatus == 2")) >= 2, "two jobs to run")
    waiting = [ad for ad in pool.queue(f"ClusterId == {cluster}") if ad["JobStatus"] == 1]
    assert [asked(ad) for ad in pool.queue(f"ClusterId == {cluster}")] == [60, 60, 60]
    assert {ad["RemoteHost"].split("@")[1] for ad in pool.queue("JobStatus == 2")} == {
        "alpha", "beta",
    }  # fmt: skip
    # A job without tokens runs next to them.
    other = pool.submit("sleep 60", batch_name="other")
    pool.wait_running(other)
    assert asked(pool.job(other)) is None
    assert pool.job(cluster, waiting[0]["ProcId"])["JobStatus"] == 1


def test_a_users_own_request_stays(pool: HtcondorPool) -> None:
    published(pool, {program(pool): 0.6})
    assert asked(pool.job(pool.submit("sleep 60", request_membw=0))) == 0


@pytest.mark.parametrize("age", [86500, -(10**9)])
def test_an_old_map_is_not_followed(pool: HtcondorPool, age: int) -> None:
    name = program(pool)
    published(pool, {name: 0.6})
    path = map_file(acting(pool))
    lines = path.read_text().splitlines()
    lines[0] = f"* date {int(time.time()) - age}" if age > 0 else "* date soon"
    path.write_text("\n".join([*lines, ""]))
    os.utime(path, (0, time.time() - 10))
    pool.run("condor_reconfig", "-schedd")
    assert asked(pool.job(pool.submit("sleep 60"))) is None


def test_nothing_is_given_in_observe_nor_after_it_was_withdrawn(pool: HtcondorPool) -> None:
    name = program(pool)
    published(pool, {name: 0.6}, mode="observe")
    assert not map_file(acting(pool)).exists()
    published(pool, {name: 0.6})
    assert withdraw(settings_of(pool))
    assert asked(pool.job(pool.submit("sleep 60"))) is None


def test_the_map_is_written_at_most_hourly(pool: HtcondorPool) -> None:
    published(pool, {"a": 0.6})
    path = map_file(acting(pool))
    before = path.read_text()
    published(pool, {"b": 0.6})
    assert path.read_text() == before
    os.utime(path, (0, time.time() - 3700))
    published(pool, {"b": 0.6})
    assert "membw/alice/b 60" in path.read_text()
