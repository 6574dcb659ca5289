"""JS335, JS336: the arguments of a program against what it takes."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from jobsight.program.known import KNOWN
from jobsight.program.preflight.findings import Hit, hit, rule
from jobsight.program.preflight.job import Job
from jobsight.program.python import PythonText, dotted
from jobsight.program.shell.model import Program, Source, Word
from jobsight.program.shell.programs import COMPILERS

__all__ = ["given_words", "parsed"]


@dataclass
class _Parser:
    """What an ``argparse.ArgumentParser`` takes; an argument is a dict of its settings."""

    options: dict[str, dict[str, Any]] = field(default_factory=dict)
    places: list[dict[str, Any]] = field(default_factory=list)


@rule("JS335 Arguments that the program's parser refuses")
def _refused(job: Job) -> Iterator[Hit]:
    """Unknown options, missing ones, values of another type; of argparse and of getopts."""
    texts = {id(program.source): text for program, text in job.pythons}
    for program, text in job.pythons:
        yield from _results(program, text)
    for program in job.walk.programs:
        words = given_words(program)
        unknown = program.path == job.path and job.arguments is None
        if words is None or program.source is None or program.command.checked or unknown:
            continue
        if program.language == "python":
            text = texts.get(id(program.source)) or PythonText(program.source.text)
            parser = _parser_of(text)
            found = _misuse(parser, words) if parser else None
        else:
            found = _by_options(program.source.text, program.language, words)
        if found is not None:
            place = found[0] or program.command
            yield hit(place, found[1], source=program.command.source)


def _results(program: Program, text: PythonText) -> Iterator[Hit]:
    """Attributes of what ``parse_args()`` gives that no argument sets."""
    parser = _parser_of(text) if "parse_args" in text.text else None
    if parser is None or re.search(r"set_defaults|setattr|vars\(|__dict__|Namespace", text.text):
        return
    every = [*parser.options.values(), *parser.places]
    known = {str(one.get("dest") or _destination(one["names"])) for one in every}
    makers = {
        function.name for function, _ in text.nodes if isinstance(function, ast.FunctionDef)
        and re.search(r"(?m)^[ \t]*return .*\.parse_args\(|^[ \t]*(\w+) = .*\.parse_args\([^:]*"
                      r"^[ \t]*return \1$", ast.unparse(function))
    }  # fmt: skip
    given = Counter(
        dotted(node.targets[0]) for node, _ in text.nodes
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
        and (dotted(node.value.func).endswith(".parse_args") or dotted(node.value.func) in makers)
    )  # fmt: skip
    handed = Counter(node.arg for node, _ in text.nodes if isinstance(node, ast.arg))
    names = {one for one, count in given.items() if text.stores[one] == count + handed[one]}
    stored = {n.attr for n, _ in text.nodes
              if isinstance(n, ast.Attribute) and not isinstance(n.ctx, ast.Load)}  # fmt: skip
    for node, around in text.nodes:
        if isinstance(node, ast.Attribute) and dotted(node.value) in names - {""}:
            inside = any(node.attr == "help" or isinstance(one, ast.Try) for one in around)
            if node.attr not in known | stored and not inside:
                message = f"no argument sets {node.attr}: AttributeError"
                yield hit(node, message, source=program.source)


def _destination(names: list[str]) -> str:
    long = next((one for one in names if one.startswith("--")), names[0])
    return long.lstrip("-").replace("-", "_")


def given_words(program: Program) -> list[Word] | None:
    """The arguments; None: how many there are is not known."""
    words = program.arguments
    if any(one.name in ("xargs", "parallel") for one in program.command.launchers):
        return None
    unsure = r"[$`]\(|\$[@*]|\$\{?\w+\[[@*]\]|`"
    if any(w.is_glob or re.search(unsure, w.text) or (
        w.value is None and not w.quoted and re.search(r"(?i)arg|opt|flag|extra", w.text)
    ) for w in words):  # fmt: skip
        return None
    return [one for one in words if one.value != "" or one.quoted]


def _parser_of(text: PythonText) -> _Parser | None:
    """The one parser of a program that can be read; None: there is none, or it is more."""
    calls = [(name.rpartition(".")[2] or getattr(call.func, "attr", ""), call, around)
             for name, call, around in text.calls]  # fmt: skip
    made = [call for name, call, _ in calls if name == "ArgumentParser"]
    others = {"add_subparsers", "parse_known_args", "parse_known_intermixed_args"}
    given = {name for name, _, _ in calls}
    odd = {"parents", "fromfile_prefix_chars", "prefix_chars", "conflict_handler"}
    parsed = [call for name, call, _ in calls if name == "parse_args"]
    if len(made) != 1 or given & others or not parsed:
        return None
    if odd & {one.arg for one in made[0].keywords} or any(call.args for call in parsed):
        return None
    parser = _Parser()
    for name, call, around in calls:
        if name != "add_argument":
            continue
        names = [one.value for one in call.args if isinstance(one, ast.Constant)]
        if len(names) != len(call.args) or any(isinstance(one, ast.For | ast.If) for one in around):
            return None
        settings = {one.arg or "": _literal(one.value) for one in call.keywords}
        if "" in settings or not names:
            return None
        settings["names"] = names
        if str(names[0]).startswith("-"):
            parser.options |= {str(one): settings for one in names}
        else:
            parser.places.append(settings)
    return parser


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return dotted(node) or "?"


def parsed(text: PythonText, words: Sequence[Word] | None) -> dict[str, str | None]:
    """What a program's parser makes of its arguments, by attribute; texts of one word alone."""
    parser = _parser_of(text)
    if parser is None or words is None:
        return {}
    every = [*parser.options.values(), *parser.places]
    found = {str(one.get("dest") or _destination(one["names"])): one.get("default")
             for one in every}  # fmt: skip
    rest, places = list(words), list[Word]()
    while rest:
        word = rest.pop(0)
        name, equals, value = (word.value or word.text).partition("=")
        settings = _option(parser, name) if re.match(r"--?[A-Za-z]", name) else None
        if settings is None or settings.get("action") in _BARE:
            places += [] if settings else [word]
            continue
        single = _numbers(settings)[1] == 1
        given = value if equals else rest.pop(0).value if rest and single else None
        found[str(settings.get("dest") or _destination(settings["names"]))] = given
    if all(_numbers(one) == (1, 1) for one in parser.places) and len(places) == len(parser.places):
        found |= {str(one["names"][0]): word.value
                  for one, word in zip(parser.places, places, strict=True)}  # fmt: skip
    return {name: one if isinstance(one, str) else None for name, one in found.items()}


_BARE = frozenset({"store_true", "store_false", "count", "store_const", "append_const",
                   "argparse.BooleanOptionalAction"})  # fmt: skip


def _misuse(parser: _Parser, words: list[Word]) -> tuple[Word | None, str] | None:
    """The word that is refused, None: one is missing; and why."""
    rest, places, seen = list(words), list[Word](), set[int]()
    while rest:
        word = rest.pop(0)
        if word.text == "--":
            places += rest
            break
        if not re.match(r"--?[A-Za-z]", word.text):
            places.append(word)
            continue
        name, equals, _ = word.text.partition("=")
        if name in ("-h", "--help"):
            return None
        settings = _option(parser, name)
        if settings is None:
            return word, f"the program has no option {name}"
        seen.add(id(settings))
        if settings.get("action") in ("version", "help"):
            return None
        if settings.get("action") in _BARE or equals:
            continue
        if not name.startswith("--") and len(name) > 2 and name not in parser.options:
            continue  # -n4
        least, most = _numbers(settings)
        taken: list[Word] = []
        while rest and len(taken) < most and not re.match(r"--?[A-Za-z]", rest[0].text):
            taken.append(rest.pop(0))
        if len(taken) < least:
            return word, f"{name} needs a value"
        for one in taken:
            if (wrong := _wrong(settings, one)) is not None:
                return one, f"{name}: {wrong}"
    return _placed(parser, places) or _lacking(parser, seen)


def _option(parser: _Parser, name: str) -> dict[str, Any] | None:
    if name in parser.options:
        return parser.options[name]
    negated = "--" + name.removeprefix("--no-")
    if name.startswith("--no-") and "Boolean" in str(parser.options.get(negated, {}).get("action")):
        return parser.options[negated]
    if name.startswith("--"):
        longer = [one for one in parser.options if one.startswith(name)]
        return parser.options[longer[0]] if len(longer) == 1 else None
    return parser.options.get(name[:2])


def _numbers(settings: dict[str, Any]) -> tuple[int, float]:
    number = settings.get("nargs")
    if isinstance(number, int):
        return number, number
    known: dict[Any, tuple[int, float]] = {"?": (0, 1), "*": (0, 1e9), "+": (1, 1e9)}
    return known.get(number, (1, 1)) if number is None or number in known else (0, 1e9)


def _wrong(settings: dict[str, Any], word: Word) -> str | None:
    value, kind, choices = word.value, settings.get("type"), settings.get("choices")
    if value is None:
        return None
    form = {
        "int": r"\s*[-+]?[\d_]+\s*",
        "float": r"(?i)\s*[-+]?(?:[\d_.]+(?:e[-+]?\d+)?|inf|nan)\s*",
    }
    if kind in form and not re.fullmatch(form[kind], value):
        return f"{value[:40]!r} is not {'a whole number' if kind == 'int' else 'a number'}"
    if isinstance(choices, list | tuple) and value not in map(str, choices):
        return f"{value[:40]!r} is none of {', '.join(map(str, choices))[:80]}"
    return None


def _placed(parser: _Parser, words: Sequence[Word]) -> tuple[Word | None, str] | None:
    ranges = [_numbers(one) for one in parser.places]
    if len(words) > sum(most for _, most in ranges):
        extra = words[int(sum(most for _, most in ranges))]
        return extra, "an argument more than the program takes"
    least = sum(one for one, _ in ranges)
    if len(words) < least:
        needed = zip(parser.places, ranges, strict=True)
        missing = [one["names"][0] for one, (low, _) in needed if low]
        return None, f"the program needs {missing[len(words) : len(words) + 1] or missing}"
    if all(one == (1, 1) for one in ranges):
        for settings, word in zip(parser.places, words, strict=True):
            if (wrong := _wrong(settings, word)) is not None:
                return word, f"{settings['names'][0]}: {wrong}"
    return None


def _lacking(parser: _Parser, seen: set[int]) -> tuple[None, str] | None:
    for one in parser.options.values():
        if one.get("required") is True and id(one) not in seen:
            return None, f"the program needs {one['names'][0]}"
    return None


def _by_options(
    text: str, language: str | None, words: list[Word]
) -> tuple[Word | None, str] | None:
    """A long option that the program's own list of options lacks, where that ends it."""
    names: list[str] = []
    if language == "perl":
        form = r"GetOptions\s*\((.*?)\)"
        block = re.search(rf"(?s)\b{form}\s*(?:or|\|\|)|unless\s*\(?\s*{form}", text)
        spec = r"[\"']([\w|?-]+)([=:!+][^\"']*)?[\"']\s*=>"
        specs = re.findall(spec, block[0]) if block else []
        names = [f"--{one}" for some, _ in specs for one in some.split("|")]
        names += [
            f"--no{dash}{one}"
            for some, kind in specs if kind == "!" for one in some.split("|") for dash in ("", "-")
        ]  # fmt: skip
        names = [] if "pass_through" in text or "<>" in text else names
    elif language == "bash":
        return _getopts(text, words)
    for word in words if names else ():
        option = word.text.partition("=")[0].lower()
        if option == "--":
            break
        if re.match(r"--[a-z]", option) and not any(n.lower().startswith(option) for n in names):
            return word, f"the program has no option {option}"
    return None


def _getopts(text: str, words: list[Word]) -> tuple[Word | None, str] | None:
    found = re.findall(r"^[^#\n]*\bgetopts\s+[\"']?([\w:]+)", text, re.M)
    rest = list(words)
    while len(found) == 1 and rest and re.match(r"-\w", rest[0].text):
        word = rest.pop(0)
        letter = word.text[1]
        if letter not in found[0]:
            return word, f"the script has no option -{letter}"
        if f"{letter}:" in found[0] and len(word.text) == 2 and rest:
            rest.pop(0)
    return None


_COUNTS = {
    "python": (r"len\(\s*(?:sys\.)?argv\s*\)\s*(!=|<=?|>=?)\s*(\d+)", 1),
    "c": (r"\bargc\s*(!=|<=?|>=?)\s*(\d+)(?!\s*\?)", 1),
    "r": (r"length\(\s*\w*arg\w*\s*\)\s*(!=|<=?|>=?)\s*(\d+)", 0),
    "julia": (r"length\(\s*ARGS\s*\)\s*(!=|<=?|>=?)\s*(\d+)", 0),
    "perl": (r"(?:scalar\s*\(?\s*)?@ARGV\s*\)?\s*(!=|<=?|>=?)\s*(\d+)", 0),
    "fortran": (r"(?i)command_argument_count\(\)\s*(/=|<=?|>=?)\s*(\d+)", 0),
    "bash": (r"(?:\[\[?|test|\(\()\s*\"?\$\{?#\}?\"?\s*(-ne|-lt|-gt|!=|<=?|>=?)\s*(\d+)", 0),
}
_COUNTS["cpp"] = _COUNTS["c"]
_ASKS = re.compile(r"\bargc\b|\bcommand_argument_count\b", re.I)
_STOPS = re.compile(
    r"(?i)\b(?:exit|stop|quit|die|return\s+[1-9-]|raise|usage|error|abort|croak|throw)\b"
)
_OPTIONAL = re.compile(
    r"\$#|\$\{#|\$[@*]|\s-[nzv]\s|\$\{\w+:?[-+=]|\bcase\b|\bshift\b|\bgetopts\b|\bset --"
)
"""What shows that a script or function of the shell may have fewer arguments."""
_FEW = {"!=": 0, "-ne": 0, "/=": 0, "<": 0, "-lt": 0, "<=": 1}
_MANY = {"!=": 0, "-ne": 0, "/=": 0, ">": 0, "-gt": 0, ">=": -1}


@rule("JS336 Another number of arguments than the program wants")
def _counted(job: Job) -> Iterator[Hit]:
    """Where the program compares their number, or needs one (``${2:?}``), and ends."""
    for program, words in _started(job):
        assert program.source is not None
        text = program.source.text
        language = program.language or ""
        if language == "bash":
            text = re.sub(r"(?ms)^(?:function\s+)?\w+\s*\(\)\s*\{.*?^\}", "", text)
            if re.search(r"\bshift\b|\bset --", text):
                continue
            # Each branch of a case takes its own.
            text = re.sub(r"(?ms)^[ \t]*case\b.*?^[ \t]*esac\b", "", text)
        given = len(words)
        form, extra = _COUNTS.get(language, (r"(?!)", 0))
        needed = _needed_by_shell(text) if language == "bash" else _taken(language, text)
        low, high = max(needed, default=0), 1_000_000
        for found in re.finditer(form, text):
            if _STOPS.search(_body(text, found.end())):
                number = int(found[2]) - extra
                if found[1] in _FEW:
                    low = max(low, number + _FEW[found[1]])
                if found[1] in _MANY:
                    high = min(high, number + _MANY[found[1]])
        if low <= high and not low <= given <= high:
            wanted = f"at least {low}" if given < low else f"at most {high}"
            wanted = str(low) if low == high else wanted
            message = f"the program wants {wanted} arguments, {given} are given"
            yield hit(program.command, message)


_TAKES = {
    "r": (r"commandArgs\(\s*(?:trailingOnly\s*=\s*)?T", r"\b\w*arg\w*\[\[?(\d+)\]", 0),
    "julia": (r"", r"\bARGS\[(\d+)\]", 0),
    "perl": (r"", r"\$ARGV\[(\d+)\]", 1),
    "c": (r"", r"\bargv\[(\d+)\]", 0),
}
_TAKES["cpp"] = _TAKES["c"]
_MAY_LACK: dict[str, str] = KNOWN["arguments"]["may_lack"]
"""What shows that a program asks how many arguments there are."""


def _taken(language: str, text: str) -> list[int]:
    """The numbers of the arguments that a program takes without asking whether they are there."""
    first, form, more = _TAKES.get(language, (r"(?!)", "", 0))
    if not re.search(first, text) or re.search(_MAY_LACK.get(language, ""), text):
        return []
    return [int(one) + more for one in re.findall(form, text)]


@lru_cache(256)
def _needed_by_shell(text: str) -> list[int]:
    """The numbers of the arguments that a script or function of the shell cannot do without."""
    needed = re.findall(r"\$\{(\d):?\?", text)
    if re.search(r"^[ \t]*set\s+-\w*u|nounset", text, re.M):
        needed += re.findall(r"\$\{?([1-9])(?!\d|:?[-+=])", text)
    elif not _OPTIONAL.search(text):
        plain = re.sub(r"'[^']*'|<<-?\s*[\"'\\](?s:.*)", "", text)
        needed += re.findall(r"(?<!\\)\$\{?([1-9])(?![\d:#%/-])", plain)
    return [int(one) for one in needed]


def _body(text: str, at: int) -> str:
    """What follows a condition, up to the end of its block or four lines."""
    after = "\n".join(text[at : at + 600].split("\n")[:5])
    return re.split(r"(?m)^[ \t]*(?:fi|end|\}|else\b.*|elif\b.*)\s*$", after)[0]


def _started(job: Job) -> Iterator[tuple[Program, list[Word]]]:
    """Programs with their arguments; compiled ones where they are started."""
    own = Source(job.source.file, job.text)
    if job.arguments is not None and job.language == "bash" and job.commands:
        yield Program(own, "bash", job.commands[0], job.arguments), list(job.arguments)
    yield from _called(job)
    for program in job.walk.programs:
        one, command = program, program.command
        if COMPILERS.fullmatch(command.bare):
            continue
        if program.source is None:
            built = job.compiled.get(id(command), ())
            main = [one for one in built if one.source and _ASKS.search(one.source.text)]
            if not main:
                continue
            one = Program(main[0].source, main[0].language, command, program.arguments)
        words = given_words(one)
        unknown = program.path == job.path and job.arguments is None
        if words is not None and not command.checked and not unknown:
            yield one, words


def _functions(text: str) -> dict[str, str]:
    """The bodies of the functions of the shell, up to a bracket that begins a line."""
    ends = [one.start() for one in re.finditer(r"^[ \t]*\}", text, re.M)]
    bodies: dict[str, str] = {}
    end = 0
    for one in re.finditer(r"^[ \t]*(?:function\s+)?([\w-]+)\s*\(\s*\)\s*\{", text, re.M):
        following = bisect_left(ends, one.end())
        if one.start() >= end and following < len(ends):
            end = ends[following]
            bodies[one[1]] = text[one.end() : end]
    return bodies


def _called(job: Job) -> Iterator[tuple[Program, list[Word]]]:
    """Functions of the shell where they are called."""
    text = "\n".join(one.text for one in job.walk.sources)
    if re.search(r"\btrap\b|\bexport -f\b", text):
        return
    bodies = _functions(text)
    for command in job.commands:
        body = bodies.get(command.name or "")
        if body is None or command.launchers or command.checked:
            continue
        one = Program(Source(command.source.file, body), "bash", command, command.arguments)
        words = given_words(one)
        if words is not None:
            yield one, words
