"""Cross-validation by groups: nobody predicts a group that it has seen."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from corpus.crossed import cross, transfer

from jobsight.program.examples import Example
from jobsight.questions.bound.question import BOUND_QUESTION, BoundSettings


def programs() -> list[Example]:
    """Each family has a word of its own, and a class by chance; half of them use `sleep`."""
    found = []
    for family in range(24):
        kind = "waiting" if family % 2 else "cpu"
        call = "import time\ntime.sleep(3)\n" if family % 2 else "import math\nmath.sin(3)\n"
        for variant in range(3):
            text = f"import lib{family}\nlib{family}.work()\n{call}"
            language, name = ("python", f"f{family}_{variant}.py")
            found.append(
                Example(
                    name,
                    str(Path("/nowhere") / name),
                    text,
                    language,
                    f"f{family}",
                    {kind: 0.9, "io": 0.1},
                    (kind,),
                )
            )
    return found


def test_rows_are_predicted_by_models_that_saw_none_of_their_group() -> None:
    crossed = cross(BOUND_QUESTION, programs(), BoundSettings(), ["constant", "text"],
                    target="class", parts=4, repetitions=2)  # fmt: skip
    groups = crossed.table["group"].to_numpy()
    said = crossed.said["constant"]
    for turn in said:  # a part gets one constant prediction; groups are never split
        for group in np.unique(groups):
            assert len(np.unique(turn[groups == group], axis=0)) == 1
    assert (crossed.scores("text")["macro_f1"] or 0) > 0.9
    less = crossed.differences("macro_f1", "constant", 100, 0)["text"]
    assert less.low is not None
    assert less.low > 0.2


def test_transfer_leaves_the_slice_out() -> None:
    crossed = cross(BOUND_QUESTION, programs(), BoundSettings(), ["constant"], target="class",
                    parts=2, repetitions=1)  # fmt: skip
    assert transfer(crossed, BoundSettings(), "language") == {}
    found = transfer(crossed, BoundSettings(), "class", least=3)
    assert set(found) == {"cpu", "waiting"}
    assert all(one["constant"]["accuracy"] == 0.0 for one in found.values())
