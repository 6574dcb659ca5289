"""Which store an address means.

``PATH`` or ``sqlite:///PATH`` is a file; ``redis://[user:password@]host[:port][/database]``,
``rediss://…`` (TLS) and ``unix://[user:password@]/path/of/socket[?db=N]`` are servers, as the
redis library writes them.
"""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

from jobsight.errors import UsageError
from jobsight.settings import StoreSettings
from jobsight.store.store import Store

__all__ = ["open_store", "place_of"]

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*(?=://)")


def open_store(
    url: str | None = None, *, settings: StoreSettings | None = None, create: bool = False
) -> Store:
    """Open the store at an address as above; None: the one that the settings name.

    With `create` it is made where there is none yet; else that is an error.

    Raises:
        UsageError: the address cannot be understood.
        StoreUnavailableError: the store cannot be reached now.
        StoreError: there is none, it is damaged or of another schema, or its place is unfit.
    """
    settings = settings or StoreSettings()
    url = settings.url if url is None else url
    scheme = _SCHEME.match(url)
    if scheme is None or scheme[0] == "sqlite":
        from jobsight.store.sqlite import SqliteBackend

        return Store(SqliteBackend(_path_of(url), settings, create=create))
    if scheme[0] not in ("redis", "rediss", "unix"):
        raise UsageError(
            f"no store is addressed by {scheme[0][:20]}://; write a path, sqlite:///PATH, "
            "redis://HOST:PORT/DATABASE, rediss://… or unix:///SOCKET"
        )
    from jobsight.store.redis import RedisBackend

    return Store(RedisBackend(url, settings, create=create))


def place_of(url: str) -> str:
    """What two addresses of the same store have in common: a file's real path, or the address."""
    scheme = _SCHEME.match(url)
    if scheme is None or scheme[0] == "sqlite":
        return str(_path_of(url).resolve())
    return url


def _path_of(url: str) -> Path:
    if not url.startswith("sqlite:"):
        text = url
    elif url.startswith("sqlite:///"):
        text = unquote(url.removeprefix("sqlite://"))
    else:
        raise UsageError(
            "a store's file is addressed by sqlite:/// and its whole path, or by a path"
        )
    if not text.strip() or "\0" in text:
        raise UsageError("the store has no name; give a path, sqlite:///PATH or redis://HOST")
    if text.startswith("//"):  # sqlite:////PATH, as others write it; SQLite takes // for a host
        text = "/" + text.lstrip("/")
    return Path(text).expanduser()
