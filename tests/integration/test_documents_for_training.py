"""Training from the store is training from the log: the same decisions, the same inputs."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.support.growing import Follower, read_at_once

from jobsight.documents import decode, encode
from jobsight.history.events import read_events
from jobsight.history.eventtables import event_table
from jobsight.history.timelines import History
from jobsight.learning.dataset import Dataset
from jobsight.questions.hold.question import HOLD
from jobsight.questions.hold.settings import HoldSettings

POOL = Path(__file__).resolve().parents[2] / "data" / "pool-a.log.gz"
PREFIX = 9 << 20
"""Bytes of the pool's log: about the first 2 000 jobs."""


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pool") / "EventLog"
    with gzip.open(POOL) as whole:
        data = whole.read(PREFIX)
    path.write_bytes(data[: data.rindex(b"\n...\n") + 5])
    return path


@pytest.fixture(scope="module")
def read(log: Path) -> pl.DataFrame:
    return read_events([str(log)], timezone="UTC").table


def test_the_documents_are_the_log(log: Path, read: pl.DataFrame) -> None:
    documents = read_at_once([log])
    assert len(documents) > 1900
    back = event_table(decode(encode(one)) for one in documents.values())
    assert back.drop("source").equals(read.drop("source"))


def test_following_in_many_polls_gives_the_same_inputs(log: Path, read: pl.DataFrame) -> None:
    one = Follower(log, events_per_poll=3000)
    one.catch_up()
    one.close()
    back = event_table(one.documents.values())
    assert back.drop("source").equals(read.drop("source"))
    settings = HoldSettings()
    mine, other = (
        Dataset.for_training(HOLD, History.from_table(table), settings) for table in (back, read)
    )
    assert mine.table.equals(other.table)
    assert mine.encoding == other.encoding
    told = [data.builder.build(data.table.head(300), "0.0")[1] for data in (mine, other)]
    assert told[0].features.tobytes() == told[1].features.tobytes()
    assert told[0].frames is not None
    assert told[1].frames is not None
    assert told[0].frames.tobytes() == told[1].frames.tobytes()
    for name, column in told[0].causes.items():
        assert np.array_equal(column, told[1].causes[name])
