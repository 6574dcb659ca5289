"""What make would run, read from the Makefile."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobsight.program.shell.makefiles import read_makefile

_TEXT = """CC = gcc
SRC = a.c \\
  b.c
OBJ = $(SRC:.c=.o)
OUT ?= plots
prog: $(OBJ) | dir
\t$(CC) -o $@ $(OBJ) \\
\t  -lm
%.o: %.c
\t@$(CC) -c $< -o $@
dir: ; mkdir -p $$HOME/x $(UNSET_HERE)
clean:
\t-rm -f *.o
figures: $(SRC:%=$(OUT)/%.png)
$(OUT)/%.png: %
\tdraw $< > $@
"""


def everything(_name: str) -> bool:
    """Each file is there."""
    return True


def test_recipes_come_in_order_at_their_lines() -> None:
    recipes = read_makefile(_TEXT, {}).recipes(["prog"], everything) or []
    assert [one.target for one in recipes] == ["a.o", "b.o", "dir", "prog"]
    texts = [one.text for one in recipes]
    assert texts[0] == "\n" * 9 + "(gcc -c a.c -o a.o)"
    assert texts[2] == "\n" * 10 + "(mkdir -p $HOME/x ${UNSET_HERE-})"
    assert texts[3] == "\n" * 6 + "(gcc -o prog a.o b.o \\\n\t  -lm)"


def test_the_call_has_its_say() -> None:
    makefile = read_makefile(_TEXT, {"OUT": "/d", "CC": "icc"})
    assert makefile.default == ["prog"]
    assert [one.target for one in makefile.recipes(["figures"], everything) or []] == [
        "/d/a.c.png",
        "/d/b.c.png",
    ]
    (last,) = makefile.recipes(["clean"], everything) or []
    assert last.text.strip() == "(rm -f *.o) || true"
    assert "icc" in (makefile.recipes(["a.o"], everything) or [])[0].text


@pytest.mark.parametrize(
    "text",
    ["all: $(wildcard *.c)\n\tcc $^\n", "include x.mk\nall:\n\ttrue\n", "all: a.o\n\tcc a.o\n",
     "ifdef X\nall:\n\ttrue\nendif\n", "all:\n\techo $(shell date)\n"],
)  # fmt: skip
def test_what_is_not_in_the_text_is_not_known(text: str) -> None:
    assert read_makefile(text, {}).recipes(["all"], everything) is None


def test_a_rule_for_any_name_needs_its_files() -> None:
    makefile = read_makefile("all: a.o\n%.o: %.c\n\tcc -c $<\n", {})
    assert makefile.makes("a.o", lambda name: name == "a.c")
    assert not makefile.makes("a.o", lambda name: name == "b.c")
    assert makefile.recipes(["all"], lambda name: name == "b.c") is None


def test_targets_that_need_each_other_end() -> None:
    makefile = read_makefile("a: b\n\ttrue\nb: a\n\ttrue\nX = $(X)\nc:\n\techo $(X)\n", {})
    assert [one.target for one in makefile.recipes(["a"], everything) or []] == ["b", "a"]
    makefile.recipes(["c"], everything)


@given(st.text(st.sampled_from("ab:=%$(){}@<^#;\\\t\n +?-.'\""), max_size=200))
def test_any_text_is_read(text: str) -> None:
    makefile = read_makefile(text, {"a": "b"})
    makefile.recipes(makefile.default, everything)
