"""From windows and accounting to shares and classes."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobsight.documents import JobDocument, State, Usage
from jobsight.program.profile import (
    CLASSES,
    Profile,
    Timeline,
    Window,
    accounted,
    joined,
    measured,
    window_shares,
)

SECONDS = st.floats(0, 50)
COUNTS = st.none() | st.floats(0, 1e12)
WINDOWS = st.builds(
    Window, st.floats(1, 100), on_cpu=SECONDS, queued=SECONDS, io=SECONDS, sockets=SECONDS,
    capacity=SECONDS, cpu_s=SECONDS, moved=st.integers(0, 10**9), read=st.integers(0, 10**9),
    instructions=COUNTS, misses=COUNTS,
)  # fmt: skip
MISSING = st.sets(st.sampled_from(["memory", "network"])).map(
    lambda names: dict.fromkeys(names, "x")
)


@given(
    st.lists(WINDOWS, max_size=6),
    MISSING,
    st.none() | st.tuples(st.floats(0, 1e9), st.floats(1, 1e12)),
    st.booleans(),
)
def test_measured_shares_add_up_to_one(
    windows: list[Window], missing: dict[str, str], counted: tuple[float, float] | None, gpus: bool
) -> None:
    found = measured(windows, missing=missing, counted=counted, gpus=gpus)
    shares = [share for share in found.shares.values() if share is not None]
    assert all(0 <= share <= 1 + 1e-9 for share in shares)
    assert set(found.shares) == set(CLASSES) >= set(found.classes)
    assert {name for name, share in found.shares.items() if share is None} == set(found.unmeasured)
    if shares:
        assert math.isclose(sum(shares), 1, abs_tol=1e-9)


@given(st.lists(st.tuples(WINDOWS, MISSING, st.booleans()), min_size=1, max_size=4))
def test_shares_of_several_nodes_add_up_to_one(
    nodes: list[tuple[Window, dict[str, str], bool]],
) -> None:
    profiles = [
        measured([window], missing=missing, counted=(1.0, 100.0) if counted else None)
        for window, missing, counted in nodes
    ]
    profiles = [profile for profile in profiles if profile.shares["waiting"] is not None]
    if not profiles:
        return
    found = joined(profiles, gpus=False)
    assert math.isclose(sum(share or 0.0 for share in found.shares.values()), 1, abs_tol=1e-9)
    missing = {name for name, share in found.shares.items() if share is None}
    assert missing == {name for profile in profiles for name in profile.unmeasured}
    if len(profiles) == 1:
        assert found.shares == pytest.approx(profiles[0].shares)


def test_a_node_counts_by_its_time() -> None:
    disk, loop = Window(30.0, io=30.0), Window(10.0, on_cpu=10.0, cpu_s=10.0)
    nodes = [measured([window], missing={"memory": "x"}) for window in (disk, loop)]
    found = joined(nodes, gpus=False)
    assert (found.shares["io"], found.shares["cpu"], found.classes) == (0.75, 0.25, ("io",))
    assert joined(nodes[1:], gpus=True).classes == ("cpu", "memory", "gpu")


@given(st.lists(WINDOWS, max_size=6))
def test_seconds_of_a_window_are_its_wall_time_less_the_queue(windows: list[Window]) -> None:
    for window, split in zip(windows, window_shares(windows), strict=True):
        assert 0 <= sum(split.values()) <= window.seconds * (1 + 1e-9)
        if not window.queued:
            assert math.isclose(sum(split.values()), window.seconds, rel_tol=1e-9)


@given(st.lists(WINDOWS, max_size=4), st.integers(1, 600))
def test_a_timeline_keeps_all_seconds_in_few_windows(windows: list[Window], times: int) -> None:
    timeline = Timeline()
    for window in windows * times:
        timeline.add(replace(window, instructions=None, misses=None))
    timeline.close()
    assert len(timeline.windows) <= 1024
    for name in ("seconds", "io", "read"):
        kept = sum(getattr(window, name) for window in timeline.windows)
        assert kept == pytest.approx(times * sum(getattr(window, name) for window in windows))


def profile_of(*, gpus: bool = False, missing: str = "", **parts: float) -> Profile:
    window = Window(
        4.0, instructions=parts.pop("instructions", None), misses=parts.pop("misses", None)
    )
    filled = replace(window, **{name: 4 * part for name, part in parts.items()})  # type: ignore[arg-type]
    return measured([filled], missing=dict.fromkeys(missing.split(), "why"), gpus=gpus)


@pytest.mark.parametrize(
    ("parts", "classes"),
    [
        ({"on_cpu": 0.9}, ("cpu", "memory")),
        ({"on_cpu": 0.9, "instructions": 1e9, "misses": 2e6}, ("cpu",)),
        ({"on_cpu": 0.9, "instructions": 1e9, "misses": 6e6}, ("cpu", "memory")),
        ({"on_cpu": 0.9, "instructions": 1e9, "misses": 5e7}, ("memory",)),
        ({"on_cpu": 0.6}, ("waiting",)),
        ({"on_cpu": 0.3, "io": 0.4}, ("io",)),
        ({"on_cpu": 0.4, "queued": 0.6}, ("cpu", "memory")),
        ({"sockets": 0.8, "moved": 1e6}, ("network",)),
        ({"sockets": 0.8, "moved": 10}, ("waiting",)),
        ({"sockets": 0.8, "opened": 2}, ("network",)),
        ({"sockets": 0.8, "moved": 1e6, "missing": "network"}, ("network", "waiting")),
        ({"on_cpu": 0.5, "capacity": 0.2}, ("memory",)),
        ({"gpus": True}, ("waiting", "gpu")),
        # 64 processes, each a tenth on a CPU and else at its disk: bound by the disk.
        ({"on_cpu": 6.4, "io": 57.6}, ("io",)),
    ],
)  # fmt: skip
def test_the_class_is_what_the_measurement_leaves(
    parts: dict[str, float], classes: tuple[str, ...]
) -> None:
    assert profile_of(**parts).classes == classes  # type: ignore[arg-type]


def test_a_short_run_has_shares_but_no_class() -> None:
    found = measured([Window(1.0, on_cpu=1.0)], missing={})
    assert (found.classes, found.shares["cpu"]) == ((), 1.0)


def test_stalls_split_the_time_on_a_cpu() -> None:
    shares = profile_of(on_cpu=1.0, instructions=1e9, misses=1e7).shares
    assert shares["memory"] == pytest.approx(0.5)  # 10 misses of 100 cycles per 1000 instructions


def test_bytes_count_for_the_seconds_around() -> None:
    idle = Window(1.0, sockets=1.0)
    found = window_shares([replace(idle, moved=10**6), *[idle] * 30])
    assert [split["network"] for split in found[:4]] == [1.0] * 4
    assert found[20]["network"] == 0.0


@pytest.mark.parametrize(
    ("usage", "classes"),
    [
        (Usage(wall_s=100, cpu_s=390, cpus=4), ("cpu", "memory")),
        (Usage(wall_s=100, cpu_s=99, cpus=4), ("cpu", "memory", "io", "network", "waiting")),
        (Usage(wall_s=100, cpu_s=9, cpus=4, gpus=1), ("io", "network", "waiting", "gpu")),
        (Usage(wall_s=1, cpu_s=1), ()),
    ],
)
def test_accounting_leaves_several_classes(usage: Usage, classes: tuple[str, ...]) -> None:
    found = accounted(JobDocument(id="slurm:c:1", updated=0, usage=usage))
    assert found is not None
    assert (found.source, found.classes) == ("accounting", classes)


def test_nothing_is_concluded_from_accounting_that_was_lost_with_the_node() -> None:
    usage = Usage(wall_s=21_600, cpu_s=12.0, cpus=8)
    lost = JobDocument(id="slurm:c:1", updated=0, state=State.NODE_FAIL, usage=usage)
    assert accounted(lost) is None


@given(st.none() | st.floats(0, 1e9), st.none() | st.floats(0, 1e9), st.none() | st.integers(0, 99))
def test_accounted_shares_add_up_to_one(
    wall: float | None, cpu: float | None, cpus: int | None
) -> None:
    found = accounted(
        JobDocument(id="slurm:c:1", updated=0, usage=Usage(wall_s=wall, cpu_s=cpu, cpus=cpus))
    )
    if found is not None:
        shares = [share for share in found.shares.values() if share is not None]
        assert math.isclose(sum(shares), 1)
        assert all(0 <= share <= 1 for share in shares)
        assert {"memory", "io", "network", "gpu"} == set(found.unmeasured)
