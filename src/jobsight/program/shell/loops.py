"""Loops of the shell: how often they run, and whether anything ends them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from jobsight.program.shell.model import Word
from jobsight.program.shell.words import text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tree_sitter import Node

__all__ = ["is_endless", "loop_names", "loop_times", "loop_values"]

_ALWAYS = re.compile(
    r"(?:true|:|\[ 1 \]|\[\[ 1 \]\]|\(\( ?1 ?\)\)|\[ true \]|\[\[ true \]\]|/bin/true)\s*;?"
)
_MOST_VALUES = 64
_LEAVES = frozenset({"break", "exit", "return", "exec", "kill", "scancel", "trap"})


def is_endless(node: Node) -> bool:
    """Whether a loop's condition always holds and no command in it leaves it."""
    condition = node.child_by_field_name("condition")
    head = text_of(node.children[0])
    if node.type == "c_style_for_statement":
        if condition is not None:
            return False
    elif head == "until":
        if condition is None or text_of(condition).strip() != "false":
            return False
    elif (
        head != "while"
        or condition is None
        or not (_ALWAYS.fullmatch(text_of(condition).strip()) or _stays(condition, node))
    ):
        return False
    body = node.child_by_field_name("body")
    return body is not None and not _leaves(body)


def _stays(condition: Node, loop: Node) -> bool:
    """Whether a comparison of numbers has nothing that the loop changes."""
    text = text_of(condition).strip()
    if not re.fullmatch(
        r"(?:\[\[?|\(\()\s*[\"']?\$?\{?\w+\}?[\"']?\s*(?:-[lgn][te]|-eq|[<>!=]=?)\s*[\"']?\$?\{?\w+\}?"
        r"[\"']?\s*(?:\]\]?|\)\))", text
    ) or not re.search(r"[$(]", text):  # fmt: skip
        return False
    body = loop.child_by_field_name("body")
    inside = text_of(body) if body is not None else ""
    if re.search(r"\b(?:source|eval|read|mapfile|printf -v|unset)\b|^[ \t]*\. ", inside, re.M):
        return False
    names = re.findall(r"[A-Za-z_]\w*", re.sub(r"-[a-z]{2}\b", "", text))
    name = rf"(?:{'|'.join(names)})"
    changed = rf"\b{name}\s*(?:[-+*/%]?=(?!=)|\+\+|--)|(?:\+\+|--)\s*{name}\b|\blet\b|\bshift\b"
    return not (names and re.search(changed, inside))


def _leaves(body: Node) -> bool:
    waiting = [body]
    while waiting:
        one = waiting.pop()
        if one.type == "command_name" and text_of(one) in _LEAVES:
            return True
        waiting += one.children
    return False


def loop_names(node: Node) -> tuple[str, ...]:
    """The variables that a for loop sets."""
    name = node.child_by_field_name("variable")
    if name is not None:
        return (text_of(name),)
    return tuple(dict.fromkeys(re.findall(r"\(\(\s*(\w+)\s*=", text_of(node)[:200])))


def loop_times(node: Node, values: Sequence[Word]) -> int | None:
    """How often a for loop runs; None: unknown."""
    if node.type == "c_style_for_statement":
        form = r"for\s*\(\(\s*\w+\s*=\s*(\d+)\s*;\s*\w+\s*(<=?)\s*(\d+)\s*;"
        found = re.match(form, text_of(node))
        return int(found[3]) - int(found[1]) + (found[2] == "<=") if found else None
    if len(values) == 1:
        text = values[0].text
        counted = re.fullmatch(r"[$`]\(?seq (?:(\d+) )?(\d+)[)`]|\{(\d+)\.\.(\d+)\}", text)
        if counted:
            first, last = (counted[1] or 1, counted[2]) if counted[2] else (counted[3], counted[4])
            return int(last) - int(first) + 1
    if values and all(word.value is not None and not word.is_glob for word in values):
        return len(values)
    return None


def loop_values(values: Sequence[Word]) -> tuple[str, ...]:
    """The words that a for loop goes through; empty: some are not known, or they are many."""
    if len(values) > _MOST_VALUES or any(one.value is None or one.is_glob for one in values):
        return ()
    return tuple(one.value or "" for one in values)
