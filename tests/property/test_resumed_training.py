"""However often a training is interrupted, and wherever, its model has the same bytes."""

import tempfile
from functools import lru_cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.limits import examples

from jobsight.models.checkpoints import Checkpoints
from jobsight.models.recurrent import Recurrent
from jobsight.models.watching import FittingWatch
from jobsight.settings import LstmSettings
from jobsight.testing import made_examples

pytest.importorskip("torch", reason="PyTorch is not installed")

TRAIN, SELECT = made_examples(100, seed=1), made_examples(40, seed=2)
BATCHES = 4  # an epoch

lstms = st.builds(
    LstmSettings,
    network=st.sampled_from(["lstm", "lstm-flat"]),
    lstm_layers=st.integers(1, 3),
    hidden_size=st.just(4),
    dropout=st.sampled_from([0.0, 0.4]),
    learning_rate=st.sampled_from([0.003, 0.1]),
    batch_size=st.just(25),
    epochs=st.integers(1, 6),
    patience=st.integers(1, 3),
)


class Interrupted(FittingWatch):
    """Stops after so many batches."""

    def __init__(self, batches: int) -> None:
        self.left = batches

    def stop(self) -> bool:
        self.left -= 1
        return self.left < 0


def saved(model: Recurrent) -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as name:
        model.save(Path(name))
        return {path.name: path.read_bytes() for path in Path(name).iterdir()}


@lru_cache(maxsize=64)
def at_once(lstm: LstmSettings, seed: int) -> dict[str, bytes]:
    model = Recurrent(lstm)
    model.fit_resumably(TRAIN, SELECT, seed=seed)
    return saved(model)


@settings(max_examples=examples(15))
@given(
    lstm=lstms,
    seed=st.integers(0, 3),
    cuts=st.lists(st.tuples(st.integers(0, 3 * BATCHES), st.integers(0, 3)), max_size=6),
)
def test_same_bytes(lstm: LstmSettings, seed: int, cuts: list[tuple[int, int]]) -> None:
    """Each cut is a number of batches, and how many of the newest checkpoints are then damaged."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for batches, damaged in cuts:
            Recurrent(lstm).fit_resumably(
                TRAIN,
                SELECT,
                seed=seed,
                checkpoints=Checkpoints(folder),
                watch=Interrupted(batches),
            )
            bodies = sorted((path for path in folder.glob("0*.json")), reverse=True)
            for path in bodies[:damaged]:
                path.with_suffix(".safetensors").write_bytes(b"damaged")
        model = Recurrent(lstm)
        end = model.fit_resumably(TRAIN, SELECT, seed=seed, checkpoints=Checkpoints(folder))
    assert end.status in ("finished", "early")
    assert saved(model) == at_once(lstm, seed)
