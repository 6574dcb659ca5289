import os
import socket
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.limits import limit

from jobsight.service.systemd import Notifier


@contextmanager
def listener(address: str) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind("\0" + address[1:] if address.startswith("@") else address)
        heard.settimeout(limit(2))
        yield heard


@pytest.mark.parametrize("abstract", [False, True])
def test_all_is_heard_over_a_real_socket(tmp_path: Path, abstract: bool) -> None:
    address = f"@jobsight-{uuid.uuid4().hex}" if abstract else str(tmp_path / "notify")
    with listener(address) as heard:
        notifier = Notifier({"NOTIFY_SOCKET": address})
        notifier.ready()
        notifier.status("2 of 2\nwell \x1b[1m")
        notifier.stopping()
        told = [heard.recv(4096) for _ in range(3)]
        notifier.close()
    assert told == [b"READY=1", b"STATUS=2 of 2 well [1m", b"STOPPING=1"]


def test_signs_of_life_come_at_half_of_the_time_given(tmp_path: Path) -> None:
    address = str(tmp_path / "notify")
    now = [0.0]
    told = {
        "NOTIFY_SOCKET": address,
        "WATCHDOG_USEC": "10000000",
        "WATCHDOG_PID": str(os.getpid()),
    }
    with listener(address) as heard:
        notifier = Notifier(told, lambda: now[0])
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


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"WATCHDOG_USEC": "0"},
        {"WATCHDOG_USEC": "soon"},
        {"WATCHDOG_USEC": "9", "WATCHDOG_PID": "1"},
    ],
)
def test_without_a_watchdog_there_are_no_signs_of_life(told: dict[str, str]) -> None:
    notifier = Notifier(told)
    assert notifier.interval is None
    notifier.alive()


@pytest.mark.parametrize("address", ["", "relative", "/nowhere/at/all"])
def test_where_nobody_listens_nothing_happens(address: str) -> None:
    notifier = Notifier({"NOTIFY_SOCKET": address})
    notifier.ready()
    notifier.close()


def test_a_deaf_listener_does_not_block(tmp_path: Path) -> None:
    address = str(tmp_path / "notify")
    with listener(address):
        notifier = Notifier({"NOTIFY_SOCKET": address})
        for _ in range(2000):
            notifier.status("x" * 200)
        notifier.close()
