"""What a match of a pattern must hold."""

from __future__ import annotations

import time

import pytest

from jobsight.history.causes.literals import literals
from jobsight.history.causes.search import MOST, search
from jobsight.history.causes.table import Entry, table


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("^Killed by (?:signal 9|SIGKILL)", ("killed by ",)),
        (r"(?:CUDA|HIP) out of \w+ memory", (" out of ",)),
        ("(?i)no space|disk QUOTA", ("disk quota", "no space")),
        ("(?:abcde)?fgh", ("fgh",)),
        ("(?:abcde)+fgh", ("abcde",)),
        (r"(?:\d+|abcde)", ()),
        (r"\d+: \w", ()),
    ],
)
def test_the_literals_of_a_pattern(pattern: str, expected: tuple[str, ...]) -> None:
    assert literals(pattern) == expected


@pytest.mark.parametrize("entry", table("output"), ids=lambda entry: entry.name)
def test_every_example_holds_a_literal(entry: Entry) -> None:
    for example in entry.examples:
        match = entry.pattern.search(example)
        assert match is None or any(text in match[0].lower() for text in entry.literals or [""])


@pytest.mark.parametrize("entry", table("output"), ids=lambda entry: entry.name)
def test_an_example_is_found_within_a_long_output(entry: Entry) -> None:
    around = "step 4711 of 90000 loss 0.1234\n" * 100
    example = entry.examples[0]
    alone, within = search(example), search(f"{around}{example}\n{around}")
    assert (alone and alone.cause) == (within and within.cause)


def test_a_whole_output_is_searched_quickly() -> None:
    line = "2026-01-05 10:11:12 INFO worker 17: step 4711 of 90000 loss 0.1234 rate 3.1e-04 ok\n"
    text = line * (MOST // len(line))
    began = time.process_time()
    assert search(text) is None
    assert time.process_time() - began < 5.0
