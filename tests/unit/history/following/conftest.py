"""What the tests of followed logs share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from tests.support.growing import Begun, Follow, Follower, GrowingLog, event


@pytest.fixture
def follow() -> Iterator[Follow]:
    """Makes followers of logs, which are closed after the test."""
    with ExitStack() as opened:
        yield lambda path, **settings: opened.enter_context(closing(Follower(path, **settings)))


@pytest.fixture
def begun(tmp_path: Path, follow: Follow) -> Begun:
    """Begins a log with one event and a follower that has read it."""

    def begin(*, keep: int = 99, **settings: Any) -> tuple[GrowingLog, Follower]:
        log = GrowingLog(tmp_path, keep=keep)
        log.write(event(0, 1))
        one = follow(log.path, **settings)
        one.catch_up()
        return log, one

    return begin
