"""The tables of hold reasons: each entry's examples are its tests."""

from __future__ import annotations

import re
from string import Formatter

import pytest

from jobsight.codes import HOLD_CODES
from jobsight.history.causes.cause import KINDS
from jobsight.history.causes.holds import READ, causes_of_hold
from jobsight.history.causes.table import LEVELS, Entry, table

ENTRIES = [pytest.param(entry, id=entry.name) for entry in table("holds")]


def test_names_are_unique() -> None:
    names = [entry.name for entry in table("holds")]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("entry", ENTRIES)
def test_an_entry_is_whole(entry: Entry) -> None:
    assert entry.level in LEVELS
    assert entry.kind in KINDS
    assert entry.whose in ("user", "site", "network", "person")
    assert entry.ask in ("", "more", "less")
    assert entry.source
    assert entry.codes or entry.expression
    assert bool(entry.examples) == bool(entry.expression)
    assert set(entry.codes) <= set(HOLD_CODES)
    for sentence in (entry.text, entry.fix):
        assert sentence
        assert not sentence.endswith(".")
        shown = {name for _, name, _, _ in Formatter().parse(sentence) if name is not None}
        assert shown <= set(entry.pattern.groupindex)


@pytest.mark.parametrize("entry", ENTRIES)
def test_examples_have_this_cause(entry: Entry) -> None:
    for code in entry.codes or (0, None, 12, 13):
        for example in entry.examples or [""]:
            found, cause = causes_of_hold(example, code)[0]
            assert found.name == entry.name, (code, example)
            assert re.search(r"[{}]|None\b|  ", cause.text + cause.fix) is None, cause
        for passed in entry.passes:
            assert entry.name not in {of.name for of, _ in causes_of_hold(passed, code)}


def test_a_code_restricts_words_and_words_decide_without_one() -> None:
    words = "memory usage 163 MB exceeded request_memory 128 MB"
    names = {code: [of.name for of, _ in causes_of_hold(words, code)] for code in (26, 13, 0, None)}
    assert names == {26: ["memory"], 13: [], 0: ["memory"], None: ["memory"]}
    assert [of.name for of, _ in causes_of_hold("", 45)] == ["machine-container-test"]
    assert causes_of_hold("", 0) == ()


def test_names_of_files_are_no_causes() -> None:
    url = (
        "Details: timed out waiting for response from origin ap21 ( URL file = lab://ap21/u03/{} )|"
    )
    lost = "Transfer input files failure at access point a. Details: reading from file /d/{}: "
    execute = "Failed to execute '/d/{}' with arguments 1: (errno=13: 'Permission denied')"
    names = [
        *map(str, range(600)), "404 403.txt", "quota/exceeded.txt", "timeout/proxy/token.expired",
        "dockerd/glide_1/x", "memory limit/oom", "singularity/apptainer", "glexec.sh",
    ]  # fmt: skip
    for name in names:
        assert causes_of_hold(url.format(name.replace(" ", "_")), 13)[0][0].name == "outage", name
        assert causes_of_hold(lost.format(name) + "(errno 2)", 13)[0][0].name == "input-missing", (
            name
        )
        assert causes_of_hold(execute.format(name), 6)[0][0].name == "executable-permission", name


@pytest.mark.parametrize(
    "text",
    ["reading from " * 300, "Failed to execute '" * 200, "writing to a/dir_1/" * 200,
     "Transfer input files failure " * 130, "remote URL x" * 300, "'" * READ, "cpu " * 1000],
)  # fmt: skip
def test_hostile_texts_take_no_time(text: str) -> None:
    assert isinstance(causes_of_hold(text[:READ], 13), tuple)
