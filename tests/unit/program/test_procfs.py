"""What Linux reports of processes, parsed: real content, and any bytes."""

import os
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobsight.program.counters import CACHE, last_level_cache, parse_cachegrind
from jobsight.program.procfs import (
    Wait,
    numbers,
    parse_call,
    parse_fields,
    parse_pressure,
    parse_sockets,
    parse_stat,
)
from jobsight.program.slurmjob import cgroup_processes, parse_listpids

STAT = (
    b"77 (a) R 1 (b)) S 12 77 77 0 -1 4194560 100 200 3 4 150 50 20 30 20 0 2 0 12345 8192000 "
    b"25 18446744073709551615 0 0"
)


def test_a_process_with_a_hostile_name_is_read() -> None:
    found = parse_stat(STAT)
    assert found is not None
    tick = os.sysconf("SC_CLK_TCK")
    assert (found.state, found.parent, found.threads, found.started) == ("S", 12, 2, 12345)
    assert (found.cpu_s, found.children_s, found.faults) == (200 / tick, 50 / tick, 7)
    assert found.resident == 25 * os.sysconf("SC_PAGE_SIZE")


def test_this_process_is_read() -> None:
    found = parse_stat(Path("/proc/self/stat").read_bytes())
    assert found is not None
    assert found.parent == os.getppid()


def test_fields_and_pressure_are_read() -> None:
    assert parse_fields(b"read_bytes: 4096\nVmSwap:\t 12 kB\nName:\tx\n") == {
        b"read_bytes": 4096, b"VmSwap": 12,
    }  # fmt: skip
    pressure = b"some avg10=0.00 avg60=0.00 avg300=0.00 total=2500000\nfull avg10=0 total=7\n"
    assert parse_pressure(pressure) == 2.5


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="system calls of x86_64")
@pytest.mark.parametrize(
    ("content", "wait"),
    [
        (b"45 0x3 0x7f 0x0 0x0 0x0 0x0 0x7ffd 0x7f50\n", Wait.SOCKET),
        (b"232 0x4 0x7f 0x0 0x0 0x0 0x0 0x7ffd 0x7f50\n", Wait.POLL),
        (b"35 0x7ffd 0x7f 0x0 0x0 0x0 0x0 0x7ffd 0x7f50\n", Wait.OTHER),
        (b"running\n", None),
    ],
)
def test_the_system_call_says_what_is_waited_for(content: bytes, wait: Wait | None) -> None:
    found = parse_call(content)
    assert (found and found.wait) == wait


def test_cachegrinds_totals_are_read_by_column() -> None:
    head = (
        b"desc: I1 cache: 32768 B\ncmd: x\nevents: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw\nfl=a\n"
    )
    assert parse_cachegrind(head, b"1 2\nsummary: 1000 5 1 300 9 7 200 3 2\n") == (10.0, 1000.0)
    assert parse_cachegrind(head, b"1 2\n") is None


def test_listed_processes_are_those_of_the_job() -> None:
    printed = (
        b"PID      JOBID    STEPID   LOCALID GLOBALID\n12 77 batch 0 0\n13 78 0 0 0\n-1 77 0 - -\n"
    )
    assert parse_listpids(printed, 77) == {12}


def test_processes_of_a_job_come_from_its_control_groups(tmp_path: Path) -> None:
    step = tmp_path / "system.slice/node1_slurmstepd.scope/job_77/step_batch"
    for name, content in (("user/task_0", "12\n13\n"), ("slurm", "11\n")):
        (step / name).mkdir(parents=True)
        (step / name / "cgroup.procs").write_text(content)
    assert cgroup_processes(77, tmp_path) == {12, 13}
    assert cgroup_processes(7, tmp_path) == set()


def test_processes_of_a_job_come_from_groups_named_by_its_sluid(tmp_path: Path) -> None:
    scope = tmp_path / "system.slice/slurmstepd.scope"
    for name, content in (("sEKNKTV3WPV500", "12\n"), ("sEKNKTV3WPV501", "13\n")):
        task = scope / name / "step_0/user/task_0"
        task.mkdir(parents=True)
        (task / "cgroup.procs").write_text(content)
    assert cgroup_processes(77, tmp_path, "sEKNKTV3WPV500") == {12}
    assert cgroup_processes(77, tmp_path) == set()
    assert cgroup_processes(77, tmp_path, "*") == set()
    assert cgroup_processes(77, tmp_path, "../slurmstepd.s") == set()


@given(st.binary(max_size=300) | st.binary(max_size=40).map(lambda tail: STAT[:60] + tail))
def test_any_bytes_are_parsed_or_left_out(content: bytes) -> None:
    parse_stat(content)
    parse_call(content)
    parse_fields(content)
    parse_pressure(content)
    parse_listpids(content, 1)
    parse_cachegrind(content, content)
    found, _ = parse_sockets(content)
    assert all(one.moved >= 0 for one in found)
    assert len(numbers(content, 3)) <= 3


@given(st.integers(0, 400), st.binary(max_size=8))
def test_a_cut_or_damaged_reply_of_the_kernel_is_parsed(cut: int, end: bytes) -> None:
    reply = _reply()
    parse_sockets(reply[:cut] + end + reply[cut + len(end) :])


def _reply() -> bytes:
    """A reply of two sockets, built by the layout of sock_diag(7)."""
    ends = (80).to_bytes(2, "big") + (5000).to_bytes(2, "big") + socket.inet_aton("10.0.0.1")
    ends += bytes(12) + socket.inet_aton("10.0.0.2") + bytes(12) + bytes(12)
    head = bytes([socket.AF_INET, 1, 0, 0]) + ends + bytes(16) + (991).to_bytes(4, "little")
    info = bytes(120) + (300).to_bytes(8, "little") + (200).to_bytes(8, "little")
    body = head + (4 + len(info)).to_bytes(2, "little") + (2).to_bytes(2, "little") + info
    one = (16 + len(body)).to_bytes(4, "little") + (20).to_bytes(2, "little") + bytes(10) + body
    return one + one


def test_the_bytes_of_a_connection_are_read() -> None:
    found, last = parse_sockets(_reply())
    assert not last
    assert [(one.inode, one.moved) for one in found] == [(991, 500)] * 2
    assert found[0].ends[0][:4] == socket.inet_aton("10.0.0.1")


def test_the_last_level_cache_is_the_one_of_the_highest_level(tmp_path: Path) -> None:
    assert last_level_cache(tmp_path) == CACHE
    for index, level, size in ((0, 1, "32K"), (1, 1, "64K"), (2, 2, "512K"), (3, 3, "36864K")):
        (tmp_path / f"index{index}").mkdir()
        (tmp_path / f"index{index}/level").write_text(f"{level}\n")
        (tmp_path / f"index{index}/size").write_text(f"{size}\n")
    assert last_level_cache(tmp_path) == 36 << 20
