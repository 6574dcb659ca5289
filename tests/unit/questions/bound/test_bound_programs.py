"""Programs as decisions: families in the place of time, and classes measured too coarsely."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from jobsight.program.examples import Example
from jobsight.questions.bound.answering import evidence_of
from jobsight.questions.bound.programs import (
    BOUND,
    VOCABULARY,
    Features,
    place_of,
    read,
    rule_of,
    table_of,
)


def example(id_: str, family: str, *classes: str, **shares: float) -> Example:
    return Example(id_, f"{id_}.py", "pass\n", "python", family, shares, classes)


def unresolved(_one: Example) -> str | None:
    return None


def test_a_family_is_one_place_in_time_in_every_source() -> None:
    both = [example("a", "fft", "cpu"), example("b", "copy", "io"), example("c", "fft", "memory")]
    table = table_of(both, 1, unresolved)
    places = dict(zip(table["id"], table["decided"], strict=True))
    assert places["a"] == places["c"] == place_of("fft", 1) != places["b"]
    assert table["decided"].is_sorted()
    groups = dict(zip(table["id"], table["group"], strict=True))
    assert groups["a"] == groups["c"] != groups["b"]
    alone = table_of(both[2:], 1, unresolved)
    assert alone["decided"].to_list() == [places["c"]]
    assert place_of("fft", 2) != places["a"]


def test_the_place_in_the_source_stays_known() -> None:
    source = [example(str(k), f"family {k}", "cpu") for k in range(20)]
    table = table_of(source, 1, unresolved)
    assert table["id"].to_list() == [source[k].id for k in table["example"]]
    assert table["example"].to_list() != sorted(table["example"])


@pytest.mark.parametrize(
    ("classes", "resolved", "expected"),
    [
        (("io",), "cpu", "io"),
        (("cpu", "memory"), "memory", "memory"),
        (("cpu", "memory"), None, None),
        (("cpu", "gpu"), "io", "cpu"),
        (("gpu",), "cpu", None),
    ],
)
def test_one_possible_class_is_taken_and_of_several_one_is_chosen(
    classes: tuple[str, ...], resolved: str | None, expected: str | None
) -> None:
    row = table_of([example("a", "f", *classes)], 1, lambda _one: resolved).row(0, named=True)
    assert row["class"] == expected
    assert (row["censored"] is None) == (expected is not None)
    assert row["possible"] == list(classes)


def test_shares_are_in_the_order_of_the_classes_and_measured() -> None:
    table = table_of(
        [example("a", "f", "io", io=0.7, waiting=0.3), example("b", "f", "io")], 1, unresolved
    )
    assert table["shares"].to_list() == [
        [{"io": 0.7, "waiting": 0.3}.get(k, 0) for k in BOUND],
        None,
    ]


def test_families_of_a_sites_jobs_come_in_the_first_half() -> None:
    jobs = [replace(example(str(k), f"script {k}", "io"), job=f"site {k}") for k in range(50)]
    table = table_of(jobs, 1, unresolved)
    latest = max(place_of(one.family, 1) for one in jobs)
    assert table["decided"].max() == latest // 2


SAVES = (
    "import os, time\n"
    "os.fsync(1)\n"
    "for i in range(n):\n"
    "    os.fsync(i)\n"
    "    for j in range(n):\n"
    "        os.fsync(j)\n"
    "time.sleep(1)\n"
)


def test_the_lines_in_the_deepest_loops_come_first() -> None:
    found = evidence_of(read("a.py", SAVES), "io")
    assert [one["line"] for one in found] == [6, 4, 2]
    assert [one["what"] for one in found] == [
        "os.fsync: sync in 2 loops; uses the disk",
        "os.fsync: sync in a loop; uses the disk",
        "os.fsync: sync; uses the disk",
    ]
    assert [one["line"] for one in evidence_of(read("a.py", SAVES), "waiting")] == [7]
    assert evidence_of(read("a.py", SAVES), "network") == []


def test_no_more_than_five_lines_and_each_once() -> None:
    text = "import os\n" + "os.fsync(1); os.fsync(2)\n" * 9
    assert [one["line"] for one in evidence_of(read("a.py", text), "io")] == [2, 3, 4, 5, 6]


def test_loops_speak_for_cpu_where_no_call_does() -> None:
    text = "total = 0\nfor i in range(n):\n    for j in range(n):\n        total += i * j\n"
    found = evidence_of(read("a.py", text), "cpu")
    assert [(one["line"], one["what"]) for one in found] == [
        (3, "a loop that computes"),
        (2, "a loop that computes"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import requests\nrequests.get(u)\n", "network"),
        ("import time\nfor i in range(n):\n    time.sleep(1)\n", "waiting"),
        ("import time\ntime.sleep(1)\n", "cpu"),
        ("import os\nfor i in a:\n    for j in i:\n        os.fsync(j)\n", "io"),
        ("import numpy as np\na = np.zeros(10**8)\nb = np.copy(a)\n", "memory"),
        ("import numpy as np\na = np.zeros(1000)\nb = np.copy(a)\n", "cpu"),
        ("def never():\n    import requests\n    requests.get(u)\nprint(1)\n", "cpu"),
    ],
)
def test_the_rule(text: str, expected: str) -> None:
    tree = read("a.py", text).tree
    assert tree is not None
    assert BOUND[rule_of(tree)] == expected


def test_networks_read_nodes_with_a_parent_before_each() -> None:
    kinds, parents = read("a.py", SAVES).nodes
    assert len(kinds) == len(parents) > 10
    assert parents[0] == -1
    assert (parents[1:] >= 0).all()
    assert (parents[1:] < np.arange(1, len(parents))).all()
    assert 0 <= kinds.min() <= kinds.max() < VOCABULARY


def test_words_are_imports_and_calls_that_are_reached() -> None:
    text = "import os\ndef never():\n    os.remove('a')\nos.fsync(1)\n"
    assert read("a.py", text).words == ("import os", "os.fsync")


def test_what_is_not_read_has_unknown_features_and_keeps_its_row() -> None:
    programs = [read("a.py", SAVES), read("a.js", "let x = 1\n")]
    inputs = Features([]).inputs(programs)
    assert inputs.features.shape == (2, len(inputs.names))
    assert np.isfinite(inputs.features[0]).all()
    assert np.isnan(inputs.features[1]).all()
    assert inputs.programs is not None
    assert inputs.programs.words[1] == ()
    assert len(set(inputs.digests())) == 2
