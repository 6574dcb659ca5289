"""Words of the shell's syntax tree: what they become, as far as that is known."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from jobsight.program.shell.model import Word
from jobsight.program.submission.job import Place

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["Value", "evaluate", "here_text", "names_in", "text_of", "word_of", "words_of"]


class Value(NamedTuple):
    """What a variable or a part of a word is; `text` None: unknown, because of `depends`."""

    text: str | None
    depends: frozenset[str] = frozenset()


_COMMAND = Value(None, frozenset({"$("}))
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_MOST_NODES = 5000
"""Of one word or condition that are looked at."""
_MOST_BRACED = 64
"""Words that one with braces becomes; one that becomes more stays as it is."""
_DEFAULT = frozenset({":-", "-", ":=", "="})


def text_of(node: Node) -> str:
    """The text of a node."""
    return (node.text or b"").decode("utf-8", "replace")


def word_of(node: Node, variables: Mapping[str, Value]) -> Word:
    """A word of a command with its value."""
    value = evaluate(node, variables)
    place = Place(node.start_point.row + 1, node.start_point.column + 1)
    text = text_of(node)
    if value.text is not None and text.startswith("~"):
        value = Value(None, frozenset({"HOME"}))
    quoted = node.type in ("string", "raw_string", "ansi_c_string")
    return Word(text, value.text, place, value.depends, quoted)


def words_of(node: Node, variables: Mapping[str, Value]) -> list[Word]:
    """The words that a part of a command becomes: several of a variable without quotes."""
    node = node.children[0] if node.type == "command_name" and len(node.children) == 1 else node
    word = word_of(node, variables)
    if node.type in ("simple_expansion", "expansion"):
        parts = (word.value or "").split()
        return [word._replace(text=one, value=one) for one in parts] if len(parts) > 1 else [word]
    if word.quoted or re.search(r"[\"'\\`]|\$\(", word.text):
        return [word]
    texts, values = _braced(word.text), None if word.value is None else _braced(word.value)
    if values is not None and len(values) != len(texts):
        return [word]
    return [
        word._replace(text=one, value=None if values is None else values[k])
        for k, one in enumerate(texts)
    ]


_BRACES = re.compile(r"(?<!\$)\{([^{}$\s]*)\}")


def _braced(text: str) -> list[str]:
    """What bash makes of ``a{b,c}`` and ``a{1..3}``; the text itself where that is too much."""
    done, waiting = list[str](), [text]
    while waiting:
        one = waiting.pop(0)
        span = next((m for m in _BRACES.finditer(one) if "," in m[1] or ".." in m[1]), None)
        parts = [] if span is None else span[1].split(",")
        if span is not None and len(parts) == 1:
            counted = re.fullmatch(r"(-?\d{1,9})\.\.(-?\d{1,9})", parts[0])
            parts = _counted(*counted.groups()) if counted else []
        if span is None or not parts:
            done.append(one)
        else:
            waiting += [one[: span.start()] + part + one[span.end() :] for part in parts]
        if len(done) + len(waiting) > _MOST_BRACED:
            return [text]
    return done


def _counted(first: str, last: str) -> list[str]:
    """The numbers of a range, as wide as its ends where one has a leading zero; none: too many."""
    a, b = int(first), int(last)
    padded = any(re.match(r"-?0\d", one) for one in (first, last))
    width = max(len(first), len(last)) if padded else 0
    numbers = range(a, b + 1) if a <= b else range(a, b - 1, -1)
    return [f"{one:0{width}d}" for one in numbers] if len(numbers) <= _MOST_BRACED else []


def evaluate(node: Node, variables: Mapping[str, Value]) -> Value:
    """The value of a word, or of what is assigned."""
    kind = node.type
    if kind in ("word", "number", "variable_name", "extglob_pattern", "regex", "test_operator"):
        return Value(_ESCAPE.sub(r"\1", text_of(node)))
    if kind in ("raw_string", "ansi_c_string"):
        text = text_of(node)
        escaped = "\\" in text and kind != "raw_string"
        return Value(None if escaped else text.lstrip("$")[1:-1])
    if kind == "string":
        return _joined(node, variables, node.start_byte + 1, node.end_byte - 1)
    if kind in ("concatenation", "command_name", "brace_expression"):
        return _joined(node, variables, node.start_byte, node.end_byte)
    if kind == "simple_expansion":
        return _variable(text_of(node)[1:], variables)
    if kind == "expansion":
        inner = [child for child in node.children if child.type not in ("${", "}")]
        if inner and inner[0].type == "variable_name":
            value = _variable(text_of(inner[0]), variables)
            if len(inner) == 1:
                return value
            if text_of(inner[1]) in _DEFAULT:
                default = evaluate(inner[2], variables) if len(inner) > 2 else Value("")
                return (
                    value if value.text else Value(None, value.depends | default.depends | {":-"})
                )
            if text_of(inner[1]) in (":?", "?"):
                return value if value.text is not None else Value(None, value.depends | {":-"})
        return Value(None, names_in(node, variables))
    if kind in ("command_substitution", "process_substitution"):
        return Value(None, _COMMAND.depends | names_in(node, variables))
    return Value(None, names_in(node, variables))


def _joined(node: Node, variables: Mapping[str, Value], start: int, end: int) -> Value:
    """The values of the children with the bytes between them."""
    data = node.text or b""
    offset, at = node.start_byte, start
    texts: list[str | None] = []
    depends: frozenset[str] = frozenset()
    for child in node.children:
        if child.start_byte < start or child.end_byte > end or child.type == '"':
            continue
        texts.append(data[at - offset : child.start_byte - offset].decode("utf-8", "replace"))
        at = child.end_byte
        if child.type == "string_content":
            texts.append(re.sub(r"\\([$`\"\\\n])", r"\1", text_of(child)))
            continue
        value = evaluate(child, variables) if child.is_named else Value(text_of(child))
        texts.append(value.text)
        depends |= value.depends
    texts.append(data[at - offset : end - offset].decode("utf-8", "replace"))
    known = [text for text in texts if text is not None]
    return Value("".join(known) if len(known) == len(texts) else None, depends)


def _variable(name: str, variables: Mapping[str, Value]) -> Value:
    return variables[name] if name in variables else Value(None, frozenset({name}))


def names_in(node: Node, variables: Mapping[str, Value]) -> frozenset[str]:
    """Unknown variables anywhere below a node, through those that are known to depend on them."""
    found: set[str] = set()
    waiting, seen = [node], 0
    while waiting:
        one, seen = waiting.pop(), seen + 1
        if seen > _MOST_NODES:  # a list in a list in a list: each would look at all that is left
            return frozenset({*found, "$("})
        if one.type in ("variable_name", "special_variable_name"):
            found |= _variable(text_of(one), variables).depends
        elif one.type == "command_substitution":
            found.add("$(")
        waiting += one.children
    return frozenset(found)


def here_text(redirect: Node, variables: Mapping[str, Value]) -> tuple[str, int, bool] | None:
    """A here-document's text, the line before its first, and whether nothing is filled in.

    Variables that are known are filled in.
    """
    start = next((one for one in redirect.children if one.type == "heredoc_start"), None)
    body = next((one for one in redirect.children if one.type == "heredoc_body"), None)
    if start is None or body is None:
        return None
    # of `\$1 ... $2` the grammar does not see the second
    lost = not body.named_children and re.search(r"(?<!\\)\$[\w{(]", text_of(body)) is not None
    if text_of(start)[:1] in ("'", '"', "\\") or not (body.named_children or lost):
        text, exact = text_of(body), True
    else:
        value = _joined(body, variables, body.start_byte, body.end_byte)
        exact = value.text is not None and not lost
        text = text_of(body) if value.text is None else value.text
    if text_of(redirect).startswith("<<-"):
        text = re.sub(r"^\t+", "", text, flags=re.MULTILINE)
    return text, body.start_point.row, exact
