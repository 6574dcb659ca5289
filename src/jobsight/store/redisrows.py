"""Documents as they lie in a Redis server; `redisscripts` describes their form."""

from __future__ import annotations

from jobsight.errors import StoreError
from jobsight.store.packing import Keys, cluster_of
from jobsight.store.rows import Row

__all__ = ["head", "member", "moment", "row_of"]

_ZERO = 2**63
_NO_USER = 0xFFFF


def moment(time: int) -> str:
    """A time as 16 hexadecimal digits, in whose order times follow each other."""
    return f"{min(max(time + _ZERO, 0), 2 * _ZERO - 1):016x}"


def member(time: int, id_: str) -> str:
    """What an index by time has of a document."""
    return f"{moment(time)}{id_}"


def head(keys: Keys) -> str:
    """What stands before a packed document, without the revision."""
    user = keys.user
    length = _NO_USER if user is None else len(user.encode())
    return f"{moment(keys.time)}{len(keys.state):02x}{length:04x}{keys.state}{user or ''}"


def row_of(id_: str, text: bytes) -> Row:
    """The row of a document as it lies in the server.

    Raises:
        StoreError: it is damaged.
    """
    try:
        revision, time = int(text[:16], 16), int(text[16:32], 16) - _ZERO
        state, length = 38 + int(text[32:34], 16), int(text[34:38], 16)
        user = None if length == _NO_USER else text[state : state + length].decode()
        data = text[state + (0 if user is None else length) :]
        keys = Keys(id_, cluster_of(id_), text[38:state].decode("ascii"), user, time)
    except ValueError:
        raise StoreError(f"the document of {id_[:80]!r} is damaged in its head") from None
    return Row(keys, revision, data)
