"""Examples of answers for the description of the API."""

from __future__ import annotations

from typing import Any

__all__ = ["example"]

_JOB = {
    "id": "slurm:grid:77", "job": "77", "scheduler": "slurm", "cluster": "grid", "user": "ann",
    "name": "fit", "state": "pending", "submitted": 1_795_224_900_000_000,
    "changed": 1_795_224_900_000_000, "waited_s": 312.0, "ran_s": None, "memory_mb": None,
    "why": "Resources",
}  # fmt: skip
_FAIL = {
    "job": "77", "id": "slurm:grid:77", "at": "2026-11-21 01:40:12Z", "moment": "submission",
    "probability": 0.31, "interval": [0.22, 0.4], "kind": "out_of_memory",
    "kinds": {"out_of_memory": 0.8, "failed": 0.2},
    "evidence": [{"what": "request", "text": "of this user's last 12 runs 5 failed"}],
    "advice": {"text": "ask for 4 GB", "option": "--mem=4G"}, "with_advice": 0.06,
    "core_hours_at_stake": 4.9, "blocked": None, "model": "mixture@30504b05",
}  # fmt: skip
_START = {
    "job": "77", "id": "slurm:grid:77", "at": "2026-11-21 01:40:12Z", "moment": "pending",
    "state": "pending", "wait_s": [60.0, 540.0, 2400.0],
    "start": ["2026-11-21 01:41:12Z", "2026-11-21 01:49:12Z", "2026-11-21 02:20:12Z"],
    "runtime_s": [300.0, 1500.0, 3600.0], "end": None, "blocked": None, "reason": "Resources",
    "waits_for": ["35 running jobs with 140 CPUs"], "advice": [], "scheduler_estimate": None,
    "model": "mixture@73f0c1aa",
}  # fmt: skip
_HELD = {
    "verb": "release", "jobs": 2, "said_for": 2,
    "members": ["htcondor:ap40:2153.22", "htcondor:ap40:2153.23"], "owners": ["ann"],
    "place": "cluster 2153 on ap40", "cause": 3, "hold_code": 13, "hold_subcode": 256,
    "reason": "Transfer input files failure", "probability": 0.86, "interval": [0.71, 0.94],
    "gain": 1.5,
    "advice": {"steps": [{"text": "release them", "command": "condor_release -name ap40 2153"}]},
    "held_since": 1_795_224_990_000_000,
    "evidence": [{"what": "same_cause", "text": "40 releases with this cause ended: 31 succeeded"}],
    "model": "mixture@0cd879ee",
}  # fmt: skip
_EXAMPLES: dict[str, Any] = {
    "jobs": {"jobs": [_JOB], "next": "1795224900000000:slurm:grid:77"},
    "answers": {
        "job": "slurm:grid:77",
        "answers": {"hold": None, "fail": _FAIL, "start": _START, "bound": None},
        "problems": {
            "hold": "slurm:grid:77 is not an HTCondor job; only these are held",
            "bound": "the store has no script of this job",
        },
    },
    "ask": {"answers": [{"job": "slurm:grid:77", "answer": _FAIL}]},
    "held": [_HELD],
    "pending": [{**_JOB, "fail": _FAIL, "start": _START}],
    "health": {
        "ok": True, "state": "ready", "ready": True, "behind": False, "version": "0.1.0",
        "uptime_s": 3600.0, "store": "sqlite", "revision": 8123, "jobs": 8600,
    },
}  # fmt: skip


def example(name: str) -> dict[int | str, dict[str, Any]]:
    """What FastAPI's `responses` takes: an example of what an operation answers."""
    return {200: {"content": {"application/json": {"example": _EXAMPLES[name]}}}}
