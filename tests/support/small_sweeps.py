"""A small sweep on a small log, quick enough to be run whole in a test."""

import datetime as dt
from pathlib import Path
from typing import Any

from jobsight.files import write_json
from tests.support import pools
from tests.support.logtext import SEPARATOR

BODIES = {
    0: "Job submitted from host: <192.0.2.1:9618?alias=ap1>\n",
    1: "Job executing on host: <192.0.2.7:9618>\n\tSlotName: {slot}\n",
    5: "Job terminated.\n\t(1) Normal termination (return value 0)\n",
    9: "Job was aborted.\n\tvia condor_rm (by user x)\n",
    12: "Job was held.\n\t{reason}\n\tCode {hold_code} Subcode {hold_subcode}\n",
    13: "Job was released.\n\tvia condor_release (by user x)\n",
}

SPACE: dict[str, Any] = {
    "j": {"distribution": "int_uniform", "min": 2, "max": 5},
    "m": {"distribution": "int_uniform", "min": 3, "max": 6},
    "hidden_size": {"values": [4, 8]},
    "learning_rate": {"distribution": "log_uniform_values", "min": 0.001, "max": 0.1},
}


def write_log(path: Path, *, clusters: int = 220, seed: int = 1) -> Path:
    """The log of a pool of `tests.support.pools`, as HTCondor would write it."""
    with path.open("wb") as log:
        for row in pools.events(clusters, seed).iter_rows(named=True):
            moment: dt.datetime = row["time"]
            head = f"{row['code']:03d} ({row['cluster']:03d}.{row['proc']:03d}.000) "
            head += f"{moment:%Y-%m-%d %H:%M:%S} "
            log.write((head + BODIES[row["code"]].format_map(row)).encode() + SEPARATOR)
    return path


def config(folder: Path, **changed: Any) -> Path:
    """The config of a sweep of three runs on ``pool.log`` beside it; JSON is YAML too."""
    content: dict[str, Any] = {
        "data": ["pool.log"],
        "runs": 3,
        "epochs": 2,
        "parameters": SPACE,
        "settings": {"bootstrap": 100, "delays": []},
        "at_once": 2,
    }
    path = folder / "sweep.yaml"
    write_json(
        path, {key: value for key, value in (content | changed).items() if value is not None}
    )
    return path
