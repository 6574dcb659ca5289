"""Real small programs, sampled until what they do is seen."""

import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.support.limits import limit

from jobsight.program.counters import SOFTWARE, Counters
from jobsight.program.procfs import Stat
from jobsight.program.profile import Window, measured
from jobsight.program.sampling import Doing, Sampler, _Process, children_of, machine, pressures


@contextmanager
def program(text: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A Python program that runs; it has printed a line. Ended with all its session."""
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(text), *arguments],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        assert process.stdout.readline()
        yield process
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def sampled(sampler: Sampler, enough: Callable[[Window], bool]) -> Window:
    """Windows of ten samples, joined, until they are enough."""
    found, begun = Window(0.0), time.monotonic()
    while not enough(found):
        last = time.monotonic()
        for _ in range(10):
            signal.sigtimedwait([signal.SIGUSR2], 0.02)
            now = time.monotonic()
            sampler.sample(now - last)
            last = now
        found += sampler.window()
        assert time.monotonic() - begun < limit(20), found
    return found


def of(pid: int, *, fresh: bool = False) -> Sampler:
    return Sampler(lambda: [pid], fresh=fresh)


def test_a_loop_is_on_a_cpu() -> None:
    with program("print(flush=True)\nwhile True: pass") as one:
        found = sampled(of(one.pid), lambda window: window.cpu_s > 0.5)
    assert found.on_cpu + found.queued > 0.9 * found.seconds
    assert found.resident > 1 << 20


def test_a_program_that_reads_a_pipe_waits() -> None:
    with program("import sys; print(flush=True); sys.stdin.read()") as one:
        found = sampled(of(one.pid), lambda window: window.seconds > 0.5)
    assert found.on_cpu + found.io + found.sockets + found.capacity < 0.1 * found.seconds


def test_synchronous_writes_wait_for_the_disk(tmp_path: Path) -> None:
    writes = """
        import os, sys
        out = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_DSYNC)
        print(flush=True)
        while True:
            os.pwrite(out, bytes(65536), 0)
    """
    kind = subprocess.check_output(["stat", "-f", "-c", "%T", tmp_path], text=True)
    if kind == "tmpfs\n":
        pytest.skip("the temporary folder is in memory")
    with program(writes, str(tmp_path / "file")) as one:
        found = sampled(of(one.pid), lambda window: window.io > 0.2 and window.written > 0)
    off_cpu = found.seconds - found.on_cpu - found.queued  # how long depends on the disk
    assert found.io > 0.9 * off_cpu
    assert found.sockets == 0


CLIENT = """
    import select, socket, sys
    server = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    print(flush=True)
    while True:
        if "poll" in sys.argv:
            select.select([server], [], [])
        if not server.recv(1 << 20):
            break
"""


@pytest.mark.parametrize("how", ["recv", "poll"])
def test_a_client_waits_for_its_slow_peer(how: str) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        program(CLIENT, str(server.getsockname()[1]), how) as one,
    ):
        peer, _ = server.accept()
        sampler = of(one.pid, fresh=True)

        def enough(window: Window) -> bool:
            peer.sendall(bytes(10_000))
            return window.sockets > 0.5 and window.moved > 30_000

        found = sampled(sampler, enough)
        peer.close()
    assert found.sockets > 0.7 * (found.seconds - found.queued)
    assert measured([found], missing={}).shares["network"] > 0.6  # type: ignore[operator]


def test_a_client_of_many_short_connections_waits_for_them() -> None:
    client = """
        import socket, sys
        print(flush=True)
        while True:
            server = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=60)
            while server.recv(1 << 20): pass
            server.close()
    """
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        program(client, str(server.getsockname()[1])) as one,
    ):
        sampler = of(one.pid, fresh=True)
        found = Window(0.0)
        for _ in range(12):
            peer, _ = server.accept()
            found += sampled(sampler, lambda window: window.seconds > 0.1)
            peer.close()
    assert found.opened == 12
    assert found.sockets > 0.5 * (found.seconds - found.queued)


def test_a_connection_within_the_tree_is_not_the_network() -> None:
    pair = """
        import os, socket
        with socket.create_server(("127.0.0.1", 0)) as server:
            client = socket.create_connection(server.getsockname())
            peer, _ = server.accept()
        if os.fork():
            peer.close()
            print(flush=True)
            client.recv(1)
        else:
            client.close()
            peer.recv(1)
    """
    with program(pair) as one:
        found = sampled(of(one.pid), lambda window: window.seconds > 0.5)
    assert found.sockets == 0


def test_a_grandchild_is_watched_when_its_parent_ends() -> None:
    forks = """
        import os, sys
        if os.fork():
            os.wait()                       # the child ends; its own child goes on
            sys.stdin.readline()
        elif os.fork():
            sys.stdin.readline()
            os._exit(0)
        else:
            print(os.getpid(), flush=True)
            while True: pass
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(forks)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        orphan = int(process.stdout.readline())
        sampler = of(process.pid)
        assert len(sampler.running) == 3
        process.stdin.write("\n")
        process.stdin.flush()
        sampled(sampler, lambda _: len(sampler.running) == 2)
        assert set(sampler.running) == {process.pid, orphan}
        found = sampled(sampler, lambda window: window.cpu_s > 0.3)
        assert found.on_cpu > 0
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def test_the_time_of_children_that_come_and_go_is_counted() -> None:
    spawns = """
        import os
        print(flush=True)
        while True:
            if (pid := os.fork()) == 0:
                sum(range(200_000)); os._exit(0)
            os.waitpid(pid, 0)
    """
    with program(spawns) as one:
        sampler = of(one.pid)
        found = sampled(sampler, lambda window: window.cpu_s > 0.5)
        fields = Path(f"/proc/{one.pid}/stat").read_text().rpartition(")")[2].split()
    whole = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    assert 0.5 * whole < found.cpu_s <= whole + 0.05


def test_threads_of_a_process_are_all_looked_at() -> None:
    threads = """
        import threading
        def loop():
            while True: pass
        for _ in range(2):
            threading.Thread(target=loop, daemon=True).start()
        print(flush=True)
        threading.Event().wait()
    """
    with program(threads) as one:
        found = sampled(of(one.pid), lambda window: window.cpu_s > 0.5)
    assert found.on_cpu + found.queued > 0.8 * found.seconds


def test_what_has_ended_or_never_was_is_left_out() -> None:
    with program("print(flush=True); input()") as one:
        sampler = of(one.pid)
        assert set(sampler.running) == {one.pid}
    sampler.sample(0.1)
    assert sampler.running == {}
    assert sampler.window().seconds == pytest.approx(0.1)
    assert children_of(one.pid) == []


def test_counters_follow_a_command_and_its_children() -> None:
    counters = Counters(SOFTWARE, (1, 2))  # task clock in ns, page faults
    if counters.missing:
        pytest.skip(counters.missing)
    work = "import os\nif os.fork(): os.wait()\nsum(range(3_000_000))"
    before = os.times()
    subprocess.run([sys.executable, "-c", work], check=True)
    after = os.times()
    used = (
        after.children_user + after.children_system - before.children_user - before.children_system
    )
    clock, faults = counters.read()
    counters.close()
    assert clock is not None
    assert clock / 1e9 == pytest.approx(used, rel=0.3, abs=0.05)
    assert faults


def test_the_machine_is_described() -> None:
    found = machine()
    assert found["cpus"] == os.cpu_count()
    assert found["memory_mb"]
    assert set(pressures()) <= {"cpu", "io", "memory"}


def test_time_seen_ready_to_run_but_not_run_is_queue_before_the_kernel_counts_it() -> None:
    stat = Stat("S", 1, 0, 0.4, 0.0, 2, 0, 0)
    seen = {Doing.RUNNING: 0.9, Doing.WAITING: 0.1}
    part = _Process(stat, queue=0.0, wall=1.0, cpu=0.4, queued=0.1, seen=seen).part()
    assert (part.on_cpu, part.queued) == pytest.approx((0.4, 0.5))
