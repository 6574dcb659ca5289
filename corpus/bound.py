"""How well `jobsight bound` tells what binds programs of families that it has not seen.

``python -m corpus.bound [--repetitions N] [FILE...]`` prints the tables of docs/research/bound.md:
repeated cross-validation grouped by family, with intervals over families; each class; the shares;
and transfer to a language that was left out. ``--others`` prints only how often the model that
ships is right about the programs of pyperformance, once ``make corpus`` has installed them.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from corpus.crossed import Crossed, cross, transfer
from corpus.programs.benchmarks import BENCHMARKS
from jobsight.answering.session import AnswerSession
from jobsight.format import interval, number
from jobsight.learning.bootstrap import Interval
from jobsight.program.examples import Example, examples_in
from jobsight.program.sampling import machine
from jobsight.questions.bound.answering import BOUND_ANSWERS
from jobsight.questions.bound.programs import BOUND
from jobsight.questions.bound.question import BOUND_QUESTION, BoundSettings
from jobsight.settings import Settings

MEASURED = Path(__file__).parent / "programs" / "measured.jsonl"
DRAWS = 1000
OF_SHARES = ("constant", "rule", "text", "forest")


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", default=[MEASURED], type=Path)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--models", default=",".join(BOUND_QUESTION.models))
    parser.add_argument("--no-transfer", action="store_true")
    parser.add_argument("--others", action="store_true")
    given = parser.parse_args()
    if given.others:
        print("\n".join(_others(BENCHMARKS)))
        return
    started, settings = time.monotonic(), BoundSettings()
    source = [one for file in given.files for one in examples_in(file)]
    names = given.models.split(",")
    print("\n".join(_header(source)))
    crossed = cross(BOUND_QUESTION, source, settings, names, target="class",
                    repetitions=given.repetitions, progress=_progress)  # fmt: skip
    print("\n".join(_classes(crossed)))
    of_shares = [name for name in names if name in OF_SHARES]
    shares = cross(BOUND_QUESTION, source, settings, of_shares, target="shares",
                   repetitions=1, progress=_progress)  # fmt: skip
    print("\n".join(_shares(shares)))
    if not given.no_transfer:
        few = [name for name in names if name not in ("recurrent", "boosted")]
        small = Crossed(BOUND_QUESTION, "class", crossed.table, crossed.labelled,
                        {name: crossed.said[name] for name in few})  # fmt: skip
        print("\n".join(_transferred(transfer(small, settings, "language", least=12), few)))
    print(f"\n{time.monotonic() - started:.0f} s")


def _others(file: Path) -> Iterator[str]:
    answerer, source = (
        AnswerSession(BOUND_ANSWERS, None, 0, Settings(), champions=False).answerer(None),
        list(examples_in(file)),
    )
    said = {one.family: (one.classes, answerer.of_file(one.path).kind) for one in source}
    wrong = {name: pair for name, pair in said.items() if pair[1] not in pair[0]}
    yield f"{len(said) - len(wrong)} of {len(said)} right"
    for name, (classes, kind) in wrong.items():
        yield f"{name}: {' or '.join(classes)}, predicted: {kind}"


def _progress(step: str) -> None:
    print(step, end="\x1b[K\r", file=sys.stderr, flush=True)


def _header(source: Sequence[Example]) -> Iterator[str]:
    kinds = Counter("|".join(one.classes) for one in source)
    languages = Counter(one.language for one in source)
    yield f"{len(source)} programs of {len({one.family for one in source})} families"
    yield ", ".join(f"{kind} {count}" for kind, count in kinds.most_common())
    yield ", ".join(f"{language} {count}" for language, count in languages.most_common())
    yield f"{machine()}"


def _between(one: Interval) -> str:
    return f"{number(one.value)} ({interval(one.low, one.high)})"


def _classes(crossed: Crossed) -> Iterator[str]:
    f1 = crossed.intervals("macro_f1", DRAWS, 0)
    less = crossed.differences("macro_f1", "text", DRAWS, 0)
    yield "\n| model | macro-F1 | less the text baseline's | accuracy | log loss | ECE |"
    yield "|---|---|---|---|---|---|"
    for name in crossed.said:
        scores = crossed.scores(name)
        gain = _between(less[name]) if name in less else ""
        rest = " | ".join(number(scores[one]) for one in ("accuracy", "log_loss", "ece"))
        yield f"| `{name}` | {_between(f1[name])} | {gain} | {rest} |"
    for name in ("rule", "text", "tree", "stack"):
        if name in crossed.said:
            yield from _confusion(crossed, name)
    if "stack" in crossed.said:
        yield from _sure(crossed)


def _confusion(crossed: Crossed, name: str) -> Iterator[str]:
    """Observed classes in rows, predicted ones in columns, over all repetitions, in per cent."""
    values, said = crossed.labelled.values, crossed.said[name].argmax(axis=2)
    yield f"\n`{name}`\n"
    yield f"| observed | programs | {' | '.join(BOUND)} |"
    yield "|---" * (len(BOUND) + 2) + "|"
    for k, kind in enumerate(BOUND):
        own = said[:, values == k]
        shares = [np.mean(own == column) if own.size else 0.0 for column in range(len(BOUND))]
        yield f"| {kind} | {own.shape[1]} | {' | '.join(f'{100 * one:.0f}' for one in shares)} |"


def _sure(crossed: Crossed) -> Iterator[str]:
    said, values = crossed.said["stack"], crossed.labelled.values
    top, right = said.max(axis=2), said.argmax(axis=2) == values
    yield "\n| confidence of `stack` at least | answered | right |"
    yield "|---|---|---|"
    for least in (0.0, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
        inside = top >= least
        if inside.any():
            yield f"| {least} | {inside.mean():.2f} | {right[inside].mean():.2f} |"


def _shares(crossed: Crossed) -> Iterator[str]:
    found = crossed.intervals("distance", DRAWS, 0)
    yield "\n| model | misplaced part of the time (half of L1) | divergence |"
    yield "|---|---|---|"
    for name in crossed.said:
        divergence = number(crossed.scores(name)["divergence"])
        yield f"| `{name}` | {_between(found[name])} | {divergence} |"


def _transferred(
    found: Mapping[str, Mapping[str, Mapping[str, float | None]]], names: Sequence[str]
) -> Iterator[str]:
    yield f"\n| language left out | {' | '.join(names)} |"
    yield "|---" * (len(names) + 1) + "|"
    for language, scores in found.items():
        values = " | ".join(number(scores[name]["macro_f1"], 2) for name in names)
        yield f"| {language} | {values} |"


if __name__ == "__main__":
    main()
