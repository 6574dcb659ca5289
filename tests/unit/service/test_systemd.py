import os
import socket
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.support.limits import limit

from jobsight.service import systemd
from jobsight.service.systemd import Notifier


@contextmanager
def listener(address: str) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind("\0" + address[1:] if address.startswith("@") else address)
        heard.settimeout(limit(2))
        yield heard


@pytest.mark.parametrize("abstract", [False, True])
def test_all_is_heard_over_a_real_socket(
    tmp_path: Path, abstract: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"@jobsight-{uuid.uuid4().hex}" if abstract else str(tmp_path / "notify")
    with listener(address) as heard:
        monkeypatch.setenv("NOTIFY_SOCKET", address)
        notifier = Notifier()
        notifier.ready()
        notifier.status("2 of 2\nwell \x1b[1m")
        notifier.stopping()
        told = [heard.recv(4096) for _ in range(3)]
        notifier.close()
    assert told == [b"READY=1", b"STATUS=2 of 2 well [1m", b"STOPPING=1"]


def test_signs_of_life_come_at_half_of_the_time_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = str(tmp_path / "notify")
    now = [0.0]
    monkeypatch.setattr(systemd, "monotonic", lambda: now[0])
    monkeypatch.setenv("NOTIFY_SOCKET", address)
    monkeypatch.setenv("WATCHDOG_USEC", "10000000")
    monkeypatch.setenv("WATCHDOG_PID", str(os.getpid()))
    with listener(address) as heard:
        notifier = Notifier()
        assert notifier.interval == 5.0
        for second in range(11):
            now[0] = float(second)
            notifier.alive()
        heard.settimeout(0.1)
        signs = [heard.recv(100) for _ in range(3)]
        with pytest.raises(TimeoutError):
            heard.recv(100)
        notifier.close()
    assert signs == [b"WATCHDOG=1"] * 3


@pytest.mark.parametrize(("limit_", "process"), [("", ""), ("0", ""), ("soon", ""), ("9", "1")])
def test_without_a_watchdog_there_are_no_signs_of_life(
    limit_: str, process: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WATCHDOG_USEC", limit_)
    monkeypatch.setenv("WATCHDOG_PID", process)
    notifier = Notifier()
    assert notifier.interval is None
    notifier.alive()


@pytest.mark.parametrize("address", ["", "relative", "/nowhere/at/all"])
def test_where_nobody_listens_nothing_happens(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", address)
    notifier = Notifier()
    notifier.ready()
    notifier.close()


def test_a_deaf_listener_does_not_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address = str(tmp_path / "notify")
    with listener(address):
        monkeypatch.setenv("NOTIFY_SOCKET", address)
        notifier = Notifier()
        for _ in range(2000):
            notifier.status("x" * 200)
        notifier.close()
