"""The conformance suite of models."""

from __future__ import annotations

import contextlib
import re
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from jobsight.errors import ModelError, TrainingError
from jobsight.models.base import Floats, Labelled, Loadable
from jobsight.models.base import Inputs as _Inputs

__all__ = ["ModelContract", "made_examples"]

FORBIDDEN = (".pkl", ".pickle", ".joblib", ".pt", ".pth", ".npy", ".npz", ".py")
"""Files that load code, or that a loader may take for code."""
SEED = 7


def made_examples(rows: int, *, seed: int, m: int = 6, j: int = 4) -> Labelled:
    """Made-up examples with something to learn, in time order.

    Four features (one with gaps, one that never varies), two cause levels, the facts ``code``,
    ``subcode`` and ``num_holds``, and frames of m × j cells with 5 state events.
    """
    random = np.random.default_rng(seed)
    features = random.normal(size=(rows, 4)).astype(np.float32)
    features[random.random(rows) < 0.2, 1] = np.nan
    features[:, 3] = 1.0
    code = random.integers(1, 5, rows)
    subcode = random.integers(0, 3, rows)
    frames = random.integers(0, 6, (rows, m, j)).astype(np.uint8)
    margin = 1.5 * features[:, 0] + (code - 2.5) + (frames[:, -1, 0] == 2)
    success = random.random(rows) < 1.0 / (1.0 + np.exp(-margin))
    if rows > 1:
        success[:2] = (False, True)
    causes = {"code": code.astype(np.str_), "subcode": subcode.astype(np.str_)}
    facts = {"code": code, "subcode": subcode, "num_holds": random.integers(0, 9, rows)}
    inputs = _Inputs(features, ("load", "age", "wait", "same"), causes, facts, frames, 5)
    weight = random.choice([0.25, 0.5, 1.0], rows)
    # Most batches are single rows, some are two that stand together.
    batch = np.cumsum(random.random(rows) < 0.8).astype(np.int64)
    return Labelled(inputs, success, weight, batch)


def _bytes_of(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


class ModelContract:
    """What `jobsight.models.base.Loadable` promises. Subclasses give `new_model`."""

    def new_model(self) -> Loadable:
        """A new, unfitted model."""
        raise NotImplementedError

    def examples(self) -> tuple[Labelled, Labelled]:
        """Examples to fit on, and later ones; give your own where a model needs other inputs."""
        return made_examples(300, seed=300), made_examples(60, seed=60)

    def fitted(self) -> Loadable:
        """A model fitted on the examples."""
        model = self.new_model()
        model.fit(self.examples()[0], seed=SEED)
        return model

    def predicted(self, model: Loadable, inputs: _Inputs) -> Floats:
        """The model's predictions, after the checks that hold for all of them."""
        probability = model.predict(inputs)
        assert probability.shape == (len(inputs),)
        assert probability.dtype == np.float64
        assert np.all((probability >= 0.0) & (probability <= 1.0))
        return probability

    def saved(self, model: Loadable) -> Mapping[str, bytes]:
        """The files a model saves, by name."""
        with tempfile.TemporaryDirectory() as name:
            model.save(Path(name))
            return _bytes_of(Path(name))

    def test_is_a_model(self) -> None:
        model = self.new_model()
        assert isinstance(model, Loadable)
        assert model.name

    def test_predicts_a_probability_for_each_row(self) -> None:
        _, later = self.examples()
        self.predicted(self.fitted(), later.inputs)

    def test_a_row_is_answered_alone_as_among_others(self) -> None:
        model, (_, later) = self.fitted(), self.examples()
        together = self.predicted(model, later.inputs)
        alone = [self.predicted(model, later.inputs.take(np.array([row])))[0] for row in range(5)]
        assert np.allclose(together[:5], alone, atol=1e-6)

    def test_zero_rows(self) -> None:
        _, later = self.examples()
        self.predicted(self.fitted(), later.inputs.take(np.zeros(0, dtype=np.int64)))

    def test_no_rows_to_hold_back(self) -> None:
        train, later = self.examples()
        model = self.new_model()
        model.fit(replace(train, weight=train.weight / len(train)), seed=SEED)
        self.predicted(model, later.inputs)

    def test_unknown_and_extreme_features(self) -> None:
        model, (_, later) = self.fitted(), self.examples()
        for value in (np.nan, np.inf, -np.inf, 3e38):
            features = np.full_like(later.inputs.features, value)
            self.predicted(model, replace(later.inputs, features=features))

    def test_a_feature_unknown_throughout_training(self) -> None:
        train, later = self.examples()
        features = train.inputs.features.copy()
        features[:, 0] = np.nan
        model = self.new_model()
        model.fit(replace(train, inputs=replace(train.inputs, features=features)), seed=1)
        self.predicted(model, later.inputs)

    def test_causes_never_seen(self) -> None:
        model, (_, later) = self.fitted(), self.examples()
        causes = {name: np.full(len(later), "never seen") for name in later.inputs.causes}
        self.predicted(model, replace(later.inputs, causes=causes))

    def test_two_fits_save_the_same_bytes(self) -> None:
        assert self.saved(self.fitted()) == self.saved(self.fitted())

    def test_fitting_leaves_the_global_random_state_alone(self) -> None:
        before = np.random.get_state()[1].copy()  # type: ignore[index]  # noqa: NPY002
        self.fitted()
        after = np.random.get_state()[1]  # type: ignore[index]  # noqa: NPY002
        assert np.array_equal(before, after)

    def test_save_and_load(self) -> None:
        model, (_, later) = self.fitted(), self.examples()
        with tempfile.TemporaryDirectory() as name:
            model.save(Path(name))
            loaded = type(model).load(Path(name))
        assert loaded.name == model.name
        same = self.predicted(loaded, later.inputs) == self.predicted(model, later.inputs)
        assert same.all()
        assert self.saved(loaded) == self.saved(model)

    def test_saves_data_only(self) -> None:
        for name, content in self.saved(self.fitted()).items():
            assert not name.endswith(FORBIDDEN), name
            # Protocol 2 and later pickles begin so; zip archives may hold them.
            assert not content.startswith(
                (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05", b"PK")
            )

    def test_damaged_files_are_refused_by_name(self) -> None:
        model = self.fitted()
        for damaged in self.saved(model):
            with tempfile.TemporaryDirectory() as name:
                model.save(Path(name))
                (Path(name) / damaged).unlink()
                with pytest.raises(ModelError, match=re.escape(name)):
                    type(model).load(Path(name))
        with tempfile.TemporaryDirectory() as name:
            (Path(name) / "model.json").write_text('{"schema": -1}', encoding="utf-8")
            with pytest.raises(ModelError, match=re.escape(name)):
                type(model).load(Path(name))

    def test_one_class_or_no_rows(self) -> None:
        train, _ = self.examples()
        nothing = train.take(np.zeros(0, dtype=np.int64))
        with pytest.raises(TrainingError):
            self.new_model().fit(nothing, seed=SEED)
        one_class = replace(train, values=np.ones_like(train.success))
        model = self.new_model()
        refused = pytest.raises(TrainingError) if model.needs_both else contextlib.nullcontext()
        with refused:
            model.fit(one_class, seed=SEED)
