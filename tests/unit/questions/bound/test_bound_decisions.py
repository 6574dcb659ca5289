"""Programs as decisions: families in the place of time, and classes measured too coarsely."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jobsight.program.examples import Example
from jobsight.questions.bound.programs import BOUND, place_of, table_of


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
