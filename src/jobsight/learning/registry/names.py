"""Names of questions and clusters as folder names: whatever they are, none makes another path.

ASCII letters, digits, ``-``, ``_`` and inner dots stay; every other byte of UTF-8 becomes ``%XX``,
as in URLs (RFC 3986, 2.1); a long name is cut and ends in a digest of the whole.
"""

from __future__ import annotations

import hashlib
import string

__all__ = ["folder_name"]

_PLAIN = frozenset((string.ascii_letters + string.digits + "-_.").encode())
_LONGEST = 120
"""Letters of a folder name; file systems allow 255 bytes, some encrypted ones 143."""


def folder_name(name: str) -> str:
    """A folder name for `name`, never empty, hidden or a path; different names get different ones.

    Args:
        name: as a log or a user gave it, e.g. an access point's host name.
    """
    raw = name.encode("utf-8", "surrogatepass")
    text = "".join(chr(one) if one in _PLAIN else f"%{one:02X}" for one in raw)
    if text.startswith("."):
        text = "%2E" + text[1:]
    if not text:
        return "%"
    if len(text) <= _LONGEST:
        return text
    return text[: _LONGEST - 33] + "%" + hashlib.sha256(raw).hexdigest()[:32]
