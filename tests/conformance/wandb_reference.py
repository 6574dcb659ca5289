"""What W&B's own sweeps package makes of parameters, grids and definitions, as JSON.

`ask` runs this file by a Python that has the package (``pip install sweeps==0.3.0``; it wants
numpy 1, so it cannot be installed beside Jobsight). What it said is kept in
``tests/conformance/wandb_sweeps.json``; to make that again::

    python3 -m venv /tmp/wb && /tmp/wb/bin/pip install sweeps==0.3.0
    python -m tests.conformance.wandb_reference /tmp/wb/bin/python \\
        > tests/conformance/wandb_sweeps.json
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

QUANTILES = [0.0013, 0.0519, 0.137, 0.2501, 0.3333, 0.4999, 0.6181, 0.751, 0.8613, 0.9487, 0.9991]

SPECS: list[dict[str, Any]] = [
    {"value": 3},
    {"values": [16, 32, 64, 128]},
    {"values": ["a", True, 2.5]},
    {"values": ["a", "b", "c"], "probabilities": [0.2, 0.0, 0.8]},
    {"min": 10, "max": 100},
    {"min": 0.5, "max": 2.5},
    {"distribution": "int_uniform", "min": -3, "max": 3},
    {"distribution": "uniform", "min": 0.0, "max": 0.1},
    {"distribution": "uniform", "min": 1, "max": 5},
    {"distribution": "q_uniform", "min": 3, "max": 101, "q": 8},
    {"distribution": "q_uniform", "min": 0.0, "max": 1.0, "q": 0.1},
    {"distribution": "q_uniform", "min": 0.0, "max": 9.0},
    {"distribution": "log_uniform", "min": -9.5, "max": -1.2},
    {"distribution": "log_uniform_values", "min": 1e-5, "max": 0.1},
    {"distribution": "q_log_uniform", "min": 3.4, "max": 5.6, "q": 8},
    {"distribution": "q_log_uniform_values", "min": 32, "max": 256, "q": 8},
    {"distribution": "q_log_uniform_values", "min": 30, "max": 101, "q": 8},
    {"distribution": "q_log_uniform_values", "min": 0.01, "max": 1.0, "q": 0.02},
    {"distribution": "inv_log_uniform", "min": 1.0, "max": 4.0},
    {"distribution": "inv_log_uniform_values", "min": 0.001, "max": 0.5},
    {"distribution": "normal"},
    {"distribution": "normal", "mu": 5, "sigma": 0.25},
    {"distribution": "q_normal", "mu": 50, "sigma": 10, "q": 5},
    {"distribution": "log_normal", "mu": -4, "sigma": 0.5},
    {"distribution": "q_log_normal", "mu": 3, "sigma": 0.5, "q": 4},
    {"distribution": "beta"},
    {"distribution": "beta", "a": 2, "b": 5},
    {"distribution": "q_beta", "a": 2, "b": 5, "q": 0.05},
]

GRIDS: list[dict[str, Any]] = [
    {"b": {"values": [3, 1, 2]}, "a": {"values": ["x", "y"]}, "c": {"value": 7}},
    {"n": {"min": 2, "max": 4}, "q": {"distribution": "q_uniform", "min": 0, "max": 9, "q": 3}},
    {"q": {"distribution": "q_uniform", "min": 0.5, "max": 1.4, "q": 0.2}, "d": {"values": [1, 1]}},
    {
        "z": {"values": [1, 2]},
        "g": {"parameters": {"b": {"values": [1, 2]}, "a": {"min": 0, "max": 1}}},
    },
]


def ask(python: str | Path, definitions: list[dict[str, Any]]) -> dict[str, Any]:
    """What the package says, asked by a Python that has it; of definitions, what is wrong."""
    done = subprocess.run(
        [str(python), "-W", "ignore", str(Path(__file__))],
        input=json.dumps(definitions),
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _say(definitions: list[dict[str, Any]]) -> dict[str, Any]:
    from importlib.metadata import version

    from sweeps import grid_search, params  # type: ignore[import-not-found]
    from sweeps.config.cfg import (  # type: ignore[import-not-found]
        schema_violations_from_proposed_config,
    )

    quantiles = []
    for spec in SPECS:
        one = params.HyperParameter("p", dict(spec))
        values = [one.ppf(u) for u in QUANTILES]
        quantiles.append([v.item() if hasattr(v, "item") else v for v in values])
    grids = []
    for section in GRIDS:
        config = {"method": "grid", "parameters": section}
        runs = grid_search.grid_search_next_runs([], config, n=1000)
        grids.append([{k: v["value"] for k, v in run.config.items()} for run in runs if run])
    return {
        "version": version("sweeps"),
        "specs": SPECS,
        "at": QUANTILES,
        "quantiles": quantiles,
        "grids": grids,
        "violations": [schema_violations_from_proposed_config(one) for one in definitions],
    }


def main() -> None:
    """With an argument: ask that Python, and print what is kept. Without: answer."""
    if len(sys.argv) > 1:
        said = ask(sys.argv[1], [])
        del said["violations"]
        sys.stdout.write(json.dumps(said, indent=1, sort_keys=True) + "\n")
    else:
        sys.stdout.write(json.dumps(_say(json.load(sys.stdin))))


if __name__ == "__main__":
    main()
