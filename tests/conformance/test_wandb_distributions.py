"""Ours against W&B's own package: what it said is kept in ``wandb_sweeps.json``.

``JOBSIGHT_PROVE=1`` installs the package into an environment of its own and asks it again.
"""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.wandb_reference import GRIDS, QUANTILES, SPECS, ask
from tests.support.limits import limit, prove

from jobsight.learning.sweep.config import SweepConfig
from jobsight.learning.sweep.definition import to_wandb
from jobsight.learning.sweep.distributions import points_of, probability, quantile
from jobsight.learning.sweep.parameters import DISTRIBUTIONS, parse

KEPT = json.loads((Path(__file__).parent / "wandb_sweeps.json").read_text())
EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "sweep.yaml"


def alike(ours: Any, theirs: Any) -> bool:
    """Equal, but for what is beyond the 12 digits that we keep."""
    if isinstance(theirs, float):
        return math.isclose(ours, theirs, rel_tol=6e-12, abs_tol=1e-300)
    return bool(ours == theirs) and type(ours) is type(theirs)


def test_every_distribution_is_compared() -> None:
    assert (KEPT["specs"], KEPT["at"]) == (SPECS, QUANTILES)
    compared = {parse({"p": spec})[0].distribution for spec in SPECS}
    assert compared == set(DISTRIBUTIONS) - {"categorical_w_probabilities"}


@pytest.mark.parametrize("at", range(len(SPECS)), ids=[json.dumps(spec) for spec in SPECS])
def test_quantiles_are_theirs(at: int) -> None:
    (one,) = parse({"p": SPECS[at]})
    for u, theirs in zip(QUANTILES, KEPT["quantiles"][at], strict=True):
        ours = quantile(one, u)
        assert alike(ours, theirs), (u, ours, theirs)
        if not one.listed and not one.quantised and one.distribution != "int_uniform":
            assert math.isclose(probability(one, ours), u, rel_tol=1e-9, abs_tol=1e-9)


def flat(point: dict[str, Any], before: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in point.items():
        found |= (
            flat(value, f"{before}{name}.") if isinstance(value, dict) else {before + name: value}
        )
    return found


@pytest.mark.parametrize("at", range(len(GRIDS)))
def test_grids_are_theirs(at: int) -> None:
    theirs = [flat(point) for point in KEPT["grids"][at]]
    ours = list(points_of(parse(GRIDS[at])))
    assert len(ours) == len(theirs)
    for mine, wanted in zip(ours, theirs, strict=True):
        assert mine.keys() == wanted.keys()
        assert all(mine[name] == pytest.approx(wanted[name]) for name in mine)


def test_a_missing_distribution_is_inferred_as_their_client_does() -> None:
    from wandb.apis.public import sweeps

    infer = sweeps._validate_config_and_fill_distribution
    for low, high in ((1, 9), (0.1, 0.9), (-3, 0), (1.0, 2.0)):
        spec = {"min": low, "max": high}
        wanted = infer({"parameters": {"p": spec}})["parameters"]["p"]["distribution"]
        assert parse({"p": spec})[0].distribution == wanted
    for low, high in ((0, 0.5), (0.5, 1)):
        spec = {"min": low, "max": high}
        with pytest.raises(ValueError, match="ambiguous"):
            infer({"parameters": {"p": spec}})
        with pytest.raises(ValueError, match="one of min"):
            parse({"p": spec})


def definitions(count: int) -> list[dict[str, Any]]:
    """What we would tell W&B's server of many configs."""
    chance = random.Random(1)
    usable: list[tuple[str, dict[str, Any]]] = [
        ("weight_decay", spec) for spec in SPECS if quantile_is_allowed(spec)
    ]
    found = [to_wandb(SweepConfig.read(EXAMPLE))]
    for _ in range(count):
        name, spec = chance.choice(usable)
        told = {"data": "a", "runs": 3, "method": chance.choice(["random", "bayes"])}
        parameters = {name: spec, "j": {"min": 2, "max": 9}}
        if chance.random() < 0.5:
            parameters = {"lstm": {"parameters": {name: spec}}, "m": {"values": [1, 2]}}
        found.append(to_wandb(SweepConfig.model_validate(told | {"parameters": parameters})))
    return found


def quantile_is_allowed(spec: dict[str, Any]) -> bool:
    try:
        SweepConfig(data=("a",), runs=1, parameters={"weight_decay": spec})
    except ValueError:
        return False
    return True


@prove
def test_their_package_says_the_same_today(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path)], check=True, timeout=limit(300))
    python = tmp_path / "bin" / "python"
    install = [str(python), "-m", "pip", "install", "-q", f"sweeps=={KEPT['version']}"]
    subprocess.run(install, check=True, capture_output=True, timeout=limit(900))
    said = ask(python, definitions(60))
    assert said.pop("violations") == [[]] * 61
    assert said == KEPT
