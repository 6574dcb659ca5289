"""Profiles that prologs left, taken into documents; the draw of the prolog itself."""

from __future__ import annotations

import copy
import hashlib
import json
import os
import re
import resource
import subprocess
import time
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobsight.documents import JobDocument, Submission, Usage, slurm_id
from jobsight.program.examples import example_of
from jobsight.program.profile import Window, measured
from jobsight.service.profiles import job_on_node, pick_up
from jobsight.store import Store, open_store

SCRIPT = Submission(script="#!/bin/sh\ntrue\n")
DISK, LOOP = Window(30.0, io=30.0), Window(10.0, on_cpu=10.0, cpu_s=10.0)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(str(tmp_path / "jobs.db"), create=True) as store:
        yield store


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "profiles"
    path.mkdir()
    return path


def content(*windows: Window, job: int = 7, node: str = "n1") -> dict[str, Any]:
    profile = measured(windows, missing={"memory": "not counted"})
    drawn = {"probability": 0.01, "cluster": "c", "node": node}
    return profile.document(slurm=job, drawn=drawn, machine={"gpus": False}, command=None)


def left(folder: Path, text: object, name: str = "a", *, age: float = 120.0) -> Path:
    path = folder / f"{name}.json"
    path.write_text(text if isinstance(text, str) else json.dumps(text))
    os.utime(path, (time.time() - age,) * 2)
    return path


def bound(store: Store, job: str = "7") -> Any:
    id_ = slurm_id("c", job)
    return store.get([id_])[id_].document.usage.bound


def known(store: Store, *jobs: str, **submission: str) -> None:
    store.merge([JobDocument(slurm_id("c", job), 1, submission=SCRIPT) for job in jobs])
    for job, raw in submission.items():
        document = JobDocument(slurm_id("c", job.strip("j")), 2, submission=Submission(raw_id=raw))
        store.merge([document])


def test_nodes_are_joined_and_bound_learns_from_them(store: Store, folder: Path) -> None:
    known(store, "7")
    left(folder, content(DISK, node="n1"), "a")
    left(folder, content(LOOP, node="n2"), "b")
    assert pick_up(store, folder) == {"saved": 2}
    assert list(folder.iterdir()) == []
    kept = bound(store)
    assert (kept["nodes"], kept["probability"], kept["classes"]) == (2, 0.01, ["io"])
    assert (kept["shares"]["io"], kept["shares"]["cpu"]) == (0.75, 0.25)
    example = example_of(store.get([slurm_id("c", "7")])[slurm_id("c", "7")].document)
    assert example is not None
    assert (example.measured, example.classes) == (True, ("io",))


def test_a_kill_before_files_are_removed_changes_nothing(store: Store, folder: Path) -> None:
    known(store, "7")
    for _ in range(2):
        left(folder, content(DISK, node="n1"), "a")
        left(folder, content(LOOP, node="n2"), "b")
        pick_up(store, folder)
        assert bound(store)["nodes"] == 2
        assert bound(store)["shares"]["io"] == 0.75


def test_a_node_that_is_late_does_not_replace_the_others(store: Store, folder: Path) -> None:
    known(store, "7")
    for node in ("n1", "n2"):
        left(folder, content(DISK, node=node), node)
    pick_up(store, folder)
    left(folder, content(LOOP, node="n3"))
    assert pick_up(store, folder) == {"saved": 1}
    assert bound(store)["classes"] == ["io"]


def test_of_two_runs_on_a_node_the_last_one_counts(store: Store, folder: Path) -> None:
    known(store, "7")
    left(folder, content(LOOP), "b", age=500)
    left(folder, content(DISK), "a")
    pick_up(store, folder)
    assert (bound(store)["nodes"], bound(store)["classes"]) == (1, ["io"])


def test_files_wait_for_other_nodes_and_for_their_job(store: Store, folder: Path) -> None:
    early = left(folder, content(DISK), "a", age=5)
    unknown = left(folder, content(DISK, job=8), "b")
    known(store, "7")
    assert pick_up(store, folder) == {"waiting": 2}
    assert early.exists()
    assert unknown.exists()
    left(folder, content(DISK, job=8), "b", age=8 * 86400)
    assert pick_up(store, folder) == {"waiting": 1, "no such job": 1}
    assert not unknown.exists()


def test_what_is_too_short_does_not_hide_what_accounting_says(store: Store, folder: Path) -> None:
    store.merge([JobDocument(slurm_id("c", "7"), 1, usage=Usage(wall_s=9.0, cpu_s=9.0))])
    left(folder, content(Window(0.5, on_cpu=0.5)), "a")
    left(folder, content(node="n2"), "b")
    assert pick_up(store, folder) == {"too short": 2}
    assert bound(store) is None


def _changed(path: str, value: object) -> str:
    changed = copy.deepcopy(content(DISK))
    *place, last = path.split(".")
    inner = changed
    for name in place:
        inner = inner[name]
    inner[last] = value
    return json.dumps(changed)


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{", "\0", '{"schema": "jobsight.profile/1"}', "[" * 5000,
        json.dumps(content(DISK)) + " " * (1 << 16),
        _changed("shares", {"cpu": 1.0}),
        _changed("shares.cpu", 2.0),
        _changed("shares.evil", 0.5),
        _changed("classes", ["\x1b[2J"]),
        _changed("unmeasured.gpu", "x" * 10_000),
        _changed("drawn.probability", 7),
        _changed("drawn.cluster", "c:9"),
        _changed("drawn", None),
        _changed("slurm", "7"),
        _changed("signals.wall_s", -1.0),
    ],
)  # fmt: skip
def test_what_no_prolog_wrote_is_refused_and_removed(store: Store, folder: Path, text: str) -> None:
    known(store, "7")
    left(folder, text)
    assert pick_up(store, folder) == {"unreadable": 1}
    assert list(folder.iterdir()) == []
    assert bound(store) is None


@given(st.binary(max_size=200))
def test_any_bytes_are_refused(tmp_path_factory: pytest.TempPathFactory, text: bytes) -> None:
    folder = tmp_path_factory.mktemp("any")
    (folder / "a.json").write_bytes(text)
    with open_store(str(folder / "jobs.db"), create=True) as store:
        assert pick_up(store, folder) == {"unreadable": 1}


def test_links_pipes_and_files_of_others_are_not_followed(
    store: Store, folder: Path, tmp_path: Path
) -> None:
    known(store, "7")
    outside = left(tmp_path, content(DISK))
    (folder / "link.json").symlink_to(outside)
    os.mkfifo(folder / "pipe.json")
    for name in ("off", "half.json.part", "other.txt"):
        (folder / name).touch()
    old = folder / "old.json.part"
    old.touch()
    os.utime(old, (0, 0))
    assert pick_up(store, folder) == {"unreadable": 2}
    assert outside.exists()
    assert sorted(path.name for path in folder.iterdir()) == ["half.json.part", "off", "other.txt"]


def test_a_number_on_a_node_names_the_newest_job_a_task_or_a_component(store: Store) -> None:
    known(store, "7", "7@2", "7@10", j20_3="21", j20_4="20")
    store.merge([JobDocument(slurm_id("other", "8"), 1)])
    assert job_on_node(store, "c", "7") == "slurm:c:7@10"
    assert job_on_node(store, "c", "21") == "slurm:c:20_3"
    assert job_on_node(store, "c", "20") == "slurm:c:20_4"  # the last task to start has the array's
    assert job_on_node(store, "c", "20_3") == "slurm:c:20_3"
    assert job_on_node(store, "c", "8") is None


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_the_prolog_draws_the_share_by_a_hash_of_the_job(shell: str) -> None:
    script = files("jobsight.acting").joinpath("files/slurm/jobsight-prolog.sh").read_text("utf-8")
    draw = re.findall(r"^drawn\(\) \{.*?^\}$", script, re.M | re.S)[0]
    loop = f"{draw}\nSALT=salt\nfor SLURM_JOB_ID in $JOBS; do drawn && echo $SLURM_JOB_ID; done"
    jobs = range(1000, 1200)

    def chosen(share: str) -> set[int]:
        environment = {**os.environ, "SHARE": share, "JOBS": " ".join(map(str, jobs))}
        said = subprocess.run(
            [shell, "-c", loop], env=environment, capture_output=True, text=True, check=False
        )
        return set(map(int, said.stdout.split()))

    def drawn(job: int) -> float:
        digest = hashlib.sha256(f"salt {job}".encode()).hexdigest()
        return int(digest[:12], 16) % 1_000_000 / 1e6

    for share in ("0.1", "0.25", "0.099999"):
        assert chosen(share) == {job for job in jobs if drawn(job) < float(share)}
    assert 10 <= len(chosen("0.1")) <= 32  # of 20 ± 4
    assert chosen("1.0") == chosen("1") == chosen("1.000000") == set(jobs)
    assert chosen("0.0") == chosen("0") == chosen("1e-05") == chosen("") == set()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become a user who may start nothing")
@pytest.mark.parametrize("name", ["prolog", "epilog"])
def test_a_node_that_can_start_no_process_is_not_drained(name: str) -> None:
    def status(text: str) -> int:
        environment = {"PATH": os.environ["PATH"]} | dict.fromkeys(
            ("SLURM_JOB_ID", "SLURM_JOB_UID", "SLURM_JOB_GID", "SLURM_CLUSTER_NAME"), "5"
        )
        return subprocess.run(
            ["sh", "-c", text],
            env=environment,
            user=64_999,
            group=64_999,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NPROC, (1, 1)),
            stderr=subprocess.DEVNULL,
            check=False,
        ).returncode

    assert status("x=$(echo 1)") != 0
    script = files("jobsight.acting").joinpath(f"files/slurm/jobsight-{name}.sh")
    assert status(script.read_text("utf-8")) == 0
