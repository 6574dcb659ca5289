"""The answer: what will bind a program, how sure that is, and the lines that speak for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from jobsight.answering.question import Answerable
from jobsight.errors import ModelError, SourceError
from jobsight.program.examples import LONGEST_PROGRAM
from jobsight.program.machine import Elsewhere
from jobsight.program.profile import CLASSES
from jobsight.questions.bound.decisions import BOUND
from jobsight.questions.bound.evidence import Line, evidence_of, gpu_line, idles, not_a_job
from jobsight.questions.bound.features import Features, Read, read
from jobsight.questions.bound.question import BOUND_QUESTION
from jobsight.questions.bound.shipped import SHIPPED
from jobsight.text import printable

if TYPE_CHECKING:
    from jobsight.documents import JobDocument
    from jobsight.learning.modeldir import ModelDir
    from jobsight.settings import Settings

__all__ = ["BOUND_ANSWERS", "CLASSES", "Answer", "Answerer", "BoundAnswers"]

_BY_RULE = 0.8
"""Share of the gpu for a program that calls one, of waiting for one that serves or asks: those of
a rule, for neither is measured."""


@dataclass(frozen=True)
class Answer:
    """The answer for one program.

    Attributes:
        file: the program's path, or the job's id.
        kind: of `CLASSES`, or ``unsure``.
        is_job: whether it ends by itself.
        shares: of its time, by class.
        confidence: probability that the class is right; of ``unsure`` that of the likeliest.
        evidence: lines that speak for it.
        model: what gave the answer.
        moment: µs since 1970, when.
        inputs: hash of what was read.
        id: of the job's document; None of a file.
    """

    file: str
    kind: str
    is_job: bool
    shares: Mapping[str, float]
    confidence: float
    evidence: Sequence[Line]
    model: str
    moment: int
    inputs: str
    id: str | None = None

    @property
    def job(self) -> str:
        """What errors call it."""
        return self.file

    def to_json(self) -> dict[str, Any]:
        """As plain data, with the keys that the command prints."""
        return {
            "file": self.file,
            "class": self.kind,
            "job": self.is_job,
            "shares": {name: round(self.shares[name], 4) for name in CLASSES},
            "confidence": round(self.confidence, 4),
            "evidence": [dict(one) for one in self.evidence],
        }


class Answerer:
    """Answers for programs by one model."""

    def __init__(self, model: ModelDir, moment: int) -> None:
        self._model, self.moment = model, moment

    def at(self, moment: int) -> Answerer:
        """The same as of another moment (µs)."""
        return Answerer(self._model, moment)

    def of_file(self, name: str) -> Answer:
        """The answer for a program on disk.

        Raises:
            SourceError: it cannot be read.
        """
        try:
            with Path(name).open("rb") as file:
                data = file.read(LONGEST_PROGRAM)
        except (OSError, ValueError) as error:
            raise SourceError(f"cannot read {printable(name, 200)}: {error}") from None
        return self._answer(name, read(name, data.decode("utf-8", "replace")))

    def of_text(self, name: str, text: str) -> Answer:
        """The answer for a program that was sent from elsewhere: no file is looked at."""
        return self._answer(name, read(f"/{Path(name).name}", text, machine=Elsewhere()))

    def of_document(self, document: JobDocument) -> Answer:
        """The answer for a job whose script is known."""
        script = document.submission.script
        assert script is not None
        folder, command = document.submission.directory or "", document.submission.command
        path = str(Path(folder) / (command or "script"))
        return self._answer(document.id, read(path, script), id_=document.id)

    def _answer(self, name: str, program: Read, id_: str | None = None) -> Answer:
        inputs = Features([]).inputs([program])
        found = self._model.targets["class"].answering.predict(inputs)[0]
        shares = self._shares(inputs)
        kind, confidence = BOUND[int(found.argmax())], float(found.max())
        evidence = evidence_of(program, kind)
        on_gpu = gpu_line(program)
        if on_gpu is not None:
            kind, confidence, evidence = "gpu", _BY_RULE, [on_gpu, *evidence]
            shares = _mostly("gpu", shares)
        elif idles(program):
            kind, confidence, evidence = "waiting", _BY_RULE, evidence_of(program, "waiting")
            shares = _mostly("waiting", shares)
        elif confidence < self._model.settings.unsure_below:
            kind = "unsure"
        endless = not_a_job(program)
        return Answer(
            file=name,
            kind=kind,
            is_job=endless is None,
            shares=shares,
            confidence=confidence,
            evidence=evidence if endless is None else [endless, *evidence],
            model=self._model.label,
            moment=self.moment,
            inputs=inputs.digests()[0],
            id=id_,
        )

    def _shares(self, inputs: Any) -> dict[str, float]:
        target = self._model.targets.get("shares")
        if target is None:
            raise ModelError("the model was trained without shares; train again")
        found = target.answering.predict(inputs)[0]
        by_class = dict(zip(BOUND, map(float, found), strict=True))
        return {name: by_class.get(name, 0.0) for name in CLASSES}


def _mostly(kind: str, shares: Mapping[str, float]) -> dict[str, float]:
    """Shares of which a rule gives most to a class."""
    rest = {name: (1 - _BY_RULE) * share for name, share in shares.items()}
    return rest | {kind: rest[kind] + _BY_RULE}


class BoundAnswers(Answerable[Answer]):
    """How the question is answered: of programs, not of jobs of a history."""

    question = BOUND_QUESTION
    ships: ClassVar[Path | None] = SHIPPED

    def answerer(
        self, source: None, moment: int, model: ModelDir | None, settings: Settings
    ) -> Answerer:
        """See `Answerer`."""
        assert model is not None  # one ships
        return Answerer(model, moment)


BOUND_ANSWERS = BoundAnswers()
