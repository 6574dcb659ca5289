"""Records of ``Key=value`` pairs, as ``scontrol show`` prints them, and its configuration.

Values may hold blanks, and what users name may hold anything, even what looks like other keys. So a
key that occurs twice in a record is left out. Format: scontrol(1).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

__all__ = ["shown_config", "shown_fields", "shown_records"]

_KEY = re.compile(r"(?:^|(?<=\s))([A-Z][A-Za-z0-9/:_]{1,40})=", re.ASCII)
_CONFIG = re.compile(r"\s*([\w/()\[\]]{1,80})\s*=\s?(.*)", re.ASCII)


def shown_fields(text: str) -> dict[str, str]:
    """The pairs of one record; a key that occurs more than once is left out."""
    found: dict[str, str] = {}
    doubled: set[str] = set()
    keys = list(_KEY.finditer(text))
    for at, key in enumerate(keys):
        stop = keys[at + 1].start() if at + 1 < len(keys) else len(text)
        name = key[1]
        if name in found:
            doubled.add(name)
        found[name] = text[key.end() : stop].strip()
    return {name: value for name, value in found.items() if name not in doubled}


def shown_records(text: str, first: str) -> Iterator[dict[str, str]]:
    """The records whose lines begin with a key, of one line each or of several."""
    starts = [found.start() for found in re.finditer(rf"^{first}=", text, re.MULTILINE)]
    for start, stop in itertools.pairwise([*starts, len(text)]):
        fields = shown_fields(text[start:stop])
        if fields.get(first):
            yield fields


def shown_config(text: str) -> dict[str, str]:
    """The lines of ``scontrol show config``, keys in lower case; the first of each counts."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        if pair := _CONFIG.fullmatch(line):
            found.setdefault(pair[1].lower(), pair[2].strip())
    return found
