"""A trained answer to a question: a model directory, opened.

The directory holds, for each target, the models that were trained (``TARGET/models/NAME``) and
those fitted for each later moment (``TARGET/moments/K/models/NAME``); what they were calibrated
with (``model.json``), the reports of their test (``report.json``), what they were trained on
(``seen.safetensors``: fingerprints, no names) and a manifest with hashes. Nothing in it is code.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from jobsight import models
from jobsight.errors import ModelError, UsageError
from jobsight.files import read_json, write_json
from jobsight.learning.manifest import Manifest, Source, read_manifest, write_manifest
from jobsight.learning.question import Question
from jobsight.learning.targets import Calibrated, Target
from jobsight.models.base import Floats, Inputs, Model
from jobsight.models.storage import load_arrays, save_arrays

__all__ = ["SCHEMA", "Fitted", "ModelDir", "TargetModel", "by_target", "joined"]


@dataclass(frozen=True)
class Fitted:
    """A model with what makes its output a prediction one can act on.

    Attributes:
        model: fitted on the train part.
        calibrated: learned on the backtest.
        train_batches: how many batches taught it.
    """

    model: Model
    calibrated: Calibrated
    train_batches: int

    def predict(self, inputs: Inputs) -> Floats:
        """Calibrated predictions of n rows: float64 (n,) of a binary target, else (n, k)."""
        return self.calibrated.apply(self.model.predict(inputs))

    def bounds(self, predicted: Floats) -> tuple[Floats, Floats]:
        """The bounds of calibrated predictions, see `Calibrated.bounds`."""
        return self.calibrated.bounds(predicted)

    def to_json(self) -> dict[str, Any]:
        """Everything but the model itself, as plain data."""
        return {
            "name": self.model.name,
            **self.calibrated.to_json(),
            "train_batches": self.train_batches,
        }


SCHEMA = 1
"""Raised whenever features, decisions or files change so that an older model would be misread."""
JOINED = {"mixture": "jobsight.learning.mixture:Mixture"}
"""``module:class`` of models that consist of fitted models; imported when one is opened."""


@dataclass(frozen=True)
class TargetModel:
    """What answers for one target at one moment.

    Attributes:
        chosen: name of the model that answers.
        reason: why it was chosen, in a sentence or two.
        fitted: every model trained, by name, or the chosen one alone.
        moments: what answers at each later moment, by `Question.moments`.
        report: of the test part, as `evaluation.Evaluation.to_json` gives it.
    """

    chosen: str
    reason: str
    fitted: Mapping[str, Fitted]
    moments: Mapping[str, TargetModel]
    report: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Everything but models and report, as plain data."""
        return {
            "chosen": self.chosen,
            "reason": self.reason,
            "fitted": [fitted.to_json() for fitted in self.fitted.values()],
            "moments": [[name, one.to_json()] for name, one in self.moments.items()],
        }

    @property
    def answering(self) -> Fitted:
        """The chosen model."""
        return self.fitted[self.chosen]

    def save(self, folder: Path) -> None:
        """Write the models into a new folder."""
        for name, fitted in self.fitted.items():
            place = folder / "models" / _folder_name(name)
            place.mkdir(parents=True)
            fitted.model.save(place)
        for k, one in enumerate(self.moments.values()):
            one.save(folder / "moments" / str(k))


@dataclass
class ModelDir:
    """What training made, in memory or opened from its directory.

    Attributes:
        question: that it answers.
        settings: of the question, as resolved at training.
        encoding: see `jobsight.learning.question.Encoding`.
        borders: int64 (3,), µs since 1970: where the train part begins, the test begins and ends.
        names: of the features, in order.
        targets: what answers for each target, by name; the first is the main one.
        seen: uint64, sorted: fingerprints of the decisions that taught it.
        sources: the inputs it was trained on.
        manifest: None until saved or opened.
    """

    question: Question[Any]
    settings: Any
    encoding: Any
    borders: NDArray[np.int64]
    names: tuple[str, ...]
    targets: dict[str, TargetModel]
    seen: NDArray[np.uint64]
    sources: Sequence[Source] = ()
    manifest: Manifest | None = None

    @property
    def main(self) -> TargetModel:
        """What answers for the question's first target."""
        return next(iter(self.targets.values()))

    @property
    def chosen(self) -> str:
        """Name of the model that answers for the main target."""
        return self.main.chosen

    @property
    def fitted(self) -> Mapping[str, Fitted]:
        """Models of the main target."""
        return self.main.fitted

    @property
    def answering(self) -> Fitted:
        """The chosen model of the main target."""
        return self.main.answering

    @property
    def report(self) -> dict[str, Any]:
        """Of the test part, of all targets; see `joined`."""
        return joined(self.question, {name: one.report for name, one in self.targets.items()})

    @property
    def label(self) -> str:
        """How an answer names the model: its kind, and digits of its digest."""
        return self.label_at("")

    def label_at(self, moment: str) -> str:
        """The same at a later moment; with the models that failed their tests."""
        main, *others = (_named_at(target, moment) for target in self.targets.values())
        name, failed = main
        text = f"{name} ({failed} failed its test)" if failed else name
        for target, (name, failed) in zip([*self.targets][1:], others, strict=True):
            text += f"; {target}: {name} (not {failed})" if failed else ""
        return text if self.manifest is None else f"{text}@{self.manifest.digest}"

    def save(self, folder: Path, *, seed: int, facts: Mapping[str, Any]) -> None:
        """Write the model into `folder` (existing, empty), its manifest last.

        Raises:
            OutputError: it cannot be written.
        """
        for target, one in self.targets.items():
            one.save(folder / target)
        body = {
            "schema": SCHEMA,
            "encoding": self.encoding.to_json(),
            "borders": self.borders.tolist(),
            "names": list(self.names),
            "targets": {name: target.to_json() for name, target in self.targets.items()},
        }
        write_json(folder / "model.json", body)
        write_json(folder / "report.json", self.report)
        save_arrays(folder / "seen.safetensors", {"seen": self.seen})
        self.manifest = write_manifest(
            folder,
            question=self.question.name,
            seed=seed,
            settings=self.settings.model_dump(mode="json"),
            sources=self.sources,
            facts=facts,
        )

    @classmethod
    def open(
        cls,
        folder: Path,
        question: Question[Any],
        *,
        network: str | None = None,
        only_chosen: bool = False,
    ) -> Self:
        """Open a model directory.

        `network` is the network class that the user's settings name: a directory that names a class
        of the user's own is opened only where both are the same. With `only_chosen`, no models are
        loaded but those that answer.

        Raises:
            ModelError: it is not a model directory of this question and schema, or a file in it is
                missing, changed or damaged; names the file.
        """
        manifest = read_manifest(folder, question=question.name)
        try:
            body = read_json(folder / "model.json", dict)
            if body.get("schema") != SCHEMA:
                raise ModelError(
                    f"{folder} has schema {body.get('schema')!r}, this version reads {SCHEMA}; "
                    "train again"
                )
            borders = np.array(body["borders"], np.int64)
            if borders.shape != (3,):
                raise ValueError("there are not three borders of parts")
            seen = load_arrays(folder / "seen.safetensors")["seen"]
            if seen.dtype != np.uint64 or seen.ndim != 1:
                raise ValueError("seen.safetensors holds no fingerprints")
            first = read_json(folder / "report.json", dict)
            others = {name: first.pop(name, None) for name in [*question.targets][1:]}
            opening = _Opening(question, network, only_chosen)
            return cls(
                question=question,
                settings=question.settings.model_validate(manifest.settings),
                encoding=question.encoding_from(body["encoding"]),
                borders=borders,
                names=tuple(map(str, body["names"])),
                targets={
                    name: opening.target(
                        folder / name, target, body["targets"][name], others.get(name) or first
                    )
                    for name, target in question.targets.items()
                    if name in body["targets"] or target is next(iter(question.targets.values()))
                },
                sources=manifest.sources,
                manifest=manifest,
                seen=seen,
            )
        except _DAMAGE as error:
            raise ModelError(
                f"the model in {folder} is damaged ({type(error).__name__}: {error}); train again"
            ) from None


def _named_at(target: TargetModel, moment: str) -> tuple[str, str | None]:
    """What answers for a target at a moment, and the model that failed its test there, if any."""
    report = target.report.get("by_moment", {}).get(moment, target.report)
    failed = report.get("rejected")
    return target.moments.get(moment, target).chosen, failed and str(failed["name"])


def by_target(question: Question[Any], reports: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Reports as a user reads them: `joined`, but each below its name where targets are equal."""
    if not question.equal:
        return joined(question, reports)
    first = reports[next(iter(question.targets))]
    shared = {name: first[name] for name in ("question", "words", "examples", "left_out")}
    chosen = {name: one["chosen"] for name, one in reports.items()}
    return {**shared, "chosen": chosen, **{name: reports.get(name) for name in question.targets}}


def joined(question: Question[Any], reports: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The report of the first target, with those of the others below their names (None: none)."""
    first, *others = question.targets
    return {**reports[first], **{name: reports.get(name) for name in others}}


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


@dataclass(frozen=True)
class _Opening:
    """How the models of a directory are opened; see `ModelDir.open`."""

    question: Question[Any]
    network: str | None
    only_chosen: bool

    def target(
        self, place: Path, target: Target, body: Mapping[str, Any], report: Mapping[str, Any]
    ) -> TargetModel:
        chosen = str(body["chosen"])
        known = [self._known(data["name"]) for data in body["fitted"]]
        if chosen not in known:
            raise ValueError(f"the chosen model {chosen!r} is not among the trained ones")
        fitted = {
            one: self._fitted(data, place / "models" / _folder_name(one), target)
            for one, data in zip(known, body["fitted"], strict=True)
            if not self.only_chosen or one == chosen
        }
        moments = {
            str(moment): self.target(place / "moments" / str(k), target, data, {})
            for k, (moment, data) in enumerate(body["moments"])
        }
        return TargetModel(chosen, str(body["reason"]), fitted, moments, dict(report))

    def _fitted(self, data: Mapping[str, Any], folder: Path, target: Target) -> Fitted:
        name = self._known(data["name"])
        model: Model
        if name in JOINED:
            module, _, kind = JOINED[name].partition(":")
            load = getattr(importlib.import_module(module), kind).load
            model = load(folder, lambda member, place: self._fitted(member, place, target))
        else:
            model = models.load(
                name,
                folder,
                columns=self.question.columns,
                network=self.network,
                output=target.output,
            )
        return Fitted(model, target.calibrated(data), int(data["train_batches"]))

    def _known(self, name: str) -> str:
        """`name` if it is a model's: it will name a folder, so it may be nothing else."""
        if name not in (*models.NAMES, *self.question.models):
            raise ValueError(f"no model is named {name!r}")
        return name


def _folder_name(name: str) -> str:
    return name.replace(":", "-")
