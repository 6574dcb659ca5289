"""What a text says of arrays and names: sizes of whole arrays, and what a name was made by."""

from __future__ import annotations

import numpy as np
import pytest

from jobsight.program.tree import EFFECTS, KINDS, read_text
from jobsight.program.tree.normalized import Tree

_ARRAY = "import numpy as np\na = np.zeros((1000, 1000))\ni = np.arange(5000)\n"


def _doing(tree: Tree, effect: str) -> list[tuple[str, int]]:
    """Kinds and sizes of the nodes with an effect."""
    nodes = np.flatnonzero(tree.effect == EFFECTS.index(effect)).tolist()
    return [(KINDS[tree.kind[one]], int(tree.size[one])) for one in nodes]


def _effects(text: str, *names: str) -> list[str]:
    """Effects of the calls whose last names are given, in the order of the text."""
    tree = read_text(text, "a.py")
    found = [node for node, name in tree.calls.items() if name.rpartition(".")[2] in names]
    return [EFFECTS[tree.effect[node]] for node in found]


@pytest.mark.parametrize(
    ("name", "text", "effect", "expected"),
    [
        ("a.py", f"{_ARRAY}b = a + 1\n", "stream", [("arithmetic", 21)]),
        ("a.py", f"{_ARRAY}b = a[1:] * a[:-1]\n", "stream", [("multiply", 21)]),
        ("a.py", f"{_ARRAY}b = a[3, 4] * 2\nc = 3 + 4\n", "stream", []),
        ("a.py", f"{_ARRAY}b = a[k : k + 64] * 2\n", "stream", [("multiply", 7)]),
        ("a.py", f"{_ARRAY}b = a[j : k + 64] * 2\n", "stream", [("multiply", 21)]),
        ("a.py", f"{_ARRAY}b = a[i]\n", "gather", [("index", 14)]),
        ("a.py", f"{_ARRAY}b = a.sum()\nc = b * 2\n", "reduce", [("call", 21)]),
        ("a.py", f"{_ARRAY}b = a.astype('f4')\nc = b * 2\n", "stream", [("multiply", 21)]),
        ("a.py", f"{_ARRAY}b = a @ a\n", "stream", []),
        ("a.py", f"{_ARRAY}a += 1\nb = a * 2\n", "stream", [("update", 21), ("multiply", 21)]),
        ("a.py", "flags = bytearray([1]) * 2**20\n", "allocate", [("multiply", 21), ("call", 1)]),
        ("a.R", "x <- numeric(100000)\ny <- x * 2\n", "stream", [("multiply", 18)]),
    ],
)  # fmt: skip
def test_operators_go_over_whole_arrays(
    name: str, text: str, effect: str, expected: list[tuple[str, int]]
) -> None:
    assert _doing(read_text(text, name), effect) == expected


def test_what_a_loop_goes_over_is_made_once() -> None:
    text = (
        "import os\ndef parts(n):\n    for k in range(n):\n        yield os.stat(k)\n"
        "for part in parts(1000):\n    os.fsync(part)\n"
    )
    tree = read_text(text, "a.py")
    runs = {name: float(tree.runs[node]) for node, name in tree.calls.items()}
    assert (runs["parts"], runs["os.stat"], runs["os.fsync"]) == (0, 10, 10)


@pytest.mark.parametrize(
    "text",
    [
        "def get(session, url):\n    return session.get(url)\n"
        "with requests.Session() as session:\n    get(session, 'a')\n",
        "class Site:\n    def __init__(self):\n        self.session = requests.Session()\n"
        "    def load(self):\n        return self.session.get('a')\nSite().load()\n",
    ],
)
def test_a_name_is_what_made_it_wherever_that_is_written(text: str) -> None:
    assert "request" in _effects(f"import requests\n{text}", "get")


def test_a_name_that_different_calls_make_is_unknown() -> None:
    text = "def get(a):\n    a.get(1)\na = requests.Session()\na = dict()\n"
    assert _effects(f"import requests\n{text}", "get")[0] == "cheap"


@pytest.mark.parametrize(
    ("place", "expected"), [(":memory:", ["sort", "sort"]), ("a.db", ["database", "commit"])]
)
def test_a_database_in_memory_needs_no_disk(place: str, expected: list[str]) -> None:
    text = f"import sqlite3\nc = sqlite3.connect('{place}')\nc.execute('select 1')\nc.commit()\n"
    assert _effects(text, "execute", "commit") == expected


@pytest.mark.parametrize(
    ("given", "size"),
    [("int(sys.argv[1]) if len(sys.argv) == 2 else 1000", 11), ("int(sys.argv[1])", 0)],
)
def test_an_argument_has_its_default(given: str, size: int) -> None:
    text = f"import sys\ndef run(n):\n    for k in range(n):\n        pass\nrun({given})\n"
    tree = read_text(text, "a.py")
    assert tree.size[tree.kind == KINDS.index("loop")].tolist() == [size]
    tree = read_text(text, "a.py", arguments=["64"])
    assert tree.size[tree.kind == KINDS.index("loop")].tolist() == [7]


def test_all_arguments_at_once_go_to_the_parameters() -> None:
    text = "def run(a, n):\n    for k in range(n):\n        pass\nrun(*map(int, sys.argv[1:]))\n"
    tree = read_text(text, "a.py", arguments=["5", "64"])
    assert tree.size[tree.kind == KINDS.index("loop")].tolist() == [7]
