"""What a mixture has learned since its training, kept on this machine from one answer to the next.

A state is taken up again only where the history has the same outcomes before it as when it was
kept (by a SHA-256 of their keys, times and values); else all outcomes since the training are
learned again. It is a cache, and nothing is lost with it: of each model and moment the last three
states are kept, in ``~/.cache/jobsight/learned`` (``XDG_CACHE_HOME``). Outcomes of decisions that
were made before a state and known after it are taken as its members predict them now.
"""

from __future__ import annotations

import contextlib
import hashlib
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from jobsight.errors import JobsightError, ModelError
from jobsight.learning.mixture import REFIT, Mixture, Weights
from jobsight.models.storage import load_body, save_body
from jobsight.runtime import cache_folder

if TYPE_CHECKING:
    from jobsight.learning.dataset import Dataset

__all__ = ["caught_up"]

_KIND = "learned"
_KEPT = 3


def caught_up(
    mixture: Mixture, data: Dataset, until: int, moment: str, digest: str | None, *, anew: bool
) -> Mixture:
    """The mixture with all that it could learn before a moment.

    Args:
        mixture: as it was trained.
        data: decisions and their outcomes.
        until: µs; outcomes from there on teach nothing.
        moment: one of the question's.
        digest: of the model; None: nothing is kept.
        anew: see `Mixture.play`.
    """
    known = data.known().filter(pl.col("known_at") < until)
    folder = None if digest is None else _folder(f"{digest}-{data.target}-{moment}")
    start = mixture if folder is None else _latest(folder, mixture, data, known, until)
    last = int(known["known_at"].max() or 0) + 1  # type: ignore[arg-type]
    if last <= start.as_of:
        return start
    after = replace(start.play(data, start.as_of, until, moment, anew=anew).mixture, as_of=last)
    if folder is not None:
        with contextlib.suppress(OSError, JobsightError):  # it is learned again next time
            _keep(folder, after, _outcomes(data, known, last))
    return after


def _folder(name: str) -> Path | None:
    cache = cache_folder()
    return None if cache is None else Path(cache) / "learned" / name


def _outcomes(data: Dataset, known: pl.DataFrame, before: int) -> str:
    """A digest of the outcomes known before a moment (µs)."""
    rows = known.filter(pl.col("known_at") < before)
    rows = rows.select("known_at", key=data.question.key, value=data.target).sort("known_at", "key")
    return hashlib.sha256(rows.write_csv().encode()).hexdigest()


def _states(folder: Path) -> list[Path]:
    """Folders of states, the latest first."""
    found = folder.iterdir() if folder.is_dir() else ()
    return sorted((one for one in found if one.name.isdigit()), key=lambda one: -int(one.name))


def _latest(
    folder: Path, mixture: Mixture, data: Dataset, known: pl.DataFrame, until: int
) -> Mixture:
    """The latest state that rests on outcomes of this history; else the mixture as trained."""
    member = mixture.members[REFIT]
    for place in _states(folder):
        as_of = int(place.name)
        if not mixture.as_of < as_of <= until:
            continue
        with contextlib.suppress(ModelError, OSError), load_body(place, _KIND) as body:
            if body["outcomes"] != _outcomes(data, known, as_of):
                continue
            lists = (np.array(body[name], np.float64) for name in ("now", "usual", "offsets"))
            now, usual, offsets = lists
            weights = Weights(now, usual, float(body["learned"]), offsets)
            if not now.shape == usual.shape == mixture.weights.now.shape:
                raise ValueError("there is not one weight for each member")
            taught = int(body["taught"])
            model = type(member.model).load(place / REFIT)  # type: ignore[attr-defined]
            member = replace(member, model=model, train_batches=taught)
            return Mixture({**mixture.members, REFIT: member}, weights, taught, as_of)
    return mixture


def _keep(folder: Path, mixture: Mixture, outcomes: str) -> None:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        place = Path(temporary) / "state"
        (place / REFIT).mkdir(parents=True)
        mixture.members[REFIT].model.save(place / REFIT)
        weights = mixture.weights
        body = {name: getattr(weights, name).tolist() for name in ("now", "usual", "offsets")}
        learned = {"learned": weights.learned, "taught": mixture.taught, "outcomes": outcomes}
        save_body(place, _KIND, {**body, **learned})
        place.rename(folder / str(mixture.as_of))
    for old in _states(folder)[_KEPT:]:
        shutil.rmtree(old, ignore_errors=True)
