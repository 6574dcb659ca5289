"""Pseudonyms in place of users' names, for facilitators where the settings say so."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Iterable
from typing import Any

from jobsight.documents import JobDocument, decode, encode

__all__ = ["Pseudonyms"]


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
        """The text without these names, where they are words of it: paths, remarks, fields."""
        found = sorted({one for one in names if one}, key=len, reverse=True)
        if not found:
            return text
        words = "|".join(map(re.escape, found))
        return re.sub(rf"(?<![A-Za-z0-9])(?:{words})(?![A-Za-z0-9])", lambda m: self.of(m[0]), text)

    def in_data(self, data: Any, names: Iterable[str]) -> Any:
        """Plain data without these names."""
        return json.loads(self.in_text(json.dumps(data, ensure_ascii=False), names))

    def in_document(self, document: JobDocument) -> JobDocument:
        """A document without the name of its user."""
        name = document.submission.user
        if not name:
            return document
        return decode(self.in_text(encode(document).decode(), [name]).encode())

    def real(self, pseudonym: str, names: Iterable[str]) -> str | None:
        """Which of these names has that pseudonym; None: none of them."""
        return next((one for one in names if self.of(one) == pseudonym), None)
