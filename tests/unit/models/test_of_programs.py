"""Models that read programs: what they learn, and that what is saved answers the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from jobsight import models
from jobsight.errors import ModelError, TrainingError
from jobsight.models.base import Inputs, Labelled, Loadable, Output, Programs
from jobsight.models.stack import pooled_weights

KINDS = Output("kinds", ("cpu", "io", "waiting"))
SHARES = Output("shares", KINDS.columns)
COLUMNS = {"rule": "rule"}
MEMBERS = ("rule", "text", "svm")
NAMES = ("rule", "text", "svm", "forest", "dense", "recurrent", "tree", "stack")


def made(rows: int, seed: int, output: Output = KINDS) -> Labelled:
    """Programs of families of four; a column, a word and a node speak for each class."""
    random = np.random.default_rng(seed)
    kind = random.integers(0, 3, rows)
    features = random.normal(size=(rows, 5)).astype(np.float32)
    features[:, 0] = np.where(random.random(rows) < 0.7, kind, random.integers(0, 3, rows))
    features[np.arange(rows), 1 + kind] += 2.0
    words, kinds, parents = [], [], []
    for one in kind:
        words.append((*random.choice(["open", "range", "len", "print"], 6), f"import lib{one}"))
        nodes = int(random.integers(5, 30))
        tokens = random.integers(0, 9, nodes)
        tokens[random.integers(0, nodes, 2)] = 9 + one
        above = [-1, *(int(random.integers(max(0, k - 3), k)) for k in range(1, nodes))]
        kinds.append(tokens.astype(np.int32))
        parents.append(np.array(above, np.int32))
    programs = Programs(tuple(words), tuple(kinds), tuple(parents), 12)
    names = ("rule", "a", "b", "c", "d")
    inputs = Inputs(features, names, {}, {}, None, 0, programs=programs)
    values = kind if output == KINDS else np.eye(3)[kind] * 0.8 + 0.2 / 3
    return Labelled(inputs, values, np.ones(rows), np.arange(rows) // 4, output)


def fitted(name: str, output: Output = KINDS) -> Loadable:
    train = made(96, 1, output)
    model = models.create(name, columns=COLUMNS, members=MEMBERS, output=output)
    model.fit(train, seed=3)
    return model


@pytest.fixture(scope="module", params=NAMES)
def model(request: pytest.FixtureRequest) -> Loadable:
    return fitted(request.param)


def test_it_learns_and_a_row_is_answered_alone_as_among_others(model: Loadable) -> None:
    later = made(60, 2)
    said = model.predict(later.inputs)
    assert said.shape == (60, 3)
    assert np.allclose(said.sum(axis=1), 1.0)
    assert (said.argmax(axis=1) == later.values).mean() > 0.5
    alone = model.predict(later.inputs.take(np.array([7])))
    assert np.allclose(alone[0], said[7], atol=1e-5)
    assert model.predict(later.inputs.take(np.zeros(0, np.int64))).shape[0] == 0


def test_what_is_saved_answers_the_same(model: Loadable, tmp_path: Path) -> None:
    model.save(tmp_path)
    loaded = models.load(model.name, tmp_path, columns=COLUMNS, output=KINDS)
    later = made(20, 4).inputs
    assert np.allclose(loaded.predict(later), model.predict(later), atol=1e-6)
    for path in tmp_path.rglob("*.safetensors"):
        path.write_bytes(b"damaged")
        with pytest.raises(ModelError):
            models.load(model.name, tmp_path, columns=COLUMNS, output=KINDS)


@pytest.mark.parametrize("name", ["dense", "tree"])
def test_two_fits_are_the_same_bytes(name: str, tmp_path: Path) -> None:
    for place in ("a", "b"):
        (tmp_path / place).mkdir()
        fitted(name).save(tmp_path / place)
    first, second = ((tmp_path / one / "weights.safetensors").read_bytes() for one in "ab")
    assert first == second


@pytest.mark.parametrize("name", ["rule", "text", "forest", "stack"])
def test_shares_are_learned_too(name: str) -> None:
    if name == "stack":
        train = made(96, 1, SHARES)
        model = models.create(name, columns=COLUMNS, members=("rule", "text"), output=SHARES)
        model.fit(train, seed=3)
    else:
        model = fitted(name, SHARES)
    later = made(60, 2, SHARES)
    off = np.abs(model.predict(later.inputs) - later.values).sum(axis=1).mean() / 2
    assert off < 0.45


def test_programs_must_be_there() -> None:
    later = made(8, 2)
    bare = Inputs(later.inputs.features, later.inputs.names, {}, {}, None, 0)
    with pytest.raises(ModelError, match="programs were not read"):
        fitted("text").predict(bare)
    with pytest.raises(TrainingError):
        models.create("dense", output=KINDS).fit(later.take(np.zeros(0, int)), seed=0)


def test_a_pool_gives_its_weight_to_the_member_that_is_right() -> None:
    random, rows = np.random.default_rng(0), 200
    targets = np.eye(3)[random.integers(0, 3, rows)]
    good = 0.8 * targets + 0.2 / 3
    bad = random.dirichlet(np.ones(3), rows)
    weights, offsets = pooled_weights(np.stack([bad, good]), targets, np.ones(rows))
    assert weights[1] > 5 * weights[0] >= 0
    assert np.abs(offsets).max() < 0.5
