"""Servers that tests of stores may stop, fill and tamper with."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.support.limits import prove
from tests.testbed import RedisServer


@pytest.fixture(params=["redis", pytest.param("valkey", marks=prove)])
def server(request: pytest.FixtureRequest, bed_ready: None) -> Iterator[RedisServer]:
    with RedisServer(request.param) as started:
        yield started
