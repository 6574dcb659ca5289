"""A trained answer to "release or remove?": a model directory, opened.

The directory holds the models that were trained (``models/NAME``), one model more for each delay
that "wait" may propose (``delays/K``), what they were calibrated with (``hold.json``), the report
of their test (``report.json``), what they were trained on (``seen.safetensors``: fingerprints, no
names) and a manifest with hashes. Nothing in it is code.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight import models
from jobsight.errors import ModelError, UsageError
from jobsight.files import read_json, write_json
from jobsight.learning.manifest import Manifest, Source, read_manifest, write_manifest
from jobsight.models.base import Floats, Inputs, Model
from jobsight.models.calibration import Calibration
from jobsight.models.intervals import Intervals
from jobsight.models.storage import load_arrays, save_arrays
from jobsight.questions.hold.examples.scale import Scale
from jobsight.questions.hold.training.rulesets import RULE_NAMES
from jobsight.settings import HoldSettings

__all__ = ["SCHEMA", "Fitted", "HoldModel", "fingerprints"]

QUESTION = "hold"
SCHEMA = 1
"""Raised whenever features, decisions or files change so that an older model would be misread."""


@dataclass(frozen=True)
class Fitted:
    """A model with what makes its output a probability one can act on.

    Attributes:
        model: fitted on the train part.
        calibration: fitted on the calibrate part.
        intervals: likewise.
        threshold: of the F-measure of success, chosen on the select part.
        threshold_failure: likewise for failure.
        train_batches: how many batches taught it.
    """

    model: Model
    calibration: Calibration
    intervals: Intervals
    threshold: float
    threshold_failure: float
    train_batches: int

    def predict(self, inputs: Inputs) -> Floats:
        """Calibrated P(success) of n rows: float64 (n,)."""
        return self.calibration.apply(self.model.predict(inputs))

    def bounds(self, probability: Floats) -> tuple[Floats, Floats]:
        """The 90 % interval around calibrated probabilities: two float64 (n,)."""
        return self.intervals.of(probability)

    def to_json(self) -> dict[str, Any]:
        """Everything but the model itself, as plain data."""
        return {
            "name": self.model.name,
            "calibration": self.calibration.to_json(),
            "intervals": self.intervals.to_json(),
            "threshold": self.threshold,
            "threshold_failure": self.threshold_failure,
            "train_batches": self.train_batches,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], model: Model) -> Self:
        """Put a model together again with what `to_json` wrote."""
        return cls(
            model,
            Calibration.from_json(data["calibration"]),
            Intervals.from_json(data["intervals"]),
            float(data["threshold"]),
            float(data["threshold_failure"]),
            int(data["train_batches"]),
        )


@dataclass
class HoldModel:
    """What training made, in memory or opened from its directory.

    Attributes:
        settings: of the question, as resolved at training.
        scale: pace, windows, delays, frame length and horizon, in seconds.
        borders: int64 (5,), µs since 1970: the parts' borders.
        names: of the features, in order.
        chosen: name of the model that answers.
        reason: why it was chosen, in a sentence or two.
        fitted: every model trained, by name; opened ones are loaded when first asked for.
        delays: the chosen kind of model fitted for each supported delay, by seconds.
        seen: uint64, sorted: fingerprints of the decisions of all parts but the last.
        report: the report of the test part, as `evaluation.Evaluation.to_json` gives it.
        sources: the logs it was trained on.
        manifest: None until saved or opened.
    """

    settings: HoldSettings
    scale: Scale
    borders: NDArray[np.int64]
    names: tuple[str, ...]
    chosen: str
    reason: str
    fitted: dict[str, Fitted]
    delays: dict[float, Fitted]
    seen: NDArray[np.uint64]
    report: dict[str, Any] = field(default_factory=dict)
    sources: Sequence[Source] = ()
    manifest: Manifest | None = None

    @property
    def answering(self) -> Fitted:
        """The chosen model."""
        return self.fitted[self.chosen]

    @property
    def label(self) -> str:
        """How an answer names the model: its kind, and digits that tell it from any other."""
        return self.chosen if self.manifest is None else f"{self.chosen}@{self.manifest.digest}"

    def save(self, folder: Path, *, seed: int, facts: Mapping[str, Any]) -> None:
        """Write the model into `folder` (existing, empty), its manifest last.

        Raises:
            OutputError: it cannot be written.
        """
        for name, fitted in self.fitted.items():
            _save_model(fitted.model, folder / "models" / _folder_name(name))
        for k, fitted in enumerate(self.delays.values()):
            _save_model(fitted.model, folder / "delays" / str(k))
        write_json(folder / "hold.json", self._to_json())
        write_json(folder / "report.json", self.report)
        save_arrays(folder / "seen.safetensors", {"seen": self.seen})
        self.manifest = write_manifest(
            folder,
            question=QUESTION,
            seed=seed,
            settings=self.settings.model_dump(mode="json"),
            sources=self.sources,
            facts=facts,
        )

    def _to_json(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "scale": asdict(self.scale),
            "borders": self.borders.tolist(),
            "names": list(self.names),
            "chosen": self.chosen,
            "reason": self.reason,
            "fitted": [fitted.to_json() for fitted in self.fitted.values()],
            "delays": [[delay, fitted.to_json()] for delay, fitted in self.delays.items()],
        }

    @classmethod
    def open(cls, folder: Path, *, network: str | None = None, only_chosen: bool = False) -> Self:
        """Open a model directory.

        Args:
            folder: what `save` wrote.
            network: the network class that the user's settings name; a directory that names a
                class of the user's own is opened only where both are the same.
            only_chosen: load the model that answers and those of the delays, no others.

        Raises:
            ModelError: it is no model directory of this question and schema, or a file in it is
                missing, changed or damaged; names the file.
        """
        manifest = read_manifest(folder, question=QUESTION)
        try:
            body = read_json(folder / "hold.json", dict)
            if body.get("schema") != SCHEMA:
                raise ModelError(
                    f"{folder} has schema {body.get('schema')!r}, this version reads {SCHEMA}; "
                    "train again"
                )
            return cls(
                settings=HoldSettings.model_validate(manifest.settings),
                report=read_json(folder / "report.json", dict),
                sources=manifest.sources,
                manifest=manifest,
                **_facts(body),
                **_fitted(body, folder, network, only_chosen=only_chosen),
                seen=_seen(folder / "seen.safetensors"),
            )
        except _DAMAGE as error:
            raise ModelError(
                f"the model in {folder} is damaged ({type(error).__name__}: {error}); train again"
            ) from None


_DAMAGE = (
    OSError,
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
    OverflowError,
    RecursionError,
    UsageError,
)
"""What taking a damaged file apart may raise."""


def _facts(body: Mapping[str, Any]) -> dict[str, Any]:
    borders = np.array(body["borders"], np.int64)
    if borders.shape != (5,):
        raise ValueError("there are not five borders of parts")
    return {
        "scale": Scale(**_tuples(body["scale"])),
        "borders": borders,
        "names": tuple(map(str, body["names"])),
        "chosen": str(body["chosen"]),
        "reason": str(body["reason"]),
    }


def _fitted(
    body: Mapping[str, Any], folder: Path, network: str | None, *, only_chosen: bool
) -> dict[str, Any]:
    chosen = body["chosen"]
    known = [_known(data["name"]) for data in body["fitted"]]
    if chosen not in known:
        raise ValueError(f"the chosen model {chosen!r} is not among the trained ones")
    return {
        "fitted": {
            name: _open_fitted(data, folder / "models" / _folder_name(name), network)
            for name, data in zip(known, body["fitted"], strict=True)
            if not only_chosen or name == chosen
        },
        "delays": {
            float(delay): _open_fitted(data, folder / "delays" / str(k), network)
            for k, (delay, data) in enumerate(body["delays"])
        },
    }


def _known(name: str) -> str:
    """`name` if it is a model's: it will name a folder, so it may be nothing else."""
    if name not in (*models.NAMES, *RULE_NAMES):
        raise ValueError(f"no model is named {name!r}")
    return name


def _seen(path: Path) -> NDArray[np.uint64]:
    seen = load_arrays(path)["seen"]
    if seen.dtype != np.uint64 or seen.ndim != 1:
        raise ValueError(f"{path.name} holds no fingerprints")
    return seen


def fingerprints(table: pl.DataFrame) -> NDArray[np.uint64]:
    """One number per decision that tells it again in another reading of its log: uint64 (n,).

    Made of access point, job and time; it does not tell them to a reader of the model.
    """
    keys = table.select(
        pl.format("{} {}.{} {}", pl.col("access_point").fill_null(""), "cluster", "proc", "time")
    ).to_series()
    digests = [hashlib.blake2b(key.encode(), digest_size=8).digest() for key in keys]
    return np.frombuffer(b"".join(digests), np.uint64)


def _folder_name(name: str) -> str:
    return name.replace(":", "-")


def _save_model(model: Model, folder: Path) -> None:
    folder.mkdir(parents=True)
    model.save(folder)


def _open_fitted(data: Mapping[str, Any], folder: Path, network: str | None) -> Fitted:
    model = models.load(_known(data["name"]), folder, network=network)
    return Fitted.from_json(data, model)


def _tuples(data: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(v) if isinstance(v, list) else v for key, v in data.items()}
