"""Tokens: the service's own, of which only hashes are stored, and Slurm's (JSON Web Tokens).

The file of tokens is JSON of mode 0600. A token is ``jobsight_<id>_<secret>``; the secret has 256
random bits, so its SHA-256 suffices. Slurm's tokens are signed with the cluster's key (HS256) and
name the user as ``sun`` (https://slurm.schedmd.com/jwt.html).
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import re
import secrets
import stat
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec

from jobsight.clock import now_micros
from jobsight.errors import SettingsError, UsageError
from jobsight.files import read_json, write_json
from jobsight.modes import make_folder
from jobsight.settings import ServeSettings
from jobsight.settings.gathering import data_folder
from jobsight.text import printable

__all__ = ["Caller", "Role", "Token", "Tokens", "tokens_path"]

Role = Literal["user", "facilitator", "admin"]


@dataclass(frozen=True)
class Caller:
    """Who asks.

    Attributes:
        name: as schedulers name owners.
        role: a user sees jobs of that name; facilitators and admins all, admins also what concerns
            the service itself.
    """

    name: str
    role: Role

    @property
    def only(self) -> str | None:
        """The user whose jobs alone may be seen; None: those of all."""
        return self.name if self.role == "user" else None

    def sees(self, owner: str | None) -> bool:
        """Whether jobs of an owner may be seen; those without one by facilitators and admins."""
        return self.only is None or owner == self.name


_FORM = re.compile(r"jobsight_([0-9a-f]{8})_([A-Za-z0-9_\-]{43})", re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@\-]{0,63}\$?", re.ASCII)
_LONGEST_JWT = 8192
_LEAST_KEY = 32
"""Bytes of an HS256 key (RFC 7518, 3.2)."""


class Token(msgspec.Struct, frozen=True):
    """A token of the service's own; `hash` of its secret, `expires` and `made` µs since 1970."""

    id: str
    name: str
    role: Role
    hash: str
    made: int
    expires: int | None = None

    @property
    def expired(self) -> bool:
        """Whether it is no longer valid."""
        return self.expires is not None and self.expires <= now_micros()


def tokens_path(settings: ServeSettings) -> Path:
    """The file of tokens."""
    return (settings.tokens or data_folder() / "tokens.json").expanduser()


class Tokens:
    """The tokens that are accepted; may be asked from any thread.

    Raises:
        SettingsError: a file of secrets is open to others, or cannot be read.
    """

    def __init__(self, settings: ServeSettings) -> None:
        self._path = tokens_path(settings)
        self._facilitators = frozenset(settings.facilitators)
        self._lock = threading.Lock()
        self._stamp: tuple[int, ...] = ()
        self._tokens: dict[str, Token] = {}
        self.pseudonym_key = b""
        self._slurm_key = b""
        if settings.slurm_jwt_key is not None:
            self._slurm_key = _secret(settings.slurm_jwt_key.expanduser())
            if len(self._slurm_key) < _LEAST_KEY:
                raise SettingsError(f"{settings.slurm_jwt_key} has fewer than {_LEAST_KEY} bytes")
        self._read()

    def caller(self, text: str) -> Caller | None:
        """Whom a token names; None: it is not valid, or not any more."""
        if parts := _FORM.fullmatch(text):
            with self._lock:
                self._read()
                token = self._tokens.get(parts[1])
            given = _hash(parts[2])
            if token is None or not hmac.compare_digest(token.hash, given) or token.expired:
                return None
            return Caller(token.name, token.role)
        if not self._slurm_key or len(text) > _LONGEST_JWT:
            return None
        import jwt  # takes longer to import than all the rest of a command

        try:
            claims = jwt.decode(
                text, self._slurm_key, algorithms=["HS256"], options={"require": ["exp", "sun"]}
            )
        except (jwt.InvalidTokenError, ValueError, RecursionError):
            return None
        name = claims["sun"]
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            return None
        return Caller(name, "facilitator" if name in self._facilitators else "user")

    def list(self) -> Sequence[Token]:
        """The service's own tokens, oldest first."""
        return sorted(self._tokens.values(), key=lambda one: one.made)

    def add(self, name: str, role: Role, days: float | None) -> str:
        """Make a token for a user; it is shown this once; `UsageError`: no user is named so."""
        if not _NAME.fullmatch(name):
            raise UsageError(f"{printable(name, 40)!r} is not the name of a user")
        secret, made = secrets.token_urlsafe(32), now_micros()
        expires = None if days is None else made + int(days * 86_400e6)
        token = Token(secrets.token_hex(4), name, role, _hash(secret), made, expires)
        self._write({**self._tokens, token.id: token})
        return f"jobsight_{token.id}_{secret}"

    def remove(self, id_: str) -> None:
        """Make a token invalid; `UsageError`: there is none with that id."""
        if id_ not in self._tokens:
            raise UsageError(f"there is no token {printable(id_, 20)}; `jobsight token list`")
        self._write({key: one for key, one in self._tokens.items() if key != id_})

    def _write(self, tokens: dict[str, Token]) -> None:
        make_folder(self._path.parent)
        key = self.pseudonym_key or secrets.token_bytes(32)
        content = {
            "schema": "jobsight.tokens/1",
            "pseudonyms": base64.b64encode(key).decode(),
            "tokens": [msgspec.to_builtins(one) for one in tokens.values()],
        }
        write_json(self._path, content)
        self._path.chmod(0o600)
        self._read()

    def _read(self) -> None:
        try:
            found = self._path.stat()
        except OSError:
            self._tokens, self._stamp = {}, ()
            return
        stamp = (found.st_mtime_ns, found.st_size, found.st_ino)
        if stamp == self._stamp:
            return
        _secret(self._path)
        try:
            content: dict[str, Any] = read_json(self._path, dict)
            tokens = msgspec.convert(content["tokens"], list[Token])
            self.pseudonym_key = base64.b64decode(content["pseudonyms"])
        except (OSError, LookupError, ValueError, msgspec.ValidationError) as error:
            raise SettingsError(f"{self._path} is not a file of tokens: {error}") from None
        self._tokens, self._stamp = {one.id: one for one in tokens}, stamp


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _secret(path: Path) -> bytes:
    """The content of a file that none but its owner may read."""
    try:
        found = path.stat()
        if stat.S_IMODE(found.st_mode) & 0o077 or found.st_uid not in (0, os.getuid()):
            raise SettingsError(f"{path} holds secrets; run: chmod 600 {path}")
        return path.read_bytes()
    except OSError as error:
        raise SettingsError(f"cannot read {path}: {error.strerror or error}") from None
