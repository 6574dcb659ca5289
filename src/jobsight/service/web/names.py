"""Pseudonyms in place of users' names, for facilitators where the settings say so."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable
from typing import Any

import msgspec

from jobsight.documents import JobDocument, to_json

__all__ = ["Pseudonyms"]

_KEPT = frozenset((
    "cluster", "id", "job", "kind", "members", "model", "place", "question", "scheduler", "schema",
    "state", "verb",
))  # fmt: skip
"""Fields that name something else than a user; pages and programs go by them."""


class Pseudonyms:
    """Names of users made unrecognizable; the same name becomes the same pseudonym.

    Args:
        key: secret of this site.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key

    def of(self, name: str) -> str:
        """The pseudonym of a name."""
        return f"user-{hmac.new(self._key, name.encode(), hashlib.sha256).hexdigest()[:8]}"

    def in_text(self, text: str, names: Iterable[str]) -> str:
        """The text without these names, where they are words of it: paths, remarks, fields.

        Also without what a name has before an ``@`` and behind a backslash.
        """
        known = {form: name for name in names if name for form in _forms(name)}
        if not known:
            return text
        words = "|".join(map(re.escape, sorted(known, key=len, reverse=True)))
        return re.sub(
            rf"(?<![A-Za-z0-9])(?:{words})(?![A-Za-z0-9])", lambda m: self.of(known[m[0]]), text
        )

    def in_data(self, data: Any, names: Iterable[str]) -> Any:
        """Plain data without these names in its texts.

        Keys, ids and words of Jobsight's own stay: a user may have the name of one.
        """
        known = list(names)
        if isinstance(data, str):
            return self.in_text(data, known)
        if isinstance(data, list | tuple):
            return [self.in_data(one, known) for one in data]
        if isinstance(data, dict):
            return {
                key: one if key in _KEPT else self.in_data(one, known) for key, one in data.items()
            }
        return data

    def in_document(self, document: JobDocument) -> JobDocument:
        """A document without the name of its user."""
        name = document.submission.user
        if not name:
            return document
        return msgspec.convert(self.in_data(to_json(document), [name]), JobDocument)

    def real(self, pseudonym: str, names: Iterable[str]) -> str | None:
        """Which of these names has that pseudonym; None: none of them."""
        return next((one for one in names if self.of(one) == pseudonym), None)


def _forms(name: str) -> set[str]:
    """How a user's name is written: as it is, in a JSON text, without its domain."""
    short = name.rpartition("\\")[2].partition("@")[0]
    return {name, name.replace("\\", "\\\\"), short} - {""}
