"""The text baseline: logistic regression on the names that a program imports and calls."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from jobsight.errors import ModelError, TrainingError
from jobsight.models.base import Floats, Inputs, Labelled
from jobsight.models.softmax import balanced, fit_softmax, softmax, targets_of
from jobsight.models.storage import Stored, load_arrays, save_arrays, save_body

__all__ = ["Words"]

_LEAST_ROWS = 2
"""Training programs that a word must be in."""
_PENALTY = 0.3


class Words(Stored):
    """Softmax regression on TF-IDF weights, (1 + ln tf) · idf of unit length.

    Answers need numpy only.
    """

    name: ClassVar[str] = "text"
    needs_both: ClassVar[bool] = False

    def __init__(self) -> None:
        self._words: dict[str, int] = {}
        self._idf: Floats = np.zeros(0)
        self._beta: Floats = np.zeros((0, 0))

    def fit(self, train: Labelled, *, seed: int) -> None:
        """Learn from `train`; `seed` does not matter."""
        targets = targets_of(train)
        if train.inputs.programs is None:
            raise TrainingError("text: there are no programs to read")
        found = Counter(word for words in train.inputs.programs.words for word in set(words))
        kept = sorted(word for word, rows in found.items() if rows >= _LEAST_ROWS)
        self._words = {word: k for k, word in enumerate(kept)}
        rows = np.array([found[word] for word in kept], np.float64)
        self._idf = np.log((1.0 + len(train)) / (1.0 + rows)) + 1.0
        self._beta = fit_softmax(self._columns(train.inputs), targets, balanced(train), _PENALTY)

    def predict(self, inputs: Inputs) -> Floats:
        if not len(self._beta):
            raise ModelError("the model text is not fitted")
        return softmax(self._columns(inputs) @ self._beta[:-1] + self._beta[-1])

    def _columns(self, inputs: Inputs) -> Floats:
        if inputs.programs is None:
            raise ModelError("text: the programs were not read")
        columns = np.zeros((len(inputs.programs.words), len(self._words)))
        for number, words in enumerate(inputs.programs.words):
            row = columns[number]
            for word, times in Counter(words).items():
                if word in self._words:
                    row[self._words[word]] = 1.0 + np.log(times)
            row *= self._idf
            row /= max(float(np.sqrt((row**2).sum())), 1e-12)
        return columns

    def save(self, folder: Path) -> None:
        save_body(folder, self.name, {"words": list(self._words)})
        arrays = {"idf": self._idf, "beta": self._beta}
        save_arrays(
            folder / "words.safetensors",
            {name: one.astype(np.float32) for name, one in arrays.items()},
        )

    def _read(self, folder: Path, body: dict[str, Any]) -> None:
        arrays = load_arrays(folder / "words.safetensors")
        self._words = {str(word): k for k, word in enumerate(body["words"])}
        self._idf = arrays["idf"].astype(np.float64)
        self._beta = arrays["beta"].astype(np.float64)
        if len(self._idf) != len(self._words) or len(self._beta) != len(self._idf) + 1:
            raise ValueError("there is not one coefficient for each word")
