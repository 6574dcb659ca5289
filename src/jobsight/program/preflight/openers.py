"""Where a quote, a compound command or a here-document begins that is never closed."""

from __future__ import annotations

import re

__all__ = ["as_matlab", "dedented", "opener", "unclosed"]

_CLOSES = {
    **dict.fromkeys(("if", "then", "else", "elif"), "fi"),
    **dict.fromkeys(("for", "while", "until", "select", "do"), "done"),
    "case": "esac", "{": "}", "${": "}", "(": ")", "$(": ")", '"': '"', "'": "'", "`": "`",
}  # fmt: skip
_TOKEN = re.compile(
    r"(?P<comment>(?:^|(?<=[\s;]))#[^\n]*)|(?P<escape>\\.)|(?P<here><<-?\s*(?P<q>['\"]?)(?P<tag>\w+)(?P=q))"
    r"|(?P<single>'[^']*')|(?P<dollar>\$[({])|(?P<mark>[\"'`(){}])"
    r"|(?P<word>(?:^|(?<=[\s;&|(]))(?:if|for|while|until|select|case|fi|done|esac)(?=[\s;&|)]|$))",
    re.MULTILINE | re.DOTALL,
)


def opener(text: str, words: str) -> tuple[int, str, str] | None:
    """The line, the name and the closing word of what is left open.

    Args:
        text: the script.
        words: its complaint.

    Returns:
        None where nothing is left open before that line, or the complaint is of another kind.
    """
    if "here-document" in words:
        found = re.search(r"delimited by end-of-file \(wanted `(.*)'\)", words)
        start = re.search(r"at line (\d+)", words)
        return (int(start[1]), "the here-document", found[1]) if found and start else None
    end_of_file = "unexpected end of file" in words or "unexpected EOF" in words
    if not end_of_file:
        return None
    wanted = re.search(r"matching [`'\"](.+?)'", words)
    left = _open_parts(text, wanted[1] if wanted else None)
    if not left:
        return None
    at, what = left
    return at, f"{what!r}" if what in "\"'`" else what, _CLOSES[what]


def _open_parts(text: str, wanted: str | None) -> tuple[int, str] | None:
    """The innermost part that is open at the end."""
    quotes = {'"', "'", "`"}
    stack: list[tuple[int, str]] = []
    lost: tuple[int, str] | None = None
    lines = text.split("\n")
    at, line, counted = 0, 1, 0
    while (found := _TOKEN.search(text, at)) is not None:
        at = found.end()
        line += text.count("\n", counted, found.start())
        counted = found.start()
        inside = stack[-1][1] if stack else ""
        kind, token = found.lastgroup, found[0]
        if kind in ("q", "tag"):
            kind = "here"
        if inside == '"' and not (kind in ("dollar", "escape") or token in ('"', "`")):
            at = found.start() + 1
            continue
        if kind == "here" and inside not in ('"', "$(("):
            end = re.compile(rf"^\t*{found['tag']}$", re.M).search(text, at)
            at = end.end() if end else len(text)
        elif kind in ("dollar", "word", "mark"):
            lost = lost or _by_indent(stack, line, token, lines)
            _push_or_pop(stack, line, token)
        if stack and stack[-1][1] == "'":
            break
    if wanted in quotes and (first := _runs_on(text, wanted)) is not None:
        return first, wanted
    if wanted in quotes:
        stack = [one for one in stack if one[1] == wanted] or stack
        return stack[0] if stack else None
    return lost or (stack[-1] if stack else None)


def _runs_on(text: str, quote: str) -> int | None:
    """The line of a quote that is closed by what opens another, in a later line."""
    lines = text.split("\n")
    odd = [
        number for number, line in enumerate(lines, 1)
        if not line.lstrip().startswith("#") and len(re.findall(rf"(?<!\\){quote}", line)) % 2
    ]  # fmt: skip
    if len(odd) == 1:
        return odd[0]
    for first, second in zip(odd[::2], odd[1::2], strict=False):
        if re.search(rf"(?:^|[\s=(]){quote}[\w$/]", lines[second - 1]):
            return first
    return None


def _by_indent(
    stack: list[tuple[int, str]], line: int, part: str, lines: list[str]
) -> tuple[int, str] | None:
    """The innermost part, where a word closes one further out by its indentation."""

    def indent(number: int) -> int:
        return len(lines[number - 1]) - len(lines[number - 1].lstrip())

    if len(stack) < 2 or part not in ("fi", "done", "esac") or _CLOSES[stack[-1][1]] != part:
        return None
    inner, outer = stack[-1], stack[-2]
    same = _CLOSES[outer[1]] == part and indent(outer[0]) == indent(line) < indent(inner[0])
    return inner if same else None


def _push_or_pop(stack: list[tuple[int, str]], line: int, part: str) -> None:
    inside = stack[-1][1] if stack else ""
    if part in ('"', "`") and inside == part:
        stack.pop()
    elif part in _CLOSES:
        stack.append((line, part))
    elif part == ")" and inside == "case":
        return
    elif stack and _CLOSES.get(inside) == part:
        stack.pop()


_BLOCK = re.compile(
    r"(?i)(?:.*\{|(?:do|for|while|if|function|begin|try|switch|module|struct|select)\b(?!.*\bend\b).*)$"
)
_END = re.compile(r"(?i)(?:end\b|end(?:do|if|for|while|function)\b|\})")


def unclosed(text: str) -> int | None:
    """The line of a block that ends, by its indentation, after one around it; None: none does."""
    stack: list[tuple[int, int]] = []
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.strip()
        indent = len(line) - len(line.lstrip())
        if _END.match(bare):
            if stack and indent < stack[-1][1]:
                return stack[-1][0]
            if stack:
                stack.pop()
        if _BLOCK.match(bare):
            one_line = re.match(r"(?i)if\b(?!.*\bthen\b).*\)\s*\w", bare) and "{" not in bare
            if not one_line and bare.count("{") >= bare.count("}"):
                stack.append((number, indent))
    return stack[-1][0] if stack else None


_OCTAVE = (
    (r"(?m)^([ \t]*)#([{}]?)", r"\1%\2"),
    (r"(?m)(?<=[\s;,)])#(?=.*$)", "%"),
    (r"(?m)(,|&&|\|\|)[ \t]*$", r"\1 ..."),
    (r"\bend(?:_try_catch|_unwind_protect|if|for|while|function|switch|parfor)\b", "end"),
    (r"\bunwind_protect_cleanup\b", "catch"),
    (r"\bunwind_protect\b", "try"),
    (r"\b(?:persistent|global)\s+(?=\w+\s*=)", ""),
    (r"!(?==)", "~"),
    (r"(?<![\w!])!(?=\s*[\w(])", "~"),
    (r"(?m)^([ \t]*[\w.(),: ]+?)\s*\.?[-+*/^|&]=(?!=)", r"\1 ="),
    (r"(?m)^([ \t]*\w+\s*=\s*)(?:\w+\s*=(?!=)\s*)+", r"\1"),
    (r"(?m)^([ \t]*)(?:\+\+|--)?(\w+)(?:\+\+|--)?\s*;", r"\1\2;"),
)
"""What Octave has beyond MATLAB, and the same in MATLAB's words."""


def as_matlab(text: str) -> str:
    """A program of Octave as the grammar of MATLAB takes it, line by line."""
    if re.search(r"(?m)^[ \t]*do\s*(?:[#%].*)?$", text):
        return ""
    for form, other in _OCTAVE:
        text = re.sub(form, other, text)
    values = re.compile(r"(?<=\w)\s*=\s*(?:[^,()=\n]|\(\s*\))+(?=[,)])")  # of arguments
    return re.sub(r"(?m)^[ \t]*function\b.*", lambda m: values.sub("", m[0]), text)


def dedented(text: str) -> int | None:
    """The line of a block of MATLAB whose ``end`` is that of a block around it, by indentation."""
    bare = re.sub(r"%.*|\"[^\"\n]*\"|(?<![\w)\]}.'])'[^'\n]*'", "", text)
    while (plain := re.sub(r"\([^()\n]*\)|\[[^][\n]*\]|\{[^{}\n]*\}", "", bare)) != bare:
        bare = plain
    ends = len(re.findall(r"(?m)^[ \t]*end\b", bare))
    starts = len(re.findall(r"(?m)^[ \t]*(?:par)?(?:for|while|if|switch|try)\b(?!.*\bend\b)", bare))
    line = unclosed(bare) if 0 < ends == starts else None
    return line if line and not re.match(r"\s*function\b", bare.split("\n")[line - 1]) else None
