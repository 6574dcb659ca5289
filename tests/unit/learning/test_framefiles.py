"""Frames written as files."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.support.histories import micros, table

from jobsight.history.timelines import History
from jobsight.learning import framefiles
from jobsight.learning.framefiles import write_frames
from jobsight.learning.manifest import Source
from jobsight.questions.hold.question import HOLD
from jobsight.questions.hold.settings import HoldSettings

SETTINGS = HoldSettings.model_validate(
    {"frames": {"m": 4, "j": 3, "timeframe_len": 10.0}, "seed": 5, "horizon": 100.0}
)


def history_of(jobs: int) -> History:
    rows: list[dict[str, Any]] = []
    for cluster in range(1, jobs + 1):
        start = cluster * 5.0
        hold = {"hold_code": 13, "hold_subcode": 1, "reason": f"no {cluster * 'x'}"}
        rows += [
            {"at": start, "code": 0, "cluster": cluster},
            {"at": start + 20, "code": 12, "cluster": cluster, **hold},
            {"at": start + 40, "code": 13, "cluster": cluster},
        ]
        ends = {"at": start + 50, "cluster": cluster}
        if cluster % 3 == 0:
            rows.append(ends | {"code": 9, "reason": "via condor_rm (by user ann)"})
        else:
            rows.append(ends | {"code": 5, "return_value": cluster % 2})
    return History.from_table(table(sorted(rows, key=lambda row: row["at"])))


def write(folder: Path, jobs: int) -> dict[str, Any]:
    return write_frames(HOLD, history_of(jobs), SETTINGS, folder, [Source("pool.log", "00", 7)])


def test_what_is_written(tmp_path: Path) -> None:
    manifest = write(tmp_path / "out", 7)
    frames = np.load(tmp_path / "out/frames.npy", mmap_mode="r")
    assert frames.shape == (5, 4, 3)
    assert frames.dtype == np.uint8
    # Frames end 15, 25, 35 and 45 s after the epoch: submitted at 5, held at 25, released at 45.
    events = [SETTINGS.frames.state_events.index(code) + 1 for code in (0, 12, 12, 12)]
    assert frames[0, :, 0].tolist() == events
    assert np.load(tmp_path / "out/outcomes.npy").tolist() == [False, True, True, False, False]
    times = np.load(tmp_path / "out/times.npy")
    assert times.tolist() == [micros(cluster * 5 + 40) for cluster in (1, 2, 4, 5, 7)]
    assert np.load(tmp_path / "out/groups.npy").tolist() == [0, 1, 2, 3, 4]
    assert len(pl.read_parquet(tmp_path / "out/decisions.parquet")) == 5
    kept = {name: value for name, value in manifest.items() if name != "no_decision"}
    assert json.loads((tmp_path / "out/manifest.json").read_text()) == json.loads(json.dumps(kept))
    assert manifest["counts"]["censored"] == {"removed_by_user": 2}
    assert manifest["settings"]["seed"] == 5
    assert manifest["encoding"]["timeframe_len"] == 10.0
    assert manifest["sources"] == [{"name": "pool.log", "sha256": "00", "bytes": 7}]


def test_blocks_do_not_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "whole", 9)
    monkeypatch.setattr(framefiles, "_BLOCK", 2)
    write(tmp_path / "blocks", 9)
    whole, blocks = (np.load(tmp_path / name / "frames.npy") for name in ("whole", "blocks"))
    assert (whole == blocks).all()


def test_nothing_released_writes_empty_arrays(tmp_path: Path) -> None:
    manifest = write(tmp_path / "out", 0)
    assert np.load(tmp_path / "out/frames.npy").shape == (0, 4, 3)
    assert manifest["counts"]["examples"] == 0
    assert manifest["times"] == [None, None]
