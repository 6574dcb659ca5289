"""What a mixture learned since its training is kept, and used for the same history only."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.support import failing

from jobsight.answering.learned import caught_up
from jobsight.learning.dataset import Dataset
from jobsight.learning.mixture import Mixture

Catch = Callable[..., Mixture]


@pytest.fixture
def plays(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[int]:
    """The moments from which outcomes are played; what is kept is in a folder of its own."""
    failing.trained()  # plays too
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    found: list[int] = []
    play = Mixture.play

    def counted(self: Mixture, data: Dataset, since: int, *rest: object, **more: object) -> object:
        found.append(since)
        return play(self, data, since, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(Mixture, "play", counted)
    return found


def trained() -> Mixture:
    model = failing.trained().model.fitted["mixture"].model
    assert isinstance(model, Mixture)
    return model


def times() -> tuple[int, int]:
    """A moment in the test part, and one after all outcomes."""
    known = failing.dataset().known()["known_at"]
    later = known.filter(known > trained().as_of)
    return int(later.quantile(0.5) or 0), int(known.max() or 0) + 10  # type: ignore[arg-type]


def test_what_is_known_is_learned_once(plays: list[int]) -> None:
    mixture, data = trained(), failing.dataset()
    middle, end = times()
    first = caught_up(mixture, data, middle, "submission", "d", anew=True)
    again = caught_up(mixture, data, middle, "submission", "d", anew=True)
    assert plays == [mixture.as_of]
    assert np.array_equal(first.weights.now, again.weights.now) and first.taught == again.taught
    inputs = failing.trained().main.parts["test"][1].inputs
    assert np.array_equal(first.predict(inputs), again.predict(inputs))
    on = caught_up(mixture, data, end, "submission", "d", anew=True)
    assert plays[1:] == [first.as_of]
    at_once = caught_up(mixture, data, end, "submission", None, anew=True)
    assert on.as_of == at_once.as_of
    assert np.allclose(on.predict(inputs), at_once.predict(inputs), atol=0.1)


def test_another_history_model_or_moment_is_learned_from_the_beginning(plays: list[int]) -> None:
    mixture, data = trained(), failing.dataset()
    middle, _ = times()
    caught_up(mixture, data, middle, "submission", "d", anew=True)
    flipped = pl.when(pl.int_range(pl.len()) == 0).then(~pl.col("fails")).otherwise("fails")
    other = replace(data, table=data.table.with_columns(fails=flipped))
    other.__dict__["builder"] = data.builder
    caught_up(mixture, other, middle, "submission", "d", anew=True)
    caught_up(mixture, data, middle, "submission", "e", anew=True)
    caught_up(mixture, data, middle, "start", "d", anew=True)
    assert plays == [mixture.as_of] * 4


def test_damaged_or_unwritable_states_are_learned_again(plays: list[int], tmp_path: Path) -> None:
    mixture, data = trained(), failing.dataset()
    middle, _ = times()
    caught_up(mixture, data, middle, "submission", "d", anew=True)
    (state,) = tmp_path.glob("jobsight/learned/d-fails-submission/*/model.json")
    state.write_text("{}")
    caught_up(mixture, data, middle, "submission", "d", anew=True)
    folder = tmp_path / "jobsight" / "learned"
    (folder / "x-fails-submission").write_text("not a folder")
    caught_up(mixture, data, middle, "submission", "x", anew=True)
    assert plays == [mixture.as_of] * 3
