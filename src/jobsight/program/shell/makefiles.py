"""What ``make`` runs: the recipes of its targets, as far as a Makefile says them by itself.

Variables, rules, rules with one ``%``, ``$@ $< $^ $*`` and ``$(NAME:.c=.o)`` are known (POSIX
make, and what GNU make adds of these). Where functions, conditions or included files have a say in
what is run, that is not known.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from jobsight.program.machine import Machine
from jobsight.program.shell.model import Command, Source, Word

__all__ = ["MakeCall", "Makefile", "Recipe", "Rule", "make_call", "read_makefile"]

_MOST_RECIPES, _ROUNDS = 30, 5
_MORE_RULES = re.compile(r"^[-s]?include\b|^define\b|^\.DEFAULT|^\.RECIPEPREFIX|\$[({]eval\b", re.M)
"""What may add rules."""
_CHANGES = re.compile(
    r"^ *ifn?(?:eq|def)\b|^export\b|^vpath\b|^VPATH\b|^\.ONESHELL|^[^\s#=:]+:\s*\w+\s*[:?+]?=", re.M
)
"""What may change what they run."""
_GIVEN = {"MAKE": "make", "RM": "rm -f", "CC": "cc", "CXX": "g++", "FC": "f77"}
_VARIABLE = re.compile(
    r"\$(?:\$|[({](?P<name>\w+|[@<^*])(?::(?P<old>[^=\s)}$]+)=(?P<new>[^\s)}$]*))?[)}]"
    r"|(?P<letter>[@<^*\w]))"
)


class MakeCall(NamedTuple):
    """What a call of make says: ``-C``, ``-f``, variables, targets."""

    folder: Word | None
    file: Word | None
    values: dict[str, str]
    targets: list[Word]

    def found(
        self, folder: str, made: Mapping[str, Source], machine: Machine
    ) -> tuple[str, Source | None]:
        """The path of its Makefile in a folder, and its text; None: there is none."""
        names = ["GNUmakefile", "makefile", "Makefile"]
        if self.file is not None:
            names = [self.file.value or "\0"]
        paths = [machine.resolve(os.path.normpath(f"{folder}/{one}")) for one in names]
        for path in paths:
            text = None if path in made else machine.text(path)
            if text is not None:
                return path, Source(os.path.relpath(machine.real(path)), text, folder=folder)
            if path in made:
                return path, made[path]
        return paths[-1], None


def make_call(command: Command) -> MakeCall:
    """What the words of a call of make say."""
    words, given, values, targets = list(command.arguments), dict[str, Word](), {}, list[Word]()
    while words:
        word = words.pop(0)
        if re.fullmatch(r"-[CfIo]", word.text):
            given[word.text] = words.pop(0) if words else word
        elif re.match(r"-[Cf].", word.text):
            given[word.text[:2]] = word._replace(value=word.text[2:])
        elif word.text == "-j" and words and (words[0].value or "1").isdecimal():
            words.pop(0)
        elif "=" in word.text and not word.text.startswith("-"):
            name, _, value = (word.value or word.text).partition("=")
            values[name] = value
        elif not word.text.startswith("-"):
            targets.append(word)
    return MakeCall(given.get("-C"), given.get("-f"), values, targets)


class Rule(NamedTuple):
    """Targets, what they need, their recipe with the numbers of its lines; that of the targets."""

    targets: tuple[str, ...]
    needs: tuple[str, ...]
    recipe: tuple[tuple[int, str], ...]
    line: int


class Recipe(NamedTuple):
    """What is run for a target: a shell text whose lines are those of the Makefile."""

    target: str
    text: str


class _UnknownError(Exception):
    """What is run is not known."""


@dataclass
class Makefile:
    """The rules of a Makefile.

    Attributes:
        rules: in their order.
        values: of its variables.
        whole: whether all its rules are known.
        sure: whether it is known what they run.
    """

    rules: list[Rule] = field(default_factory=list)
    values: dict[str, str] = field(default_factory=dict)
    whole: bool = True
    sure: bool = True

    @property
    def targets(self) -> list[str]:
        """All that the rules name on their left, in order."""
        return [one for rule in self.rules for one in rule.targets]

    @property
    def default(self) -> list[str]:
        """The targets of a call that names none."""
        return [one for one in self.targets if not re.match(r"\.\w+$|.*%", one)][:1]

    def makes(self, target: str, exists: Callable[[str], bool]) -> bool:
        """Whether there is a rule for a target, with `exists` for files that are there."""
        return target in self.targets or self._rule_of(target, exists)[0] is not None

    def recipes(self, targets: Iterable[str], exists: Callable[[str], bool]) -> list[Recipe] | None:
        """The recipes for targets and all that they need, in order; None: they are not known."""
        found: dict[str, Recipe | None] = {}
        try:
            for one in targets:
                self._add(one, found, exists)
        except _UnknownError:
            return None
        return [one for one in found.values() if one is not None]

    def _add(
        self, target: str, found: dict[str, Recipe | None], exists: Callable[[str], bool]
    ) -> None:
        if target in found:
            return
        if not (self.whole and self.sure) or len(found) > _MOST_RECIPES:
            raise _UnknownError
        found[target] = None
        rule, stem = self._rule_of(target, exists)
        if rule is None and target.endswith(".o"):
            raise _UnknownError  # make has rules of its own
        needs = [one for other in self.rules if target in other.targets for one in other.needs]
        needs += [one.replace("%", stem) for one in rule.needs] if rule and stem else []
        for one in needs:
            self._add(one, found, exists)
        if rule is not None:
            own = {"@": target, "<": next(iter(needs), ""), "^": " ".join(needs), "*": stem}
            del found[target]  # it comes behind what it needs
            found[target] = Recipe(target, _script(rule, {**self.values, **own}))

    def _rule_of(self, target: str, exists: Callable[[str], bool]) -> tuple[Rule | None, str]:
        """The rule with the recipe, and what its ``%`` stands for.

        One with a ``%`` is for a target only if what it needs is there, or has a rule (POSIX make,
        Inference Rules; GNU make, Implicit Rule Search).
        """
        for rule in self.rules:
            if target in rule.targets and rule.recipe:
                return rule, ""
        for rule in self.rules:
            stem = _stem(rule.targets[0], target) if rule.recipe else ""
            needs = [one.replace("%", stem) for one in rule.needs]
            if stem and all(one in self.targets or exists(one) for one in needs):
                return rule, stem
        return None, ""


def _stem(form: str, name: str) -> str:
    """What the ``%`` of a form stands for in a name; empty: the name is not of this form."""
    front, sign, end = form.partition("%")
    found = re.fullmatch(f"{re.escape(front)}(.+){re.escape(end)}", name) if sign else None
    return found[1] if found else ""


def _script(rule: Rule, values: Mapping[str, str]) -> str:
    """Each line in a shell of its own; its failure ends all, unless the line begins with ``-``."""
    lines: list[str] = []
    for number, line in rule.recipe:
        marks, body = re.fullmatch(r"([-@+ \t]*)(.*)", line, re.S).groups()  # type: ignore[union-attr]
        body = _filled(body, values)
        if "$(" in body.replace("$$", ""):
            raise _UnknownError
        body = body.replace("$$", "$")
        lines += [""] * (number - 1 - len(lines))
        lines += f"({body}{') || true' if '-' in marks else ')'}".split("\n") if body else [""]
    return "\n".join(lines)


def read_makefile(text: str, given: Mapping[str, str]) -> Makefile:
    """Read a Makefile.

    Args:
        text: its own.
        given: variables of the call, which win over those of the file.
    """
    found = Makefile(values={**_GIVEN, **given})
    found.whole, found.sure = _MORE_RULES.search(text) is None, _CHANGES.search(text) is None
    for number, line in _logical(text):
        if line.startswith("\t"):
            if found.rules:
                last = found.rules[-1]
                found.rules[-1] = last._replace(recipe=(*last.recipe, (number, line[1:])))
            continue
        plain = re.sub(r"\\\n\s*", " ", line).partition("#")[0].strip()
        named = re.fullmatch(r"(\w+)\s*([+?:]*)=\s*(.*)", plain)
        head = re.fullmatch(r"([^:=]+?)\s*::?(?!=)\s*([^;]*)(?:;(.*))?", plain)
        if named and named[1] not in given:
            before = found.values.get(named[1])
            value = f"{before or ''} {named[3]}" if "+" in named[2] else named[3]
            if named[2] != "?" or before is None or named[1] in _GIVEN:
                found.values[named[1]] = value.strip()
        elif head:
            parts = head.groups()[:2]
            targets, needs = (tuple(_filled(one, found.values).split()) for one in parts)
            recipe = ((number, head[3].strip()),) if head[3] else ()
            found.rules.append(Rule(targets, tuple(n for n in needs if n != "|"), recipe, number))
            found.whole = found.whole and bool(targets) and "$" not in f"{targets}{needs}"
    return found


def _logical(text: str) -> list[tuple[int, str]]:
    """Lines with their numbers; one that ends in a backslash goes on."""
    found: list[tuple[int, str]] = []
    goes_on = False
    for number, line in enumerate(text.split("\n"), 1):
        if goes_on:
            found[-1] = (found[-1][0], f"{found[-1][1]}\n{line}")
        elif line.strip():
            found.append((number, line))
        goes_on = line.endswith("\\")
    return found


def _filled(text: str, values: Mapping[str, str]) -> str:
    """A text with the values of variables; one without is left to the shell's environment."""

    def value(found: re.Match[str]) -> str:
        name = found["name"] or found["letter"]
        if name is None:
            return found[0]
        if name not in values:
            return f"$${{{name}-}}"
        old, new, known = found["old"], found["new"], values[name]
        if old is None:
            return known
        old, new = (old, new) if "%" in old else (f"%{old}", f"%{new}")
        stems = ((word, _stem(old, word)) for word in known.split())
        return " ".join(new.replace("%", stem, 1) if stem else word for word, stem in stems)

    for _ in range(_ROUNDS):
        text = _VARIABLE.sub(value, text)
    return text
