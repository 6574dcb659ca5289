"""What library calls do, by their names: ``effects.toml`` and what a site adds to it.

A name is looked up as it is, then without its leading parts, then as a method of anything
(``.read_csv``), then by what it is a part of (``numpy.linalg.*``, ``requests.Session().*``), then
by how it begins (``nf90_get*``).
``name~text`` applies to calls that hold the text, and goes before the plain name; ``open()[]`` is
an element of what ``open`` returned.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from jobsight.errors import SettingsError
from jobsight.program.tree.grammars import LANGUAGES
from jobsight.program.tree.vocabulary import EFFECT_NUMBERS

__all__ = ["Effects", "Names", "effects_of"]

Names = Mapping[str, Mapping[str, str]]
"""Language, then effect, to names parted by blanks."""

_INHERITS = {"cpp": "c", "cuda": "cpp"}
_UNKNOWN = EFFECT_NUMBERS["unknown"]
_KINDS = frozenset(
    EFFECT_NUMBERS[one] for one in ("request", "query", "transfer", "connect", "database", "device")
)
"""Effects that all that a library makes has, whatever its methods are called."""
_COMMON = frozenset(
    EFFECT_NUMBERS[one] for one in ("cheap", "text", "queue", "reduce", "table", "stream", "sort")
)
"""Effects of methods by names that many libraries use, as ``.find`` and ``.get``."""


@cache
def _shipped() -> dict[str, dict[str, str]]:
    """The tables of the file, by language."""
    text = files("jobsight.program.tree").joinpath("effects.toml").read_text("utf-8")
    return tomllib.loads(text)


class Effects:
    """The effects of one language."""

    def __init__(self, language: str, site: Names | None = None) -> None:
        """Read the tables.

        Raises:
            SettingsError: the site's names a language or an effect that there is not.
        """
        self._known: dict[str, int] = {}
        self._special: dict[str, list[tuple[str, int]]] = {}
        self._beginnings: dict[str, int] = {}
        tables = [_shipped().get(language, {})]
        parent = language
        while parent in _INHERITS:
            parent = _INHERITS[parent]
            tables.insert(0, _shipped()[parent])
        if site:
            _check(site)
            tables.append(dict(site.get(language, {})))
        for table in tables:
            for effect, names in table.items():
                self._add(EFFECT_NUMBERS[effect], names)

    def _add(self, effect: int, names: str) -> None:
        for name in names.split():
            plain, _, needle = name.partition("~")
            if needle:
                needles = self._special.setdefault(plain, [])
                needles.append((needle, effect))
                needles.sort(key=lambda one: -len(one[0]))
            elif plain.endswith("*") and not plain.endswith((".*", "**")) and len(plain) > 2:
                self._beginnings[plain[:-1]] = effect
            else:
                self._known[plain] = effect

    def of(self, name: str, text: str, bare: str) -> int:
        """The effect of a call.

        Args:
            name: resolved through imports, parts parted by points; ``().`` after what returned it.
            text: of the call, or its beginning.
            bare: a prefix that names may lack, or "".
        """
        for one in self._ordered(_forms(name, bare), name):
            if one in self._special:
                for needle, effect in self._special[one]:
                    if needle in text:
                        return effect
            if one in self._known:
                return self._known[one]
        last = name.rpartition(".")[2]
        fitting = (one for one in self._beginnings if last.startswith(one))
        return self._beginnings.get(max(fitting, key=len, default=""), _UNKNOWN)

    def _ordered(self, forms: list[str], name: str) -> list[str]:
        """What a name is looked up as; what a library of a kind makes is of its kind.

        A method by any name, as ``.find``, goes behind that, unless it flushes to the disk.
        """
        if "()" not in name:
            return forms
        method = f".{name.rpartition('.')[2]}"
        effect = self._known.get(method, _UNKNOWN)
        if effect == EFFECT_NUMBERS["sync"]:
            return [method, *forms]
        head = name.partition("()")[0]
        tails = (f"{head.rpartition('.')[0]}.*", f"{head.partition('.')[0]}.*")
        kinds = [one for one in tails if self._known.get(one) in _KINDS]
        if effect not in _COMMON or not kinds:
            return forms
        at = next((k for k, one in enumerate(forms) if one == method), len(forms))
        return [*forms[:at], *kinds, *forms[at:]]

    def element(self, name: str) -> int:
        """The effect of taking an element of what a call returned: ``h5py.File()[]``."""
        parts = name.split(".")
        forms = (".".join(parts[at:]) for at in range(len(parts)))
        known = (self._known.get(f"{one}[]") for one in (*forms, f".{parts[-1]}"))
        return next((one for one in known if one is not None), _UNKNOWN)

    def exact(self, name: str) -> int:
        """The effect of that very name, as of ``sqlite3.connect().__exit__``."""
        return self._known.get(name, _UNKNOWN)


def _forms(name: str, bare: str) -> list[str]:
    parts = name.split(".")
    forms = [".".join(parts[at:]) for at in range(len(parts))]
    last = forms.pop() if len(parts) > 1 else None
    if bare and len(parts) == 1:
        forms.append(f"{bare}.{name}")
    elif last is not None and bare == parts[0]:
        forms.append(last)
    tails = [f"{'.'.join(parts[:at])}.*" for at in range(len(parts) - 1, 0, -1)]
    made = tails[:1] if tails and tails[0].endswith("().*") else []
    if made:  # a method of what a call returned: by the call's full name, and by its last part
        made.append(".".join(made[0].split(".")[-2:]))
    method = [f".{last}"] if last else []
    rest = [*tails, *method] if "()" not in name else [*method, *tails]
    return [*forms, *made, *rest]


def _check(site: Names) -> None:
    for language, table in site.items():
        if language not in LANGUAGES:
            raise SettingsError(f"no trees of {language}; there are {', '.join(LANGUAGES)}")
        for effect in table:
            if effect not in EFFECT_NUMBERS:
                raise SettingsError(f"no effect {effect}; there are {', '.join(EFFECT_NUMBERS)}")


@cache
def _shipped_effects(language: str) -> Effects:
    return Effects(language)


def effects_of(language: str, site: Names | None = None) -> Effects:
    """The effects of a language, with what a site adds."""
    return Effects(language, site) if site else _shipped_effects(language)
