"""The answer: what will bind a program, how sure that is, and the lines that speak for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypedDict

import numpy as np

from jobsight.answering.question import Answerable
from jobsight.errors import ModelError, SourceError
from jobsight.program.examples import LONGEST_PROGRAM
from jobsight.program.machine import Elsewhere
from jobsight.program.profile import CLASSES
from jobsight.program.tree import EFFECTS, KINDS
from jobsight.questions.bound.programs import BOUND, CLASS_OF, Features, Read, read
from jobsight.questions.bound.question import BOUND_QUESTION, SHIPPED
from jobsight.reports.overview import Overview
from jobsight.text import printable

if TYPE_CHECKING:
    from jobsight.documents import JobDocument
    from jobsight.learning.modeldir import ModelDir
    from jobsight.program.examples import Example
    from jobsight.questions.bound.question import BoundSettings
    from jobsight.settings import Settings

__all__ = ["BOUND_ANSWERS", "CLASSES", "Answer", "Answerer", "BoundAnswers", "evidence_of"]

_MOST = 5
_LOOP = KINDS.index("loop")
_GPU = EFFECTS.index("gpu")
_PAUSES = np.isin(
    EFFECTS, ("listen", "receive", "serve", "watch", "prompt", "sleep", "wait", "queue")
)
_WORDS = {
    "cpu": "computes", "memory": "moves data through memory", "io": "uses the disk",
    "network": "uses the network", "waiting": "waits",
}  # fmt: skip


class _Line(TypedDict):
    """A line, and what it speaks for."""

    file: str
    line: int
    what: str


def evidence_of(program: Read, kind: str) -> list[_Line]:
    """The lines that speak most for a class: its calls in the deepest loops, then loops for cpu."""
    if program.tree is None:
        return [{"file": program.name, "line": 1, "what": program.problem}]
    tree = program.tree
    nodes = [
        int(node) for node in np.flatnonzero((tree.effect > 0) & tree.reached)
        if CLASS_OF.get(EFFECTS[tree.effect[node]]) == kind
    ]  # fmt: skip
    nodes.sort(key=lambda node: (-int(tree.depth[node]), node))
    lines = {}
    for node in reversed(nodes):
        name, deep = tree.calls.get(node, ""), int(tree.depth[node])
        where = {0: "", 1: " in a loop"}.get(deep, f" in {deep} loops")
        call = f"{name}: " if name else ""
        lines[tree.place(node)] = f"{call}{EFFECTS[tree.effect[node]]}{where}; {_WORDS[kind]}"
    evidence = [_line(place, lines[place]) for place in list(lines)[::-1][:_MOST]]
    if kind == "cpu" and not evidence:
        loops = np.flatnonzero((tree.kind == _LOOP) & tree.reached)
        loops = loops[np.argsort(-tree.depth[loops].astype(int), kind="stable")][:2]
        evidence = [_line(tree.place(int(node)), "a loop that computes") for node in loops]
    return evidence


def _line(place: tuple[str, int], what: str) -> _Line:
    return {"file": place[0], "line": place[1], "what": what}


def _gpu_line(program: Read) -> _Line | None:
    """The first line that works on a GPU; None: there is none."""
    if program.tree is None:
        return None
    nodes = np.flatnonzero((program.tree.effect == _GPU) & program.tree.reached)
    if not len(nodes):
        return None
    name = program.tree.calls.get(int(nodes[0]), "")
    what = f"{name}: works on a GPU, by a rule; unmeasured".removeprefix(": ")
    return _line(program.tree.place(int(nodes[0])), what)


def _not_a_job(program: Read) -> _Line | None:
    """Why the program does not end by itself; None: it does."""
    if program.tree is None or not program.tree.endless:
        return None
    first = program.tree.endless[0]
    return {"file": first.file, "line": first.line, "what": f"not a job: {first.reason}"}


def _idles(program: Read) -> bool:
    """Whether a program that does not end by itself spends its time waiting for others.

    A server, a prompt, or an endless loop in which something waits.
    """
    if program.tree is None or not program.tree.endless:
        return False
    tree, first = program.tree, program.tree.endless[0]
    return first.server or bool(_PAUSES[tree.effect[first.node : tree.end[first.node]]].any())


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
    evidence: Sequence[_Line]
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
            "evidence": [dict(line) for line in self.evidence],
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
        chances = self._model.targets["class"].answering.predict(inputs)[0]
        target = self._model.targets.get("shares")
        if target is None:
            raise ModelError("the model was trained without shares; train again")
        learned = dict(zip(BOUND, map(float, target.answering.predict(inputs)[0]), strict=True))
        shares = {name: learned.get(name, 0.0) for name in CLASSES}
        kind, confidence = BOUND[int(chances.argmax())], float(chances.max())
        evidence = evidence_of(program, kind)
        on_gpu = _gpu_line(program)
        if on_gpu is not None:
            kind, confidence, evidence = "gpu", _BY_RULE, [on_gpu, *evidence]
            shares = _mostly("gpu", shares)
        elif _idles(program):
            kind, confidence, evidence = "waiting", _BY_RULE, evidence_of(program, "waiting")
            shares = _mostly("waiting", shares)
        elif confidence < self._model.settings.unsure_below:
            kind = "unsure"
        endless = _not_a_job(program)
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


def _mostly(kind: str, shares: Mapping[str, float]) -> dict[str, float]:
    """Shares of which a rule gives most to a class."""
    rest = {name: (1 - _BY_RULE) * share for name, share in shares.items()}
    return rest | {kind: rest[kind] + _BY_RULE}


class BoundAnswers(Answerable[Answer]):
    """How the question is answered: of programs, not of jobs of a history."""

    question = BOUND_QUESTION
    ships: ClassVar[Path | None] = SHIPPED
    without: ClassVar[str] = "the model that ships with Jobsight"

    def answerer(
        self, source: None, moment: int, model: ModelDir | None, settings: Settings
    ) -> Answerer:
        """See `Answerer`."""
        assert model is not None  # one ships
        return Answerer(model, moment)

    def overview(self, source: Sequence[Example], settings: BoundSettings, /) -> Overview:
        """What binds the programs that were measured."""
        counts = self.question.decisions(source, settings).table["class"].value_counts(sort=True)
        ways = ", ".join(f"{count:,} by {kind}" for kind, count in counts.drop_nulls().iter_rows())
        return Overview([f"{len(source):,} measured programs are bound: {ways}."])


BOUND_ANSWERS = BoundAnswers()
