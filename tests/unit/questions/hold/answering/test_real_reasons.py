"""Reasons that people really got, with what was the cause: of two thirds every one is known.

``reasons/shown.jsonl`` was at hand when the tables were written. ``reasons/apart.jsonl`` was set
aside before, by a rule: those of all texts whose SHA-256 is divisible by 3. `kinds` and `words` (of
what is to be done) were written down before any pattern, after what the source says was the cause;
both thirds were collected by the author of the tables, who had seen all texts once. Names of people
are changed. Where a source has only the inner message, the words around it are HTCondor's own, and
where it has a pattern, its gaps are filled. Dates are as exact as the source gives them, else the
year of its version, as near as known.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from tests.support.histories import micros
from tests.support.hold_models import answered, held, history

from jobsight.questions.hold.answering.answer import Answer

FOLDER = Path(__file__).with_name("reasons")
APART_KNOWN = 0.85


def facts(name: str) -> list[dict[str, Any]]:
    lines = (FOLDER / f"{name}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def kind_of(answer: Answer) -> str | None:
    if answer.verdict.verb == "user_hold":
        return "spool" if answer.hold_code == 16 else "person"
    return answer.fix.kind if answer.fix else None


def misses(reasons: list[dict[str, Any]]) -> list[str]:
    """The texts whose answer has another kind of cause, or does not say what to do."""
    jobs = [
        held(10, number, cause=(of["code"], of["subcode"], of["text"]))
        for number, of in enumerate(reasons, 1)
    ]
    wrong = []
    for answer in answered(history(*jobs), micros(60)):
        of = reasons[answer.job.cluster - 1]
        steps = " ".join(step.text for step in answer.advice.steps)
        if kind_of(answer) not in of["kinds"] or not re.search(of["words"], steps, re.IGNORECASE):
            wrong.append(of["text"])
    return wrong


def test_the_texts_are_real_and_were_set_aside_by_the_rule() -> None:
    shown, apart = facts("shown"), facts("apart")
    texts = [of["text"] for of in [*shown, *apart]]
    assert len(set(texts)) == len(texts) >= 150
    assert all(of["source"] and of["date"] and of["kinds"] and of["words"] for of in shown + apart)
    for of in [*shown, *apart]:
        digest = int(hashlib.sha256(of["text"].encode()).hexdigest(), 16)
        assert (digest % 3 == 0) == (of in apart)


def test_what_was_at_hand_is_known() -> None:
    assert misses(facts("shown")) == []


def test_most_of_what_was_set_aside_is_known() -> None:
    apart = facts("apart")
    assert 1 - len(misses(apart)) / len(apart) >= APART_KNOWN
