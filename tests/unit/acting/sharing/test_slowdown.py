"""The model of slowdowns, and the file of the matrix."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobsight.acting.sharing.slowdown import Matrix, Pair, Weights
from jobsight.errors import SourceError

SHARES = {
    "cpu": {"cpu": 1.0, "membw": 0.0, "diskbw": 0.0, "netbw": 0.0},
    "membw": {"cpu": 1.0, "membw": 1.0, "diskbw": 0.0, "netbw": 0.0},
    "diskbw": {"cpu": 0.1, "membw": 0.0, "diskbw": 0.9, "netbw": 0.0},
    "sort": {"cpu": 0.5, "membw": 0.2, "diskbw": 0.5, "netbw": 0.0},
}
TRUE = Weights({"cpu": 0.0, "membw": 0.8, "diskbw": 1.2, "netbw": 1.0})


def matrix(**more: Any) -> Matrix:
    """Measured as the model of the weights `TRUE` says."""
    fields: dict[str, Any] = {
        "kind": "test", "date": "2026-11-28", "cpus": 8, "cpus_each": 4, "disk_mb_s": 100.0,
        "shares": SHARES, "alone_s": dict.fromkeys(SHARES, 4.0), "pairs": [],
        "unmeasured": {"netbw": "not run"},
    }  # fmt: skip
    # What 1 + 0.8 u² is, where two halves of a node, of which each uses u, want 2 u of it.
    itself = Pair("membw", "membw", (1 - 0.2**0.5) / 0.4, 1.0, 2.0, 5)
    vectors = Matrix(**(fields | {"pairs": [itself]})).vectors()
    pairs = [
        Pair(a, b, TRUE.slowdown(vectors[a], [vectors[b]]), 1.0, 2.0, 5)
        for a, b in product(SHARES, SHARES)
    ]
    return Matrix(**(fields | {"pairs": pairs} | more))


def test_weights_are_found_again_and_what_no_pair_shows_serves_one_at_a_time() -> None:
    vectors = matrix().vectors()
    found = Weights.fitted(matrix().pairs, vectors).by_resource
    assert found == pytest.approx(TRUE.by_resource, abs=0.02)


def test_a_program_that_was_left_out_is_predicted() -> None:
    errors = matrix().errors()
    assert set(errors) == set(SHARES)
    assert errors["sort"] < 0.01


def test_memory_saturates_where_two_halves_of_a_node_slow_each_other() -> None:
    pair = Pair("membw", "membw", 1.6, 1.5, 1.7, 5)
    assert matrix(pairs=[pair]).node().saturating == pytest.approx(8 / 1.6)
    assert matrix(pairs=[Pair("membw", "membw", 1.01, 1, 1.02, 5)]).node().saturating == 8


def test_neighbours_add_up() -> None:
    disk = {"diskbw": 0.5}
    assert TRUE.slowdown(disk, []) == 1.0
    assert TRUE.slowdown(disk, [disk]) == pytest.approx(1.3)
    assert TRUE.slowdown(disk, [disk, disk]) == pytest.approx(1.6)


@given(
    st.lists(
        st.tuples(st.sampled_from(list(SHARES)), st.sampled_from(list(SHARES)),
                  st.floats(0.01, 100)), min_size=1, max_size=20,
    )
)  # fmt: skip
def test_no_weight_is_negative_whatever_was_measured(pairs: list[tuple[str, str, float]]) -> None:
    made = [Pair(a, b, slow, slow, slow, 1) for a, b, slow in pairs]
    assert min(Weights.fitted(made, matrix().vectors()).by_resource.values()) >= 0


def test_a_matrix_is_read_as_it_was_written(tmp_path: Path) -> None:
    matrix().save(tmp_path / "m.json")
    assert Matrix.read(tmp_path / "m.json") == matrix()


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[1]", "nul", '{"schema": "jobsight.model/1"}',
     json.dumps({"schema": "jobsight.matrix/1", "kind": "x"})],
)  # fmt: skip
def test_what_is_no_matrix_is_refused_with_its_path(tmp_path: Path, text: str) -> None:
    path = tmp_path / "m.json"
    path.write_text(text)
    with pytest.raises(SourceError, match=r"m\.json is not written by"):
        Matrix.read(path)


def test_pairs_of_unknown_programs_are_refused(tmp_path: Path) -> None:
    matrix(pairs=[Pair("cpu", "other", 1, 1, 1, 1)]).save(tmp_path / "m.json")
    with pytest.raises(SourceError, match="without shares"):
        Matrix.read(tmp_path / "m.json")
