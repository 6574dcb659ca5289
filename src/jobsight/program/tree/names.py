"""Names in programs: what imports make of them, and what a call calls."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["called", "imports"]

_PYTHON_FROM = re.compile(r"from\s+(\.*[\w.]*)\s+import\s+\(?([^#]*?)\)?\s*$", re.DOTALL)
_GO = re.compile(r"([\w.]+\s+)?\"([^\"]+)\"")
_PLAIN = re.compile(r"[@$%&*]*[A-Za-z_\\][\w.]*[!?']?")
_BRACKETS = re.compile(r"\[[^\[\]]*\]|\{[^{}]*\}|<[\w\s,:*&<>]*>(?=\(|$)")
_PARENTHESES = re.compile(r"\((?:[^()]|\(\))+\)")
_TAIL = re.compile(r"([A-Za-z_]\w*[!?]?)\s*$")
_PASSING = re.compile(
    r"\.(?:unwrap|expect|clone|await|as_ref|as_mut|lock|iter|into_iter)\b(?:\([^()]*\))?(?=\.)"
)
_LONGEST = 160


def imports(language: str, text: str) -> Iterator[tuple[str, str]]:
    """Full names that an import brings, each with the name that stands for it here.

    An empty second name: it brings names that are not written here.
    """
    if language == "python":
        yield from _python(text)
    elif language in ("c", "cpp", "cuda", "fortran"):
        form = r"use(?:\s*,\s*\w+\s*::)?\s+(\w+)"
        found = re.search(r"[<\"']([^>\"']+)[>\"']", text) or re.search(form, text, re.I)
        if found:
            yield found[1], ""
    elif language == "go":
        for alias, path in _GO.findall(text):
            last = path.rpartition("/")[2]
            yield path if "/" in path and not alias else last, alias.strip() or last
    elif language == "rust":
        yield from _rust(re.sub(r"\s+", " ", text[3:].rstrip("; \n")).strip())
    elif language == "java":
        name = re.sub(r"^import\s+(?:static\s+)?|[;\s]", "", text)
        yield name, ""
    elif language == "julia":
        head, _, rest = text.partition(" ")[2].partition(":")
        for one in re.split(r"[,\s]+", head.strip()):
            if one:
                yield one, one
        for one in re.split(r"[,\s]+", rest.strip()):
            if one:
                yield f"{head.strip()}.{one}", one
    elif language == "perl":
        found = re.match(r"(?:use|require)\s+([A-Za-z_][\w:]*)", text)
        if found:
            yield found[1].replace("::", "."), ""


def _python(text: str) -> Iterator[tuple[str, str]]:
    found = _PYTHON_FROM.match(text)
    head = f"{found[1]}." if found else ""
    names = found[2] if found else text.partition("import")[2]
    for one in names.replace("\\", " ").split(","):
        full, _, alias = one.strip().partition(" as ")
        full, alias = full.strip(), alias.strip()
        if re.fullmatch(r"[\w.]+", full):
            if head or alias:
                yield head + full, alias or full
            else:
                yield full, full.partition(".")[0]
        elif full == "*":
            yield head[:-1], ""


def _rust(text: str, head: str = "") -> Iterator[tuple[str, str]]:
    """The names of ``std::{io::{self, Read}, thread as t}``; bounded by the text's length."""
    depth, start, parts = 0, 0, []
    for at, character in enumerate(f"{text},"):
        depth += (character == "{") - (character == "}")
        if character == "," and depth <= 0:
            parts.append(text[start:at].strip())
            start = at + 1
    for part in parts:
        before, brace, inside = part.partition("{")
        if brace and len(head) < _LONGEST:
            yield from _rust(inside.rstrip("} "), head + before.strip().replace("::", "."))
            continue
        path, _, alias = part.partition(" as ")
        full = (head + path.strip().replace("::", ".")).removesuffix(".self")
        if full:
            yield full, (alias.strip() or full.rpartition(".")[2]).replace("*", "")


def called(text: str, language: str) -> str:
    """What a call calls, as words parted by points; "" where that has no name.

    ``std::sort`` is ``std.sort``, ``open(x).read`` is ``open().read``.
    """
    if len(text) > _LONGEST:
        text = f"().{text[-_LONGEST:]}"
    text = text.replace("::", ".")
    if language in ("c", "cpp", "cuda", "perl"):
        text = text.replace("->", ".")
    elif language == "rust":
        text = _PASSING.sub("", text).replace("?", "")
    elif language == "java":
        text = text.replace("new ", "")
    if language in ("r", "lua"):
        text = text.replace("$", ".").replace(":", ".")
    if _PLAIN.fullmatch(text):
        return text.lstrip("@$%&*\\")
    text = re.sub(r"\s+", "", text)
    for _ in range(8):
        shorter = _PARENTHESES.sub("()", _BRACKETS.sub("", text))
        if shorter == text:
            break
        text = shorter
    text = text.replace("()()", "()")
    if re.fullmatch(r"[\w.()$@%!?]+", text) and text.count("(") == text.count(")"):
        return text.lstrip("(@$%&*").replace("$", "")
    tail = _TAIL.search(text)
    return f"?.{tail[1]}" if tail and len(tail[1]) < len(text) else (tail[1] if tail else "")
