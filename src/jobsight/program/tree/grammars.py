"""The tables that make one tree of the trees of all grammars, read from ``grammars.toml``."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from jobsight.program.tree.vocabulary import KIND_NUMBERS, ROLE_NUMBERS

__all__ = ["LANGUAGES", "SKIP", "THROUGH", "Grammar", "grammar_of", "merged_table"]

THROUGH, SKIP = 254, 255
"""In `Grammar.kinds`: a node that adds none, and one in which nothing is read."""


@cache
def _tables() -> dict[str, Any]:
    text = files("jobsight.program.tree").joinpath("grammars.toml").read_text("utf-8")
    return tomllib.loads(text)


LANGUAGES = (
    "bash", "c", "cpp", "cuda", "fortran", "go", "java", "julia", "lua", "matlab", "perl", "python",
    "r", "rust",
)  # fmt: skip
"""Languages that have trees."""


@dataclass(frozen=True)
class Grammar:
    """What the nodes of a grammar mean.

    Attributes:
        language: its name.
        kinds: by number of node type: number of a kind, `THROUGH` or `SKIP`.
        roles: by number of field: number of a role.
        typed: by number of node type: number of a role, where no field says one.
        calls: types of nodes that call something by no name of theirs, and its name.
        words: types of nodes whose first word says what they are: word to number of a kind.
        bare: prefix that names may lack.
        brackets_call: arrays are indexed as functions are called.
    """

    language: str
    kinds: bytes
    roles: bytes
    typed: dict[int, int]
    calls: dict[str, str]
    words: dict[str, dict[str, int]]
    bare: str
    brackets_call: bool


def merged_table(language: str) -> dict[str, Any]:
    """What ``grammars.toml`` says of a language, with what it inherits."""
    own = _tables()[language]
    if "inherits" not in own:
        return dict(own)
    merged = merged_table(own["inherits"])
    for key, value in own.items():
        both = isinstance(value, str) and key in {*KIND_NUMBERS, "skip"}
        merged[key] = f"{merged.get(key, '')} {value}" if both else value
    return merged


@cache
def grammar_of(language: str) -> Grammar:
    """The table of a language."""
    import tree_sitter_language_pack

    table = merged_table(language)
    known = tree_sitter_language_pack.get_language(language)  # type: ignore[arg-type]
    numbers = dict.fromkeys(table["skip"].split(), SKIP)
    for kind, number in KIND_NUMBERS.items():
        numbers |= dict.fromkeys(table.get(kind, "").split(), number)
    words = {
        kind: {word: KIND_NUMBERS[name] for word, name in choices.items()}
        for kind, choices in table.get("words", {}).items()
    }
    numbers |= dict.fromkeys(words, KIND_NUMBERS["break"])
    types = [known.node_kind_for_id(one) or "" for one in range(known.node_kind_count)]
    kinds = bytes(
        numbers.get(name, THROUGH) if known.node_kind_is_named(one) else SKIP
        for one, name in enumerate(types)
    )
    headers = set(table.get("header", "").split())
    typed = {one: ROLE_NUMBERS["header"] for one, name in enumerate(types) if name in headers}
    fields = {field: ROLE_NUMBERS[role] for role, text in _tables()["roles"].items()
              for field in text.split()}  # fmt: skip
    named = (known.field_name_for_id(one) or "" for one in range(known.field_count + 1))
    roles = bytes(fields.get(name, 0) for name in named)
    return Grammar(
        language, kinds, roles, typed, table.get("calls", {}), words, table.get("bare", ""),
        table.get("brackets") == "call",
    )  # fmt: skip
