"""The tables of causes: each entry's examples are its tests."""

from __future__ import annotations

import re
from string import Formatter

import pytest

from jobsight.history.causes.cause import KINDS
from jobsight.history.causes.search import search
from jobsight.history.causes.table import LEVELS, Entry, table

ENTRIES = [pytest.param(entry, id=entry.name) for entry in table("output")]


def test_names_are_unique() -> None:
    names = [entry.name for entry in table("output")]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("entry", ENTRIES)
def test_an_entry_is_whole(entry: Entry) -> None:
    assert entry.level in LEVELS
    assert entry.examples
    if entry.level not in ("claim", "done", "harmless"):
        assert entry.kind in KINDS
        assert entry.text
        assert entry.fix
        assert entry.whose in ("user", "site", "either")
    assert re.search(r"\\s[*+]", entry.pattern.pattern) is None, (
        r"\s passes over ends of lines: [ \t]"
    )
    for sentence in (entry.text, entry.fix):
        assert not sentence.endswith(".")
        shown = {name for _, name, _, _ in Formatter().parse(sentence) if name is not None}
        assert shown <= set(entry.pattern.groupindex)


@pytest.mark.parametrize("entry", ENTRIES)
def test_examples_have_this_cause(entry: Entry) -> None:
    for example in entry.examples:
        found = search(example)
        if entry.level in ("claim", "done", "harmless"):
            assert found is None, example
            assert entry.pattern.search(example), example
        else:
            assert found is not None, example
            assert found.cause.name == entry.name, example
            assert re.search(r"[{}]|None\b", found.cause.text) is None, found.cause.text
    for passed in entry.passes:
        found = search(passed)
        assert found is None or found.cause.name != entry.name, passed
        if entry.level == "done":
            assert entry.pattern.search(passed) is None, passed
