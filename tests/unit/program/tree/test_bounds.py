"""Odd sources: empty, huge, deep, broken, wrongly encoded, random; read, or refused."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.limits import prove
from tests.unit.program.tree.endings import JOBS, NOT_JOBS

from jobsight.errors import SourceError
from jobsight.program import languages
from jobsight.program.tree import FEATURES, LANGUAGES, Tree, features_of, read_program, read_text

_TEXTS = [*JOBS.values(), *(text for _, text in NOT_JOBS.values())]
_FUZZED = settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)


def _require_sound(tree: Tree) -> None:
    """The invariants of a tree, and finite features."""
    nodes = np.arange(len(tree))
    assert tree.parent[0] == -1
    assert (tree.parent[1:] < nodes[1:]).all()
    assert (tree.end > nodes).all()
    assert (tree.end[1:] <= tree.end[tree.parent[1:]]).all()
    assert tree.end[0] == len(tree)
    assert (tree.line >= 1).all()
    found = features_of(tree)
    assert found.shape == (len(FEATURES),)
    assert np.isfinite(found).all()


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_empty_program_is_a_tree_of_one_node(language: str) -> None:
    tree = read_text("", "empty", language=language)
    assert len(tree) == 1
    _require_sound(tree)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("piece", ["(", "f(", "a.b().", "if x:\n", "do\n"])
def test_deep_nesting_needs_no_stack(language: str, piece: str) -> None:
    _require_sound(read_text(piece * 1000, "deep", language=language))


@pytest.mark.slow
@pytest.mark.parametrize(
    "language", ["python", *(pytest.param(one, marks=prove) for one in ("c", "bash", "fortran"))]
)
def test_a_hundred_thousand_lines_are_read_within_bounds(language: str) -> None:
    line = {"python": "x = f(x, 3) + 1\n", "c": "int f() { return g(3) + 1; }\n",
            "bash": "echo $x | sort\n", "fortran": "x = f(x) + 1\n"}[language]  # fmt: skip
    begun = time.process_time()
    tree = read_text(line * 100_000, "long", language=language)
    assert time.process_time() - begun < 60
    assert len(tree) <= 400_010
    _require_sound(tree)


def test_what_is_no_utf8_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(
        b"# caf\xe9\nx = '\xff\xfe'\nfor i in range(3):\n    print(x)\n"
    )
    tree = read_program(tmp_path / "a.py")
    assert "print" in tree.calls.values()
    _require_sound(tree)


def test_broken_code_is_read_as_far_as_it_goes() -> None:
    tree = read_text("import numpy as np\nx = np.dot(a, b)\ny = = 3)\nz = np.sum(x)\n", "a.py")
    assert {"numpy.dot", "numpy.sum"} <= set(tree.calls.values())
    assert tree.files[0].broken


def test_what_takes_too_long_to_be_parsed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(languages, "_MOST_SECONDS", 0.2)
    with pytest.raises(SourceError, match="takes too much"):
        read_text("a.b()." * 10_000, "a.pl")


def test_a_program_that_runs_itself_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import subprocess\nsubprocess.run(['python3', 'a.py'])\n")
    tree = read_program(tmp_path / "a.py")
    assert tree.problems == ("a.py runs a.py",)
    (tmp_path / "b.py").write_text("import c\n")
    (tmp_path / "c.py").write_text("import b\n")
    assert read_program(tmp_path / "b.py").problems == ("b.py runs c.py runs b.py",)


def test_many_programs_in_each_other_are_bounded(tmp_path: Path) -> None:
    for at in range(30):
        (tmp_path / f"s{at}.sh").write_text(f"bash s{at + 1}.sh\nbash s{at + 1}.sh\n")
    tree = read_program(tmp_path / "s0.sh")
    assert len(tree.files) <= 64
    assert tree.problems
    _require_sound(tree)


@pytest.mark.parametrize("language", LANGUAGES)
def test_any_text_is_read(language: str) -> None:
    @_FUZZED
    @given(st.text(max_size=300))
    def read(text: str) -> None:
        _require_sound(read_text(text, "any", language=language))

    read()


@pytest.mark.parametrize("language", LANGUAGES)
def test_any_mixture_of_programs_is_read(language: str) -> None:
    pieces = st.sampled_from(_TEXTS).flatmap(
        lambda text: st.tuples(st.just(text), st.integers(0, len(text)), st.integers(0, len(text)))
    )

    @_FUZZED
    @given(st.lists(pieces, max_size=6))
    def read(parts: list[tuple[str, int, int]]) -> None:
        text = "".join(text[min(a, b) : max(a, b)] for text, a, b in parts)
        _require_sound(read_text(text, "mixed", language=language))

    read()
