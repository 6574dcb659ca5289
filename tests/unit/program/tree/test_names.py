"""What imports bring, what calls call, and numbers as languages write them."""

from __future__ import annotations

import pytest

from jobsight.program.tree import read_text
from jobsight.program.tree.effects import Effects
from jobsight.program.tree.expressions import evaluated, number_of
from jobsight.program.tree.names import called, imports
from jobsight.program.tree.vocabulary import EFFECTS


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("python", "import os.path", [("os.path", "os")]),
        ("python", "import numpy as np, json", [("numpy", "np"), ("json", "json")]),
        ("python", "from os import (path as p,\n fsync)",
         [("os.path", "p"), ("os.fsync", "fsync")]),
        ("python", "from .own import *", [(".own", "")]),
        ("c", "#include <math.h>", [("math.h", "")]),
        ("fortran", "use, intrinsic :: iso_c_binding", [("iso_c_binding", "")]),
        ("go", 'import (\n h "net/http"\n "os"\n)', [("http", "h"), ("os", "os")]),
        ("rust", "use std::{io::{self, Read}, thread as t};",
         [("std.io", "io"), ("std.io.Read", "Read"), ("std.thread", "t")]),
        ("java", "import static java.lang.Math.sqrt;", [("java.lang.Math.sqrt", "")]),
        ("julia", "using LinearAlgebra: svd, qr",
         [("LinearAlgebra", "LinearAlgebra"), ("LinearAlgebra.svd", "svd"),
          ("LinearAlgebra.qr", "qr")]),
        ("perl", "use LWP::UserAgent;", [("LWP.UserAgent", "")]),
        ("lua", "local a = 1", []),
    ],
)  # fmt: skip
def test_imports(language: str, text: str, expected: list[tuple[str, str]]) -> None:
    assert list(imports(language, text)) == expected


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("cpp", "std::sort", "std.sort"),
        ("cpp", "std::vector<int>(n).size", "std.vector().size"),
        ("cpp", "file->read", "file.read"),
        ("python", "open(x, 'rb').read", "open().read"),
        ("python", "tables[k].join", "tables.join"),
        ("python", "f(a, b)(c).g", "f().g"),
        ("rust", "File::open(p)?.sync_all", "File.open().sync_all"),
        ("java", "new Socket", "Socket"),
        ("r", "data.table::fread", "data.table.fread"),
        ("perl", "$ua->get", "ua.get"),
        ("python", "'a b'.join", "?.join"),
        ("python", "f(g(x, h(y)), [1]).save", "f().save"),
    ],
)
def test_what_a_call_calls(language: str, text: str, expected: str) -> None:
    assert called(text, language) == expected


def test_a_name_that_goes_on_and_on_keeps_its_end() -> None:
    assert called("f(x)." + "a.b(1)." * 5000 + "read", "python").endswith(".read")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1_000_000", 1e6), ("1'000", 1000), ("0x1F", 31), ("0b101", 5), ("1d3", 1000),
        ("2.5e-1", 0.25), (".5", 0.5), ("100L", 100), ("name", None), ("", None),
    ],
)  # fmt: skip
def test_numbers(text: str, expected: float | None) -> None:
    assert number_of(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(1 << 20)", 2.0**20), ("64 * 1024UL", 65536), ("(4)", 4), ("1 << 2 << 3", 32),
        ("(size_t)n * n", 100), ("10**6", 1e6), ("int(1e3) / 2", 500), ("SIZE * 2", None),
        ("f(2)", None), ("1if", None), ("", None),
    ],
)  # fmt: skip
def test_expressions(text: str, expected: float | None) -> None:
    assert evaluated(text, {"n": 10.0}) == expected


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("lab.read", "", "read"),  # as it is
        ("own.lab.read", "", "read"),  # without its leading parts
        ("anything.store", "", "write"),  # as a method
        ("lab.fast.turn", "", "fft"),  # by what it is a part of
        ("lab.Client().ask", "", "request"),  # by what a call returned
        ("lab.read", "lab.read(x, sync=True)", "sync"),  # by the text, which goes first
        ("lab.get_field", "", "fetch"),  # by how it begins
        ("net.Session().find", "", "query"),  # by the kind of its library, whatever its name
        ("lab.Client().flushed", "", "sync"),  # what flushes goes before what a call returned
        ("other.thing", "", "unknown"),
    ],
)
def test_an_effect_is_found_by_the_closest_name(name: str, text: str, expected: str) -> None:
    site = {
        "python": {
            "read": "lab.read", "sync": "lab.read~sync=True .flushed", "write": ".store",
            "fft": "lab.fast.*", "request": "lab.Client().*", "fetch": "get_*",
            "query": "net.*",
        }
    }  # fmt: skip
    assert EFFECTS[Effects("python", site).of(name, text, "")] == expected


def test_a_text_in_a_variable_is_what_is_run_or_used() -> None:
    text = "import subprocess\nCODE = 'import time; time.sleep(3)'\n"
    tree = read_text(f"{text}subprocess.run(['python3', '-c', CODE])\n", "a.py")
    assert "time.sleep" in tree.calls.values()
    moved = read_text("dev = 'cuda:0' if ok else 'cpu'\nnet = net.to(dev)\n", "a.py")
    assert EFFECTS.index("gpu") in moved.effect
    assert EFFECTS.index("gpu") not in read_text("dev = 'cpu'\nnet.to(dev)\n", "a.py").effect


def test_a_with_of_a_database_commits() -> None:
    text = "import sqlite3\ndb = sqlite3.connect('a.db')\nwith db:\n    db.execute('x')\n"
    assert EFFECTS.index("commit") in read_text(text, "a.py").effect
