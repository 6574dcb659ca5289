"""The Redis or Valkey server under a store: reached, checked, and every fault one error.

A server may hold job documents only if it keeps them: it must write an append-only file, must not
evict, and must be no replica. Errors never show an address's password: nothing that the library
says of an address is passed on.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from jobsight.errors import StoreError, StoreUnavailableError, UsageError
from jobsight.runtime import install_command
from jobsight.settings import StoreSettings
from jobsight.store.packing import require_schema
from jobsight.text import printable

__all__ = ["PASSWORD", "RedisServer", "without_secrets"]

PASSWORD = "JOBSIGHT_STORE_PASSWORD"  # noqa: S105  # the name of a variable
"""Environment variable with the server's password."""

_LEAST_VERSION = (6, 2)
_PARAMETERS = ("db", "username", "password")
_CONNECT_S = 5.0
_IDLE_S = 30
_FIRST_PAUSE_S = 0.002
_LONGEST_PAUSE_S = 0.1
_REPLICA = "it is a replica, which cannot be written; name its primary"
_CLUSTER = "it is part of a Redis Cluster, which shares keys out; name a single server"
_NOT_WRITTEN = "it cannot write its append-only file; free some space on its disk, look at its log"
_SLOW = (
    "its disk is too slow: what it was given is not in its append-only file yet; look at the load "
    "of the disk, or give it longer (store.busy_timeout_s)"
)
_MAY_PASS = (
    (r"\bMISCONF\b", _NOT_WRITTEN),
    (
        r"OutOfMemoryError|\bOOM\b",
        "its memory is full (maxmemory); give it more, or move old jobs to the archive "
        "(jobsight store prune). Nothing of this was stored",
    ),
    (
        r"BusyLoading|MasterDown|ClusterDown|\bBUSY\b|\bNOREPLICAS\b",
        "the server says: {error}; try again",
    ),
)
_REFUSALS = (
    (
        r"NOAUTH|[Aa]uthentication required",
        f"it wants a password; give it in {PASSWORD} or in the file store.password_file",
    ),
    (
        "Authentication",
        f"it refused user name and password; correct {PASSWORD} or store.password_file",
    ),
    (
        r"NoPermissionError|\bNOPERM\b|ACL failure in script|The user executing the script can't",
        "its ACL forbids a command that the store needs: {error}",
    ),
    (r"ReadOnlyError|\bREADONLY\b", _REPLICA),
    (
        r"\bWRONGTYPE\b",
        "keys of this prefix belong to another program; choose another store.prefix",
    ),
    (r"MovedError|CrossSlot|\bMOVED\b|\bCROSSSLOT\b", _CLUSTER),
)
"""Signs in the class or the text of an error, and what they mean; `_MAY_PASS` too."""
_LOST = (
    ("refused", "the connection was refused"),
    ("timed out|timeout", "it did not answer in time"),
    ("certificate", "its certificate cannot be verified (ssl_ca_certs names your CA)"),
    ("name or service", "its host is unknown"),
    ("no such file", "its socket is not there"),
    ("closed|reset", "the connection was lost"),
)


def without_secrets(url: str) -> str:
    """An address without user, password and parameters; fit to be shown."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return f"{url.partition(':')[0]}://…"
    if "@" in parts.path:
        # A password that was not percent-encoded ends in what looks like the path.
        return f"{parts.scheme}://…"
    host = f"[{host}]" if ":" in host else host
    return printable(f"{parts.scheme}://{host}{port}{parts.path}")


def _password(settings: StoreSettings) -> str | None:
    if os.environ.get(PASSWORD):
        return os.environ[PASSWORD]
    if settings.password_file is None:
        return None
    path = Path(settings.password_file).expanduser()
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode) or mode & 0o077:
            raise StoreError(f"{path} must be a file that its owner alone can read: chmod 600 it")
        with path.open(encoding="utf-8") as file:
            return file.readline(4096).rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise StoreError(f"cannot read the store's password from {path}: {reason}") from None


class RedisServer:
    """A server and this process's connections to it; safe to be used by several threads.

    Attributes:
        url: its address, fit to be shown.
        client: of the redis library; its answers are bytes.
        facts: what the server reports of itself.

    Raises:
        UsageError: the address cannot be understood.
        StoreError: the redis package is not installed, or the password cannot be read.
    """

    def __init__(self, url: str, settings: StoreSettings) -> None:
        try:
            import redis
            from redis.backoff import NoBackoff
            from redis.retry import Retry
        except ImportError:
            raise StoreError(
                f"a redis:// store needs the redis package: {install_command('redis')}"
            ) from None
        self.url = without_secrets(url)
        self.facts: dict[str, str] = {}
        self._closed = False
        self._patience_s = settings.busy_timeout_s
        secret = {} if (password := _password(settings)) is None else {"password": password}
        try:
            for name, _ in parse_qsl(urlsplit(url).query, keep_blank_values=True):
                if name not in _PARAMETERS and not name.startswith("ssl_"):
                    raise ValueError("other parameters may be a part of a password")
            self.client: Any = redis.Redis.from_url(
                url,
                socket_timeout=settings.busy_timeout_s,
                socket_connect_timeout=min(_CONNECT_S, settings.busy_timeout_s),
                health_check_interval=_IDLE_S,
                # A put that was answered by silence may have been stored: only the caller knows
                # how to go on.
                retry=Retry(NoBackoff(), 0),
                client_name="jobsight",
                **secret,
            )
            pool = self.client.connection_pool
            # What the parameters say is only looked at when a connection is made.
            pool.connection_class(**pool.connection_kwargs)
        except (ValueError, TypeError, redis.RedisError):
            # What the library says may show the password.
            raise UsageError(
                "the store's address cannot be understood; write redis://HOST:PORT/DATABASE, "
                f"with no parameters but {', '.join(_PARAMETERS)} and TLS's (ssl_ca_certs=…); "
                f"percent-encode what is special in a password, or give it in {PASSWORD}"
            ) from None

    @contextlib.contextmanager
    def explained(self) -> Iterator[None]:
        """Whatever the server or the library says becomes one `StoreError`.

        Raises:
            StoreUnavailableError: trying again may help.
            StoreError: it does not.
        """
        import redis

        if self._closed:
            raise StoreError(f"the store {self.url} was closed")
        try:
            yield
        except (redis.RedisError, OSError) as error:
            text = f"{' '.join(kind.__name__ for kind in type(error).__mro__)}: {error}"
            shown = printable(error, 160)
            for kind, table in ((StoreUnavailableError, _MAY_PASS), (StoreError, _REFUSALS)):
                for sign, words in table:
                    if re.search(sign, text):
                        reason = words.format(error=shown)
                        raise kind(f"the store {self.url}: {reason}") from None
            if not isinstance(error, redis.ConnectionError | redis.TimeoutError | OSError):
                raise StoreError(f"the store {self.url}: the server says: {shown}") from None
            signs = (words for sign, words in _LOST if re.search(sign, str(error).lower()))
            raise StoreUnavailableError(
                f"the store {self.url} cannot be reached: {next(signs, type(error).__name__)}; "
                "check that the server runs and that its address is right"
            ) from None
        except UnicodeEncodeError:
            raise StoreError("a name that was asked for is not valid Unicode") from None

    def call(self, script: str, *args: str | bytes | int) -> list[Any]:
        """Run a script of `jobsight.store.redis` with its arguments; its reply.

        Raises:
            StoreUnavailableError, StoreError: as by `explained`, or the server no longer has the
                store, or has it in another schema.
        """
        with self.explained():
            reply: list[Any] = self.client.register_script(script)(args=args)
        if reply[0] == b"schema":
            if reply[1]:
                require_schema(self.url, reply[1].decode(errors="replace"))
            raise StoreError(
                f"the store {self.url} is gone: the server was emptied, or started with "
                "other files; restore its append-only file"
            )
        return reply

    def require_fit(self) -> None:
        """Check that the server is one that keeps what it is given.

        Raises:
            StoreUnavailableError: it cannot be reached now.
            StoreError: it does not keep things; says what to set.
        """
        import redis

        with self.explained():
            info: dict[str, Any] = {}
            for section in ("server", "persistence", "memory", "replication", "cluster"):
                info |= self.client.info(section)  # one a call, as older servers want it
            try:
                fsync = next(iter(self.client.config_get("appendfsync").values()), "unknown")
            except redis.ResponseError:  # its ACL or its host forbid to ask
                fsync = "unknown"
            self.facts = {
                "server": f"{info.get('server_name', 'redis')} "
                f"{info.get('valkey_version', info.get('redis_version'))}",
                "appendonly": "yes" if str(info.get("aof_enabled")) == "1" else "no",
                "appendfsync": fsync.decode() if isinstance(fsync, bytes) else fsync,
                "maxmemory_policy": str(info.get("maxmemory_policy", "unknown")),
            }
        version = tuple(int(part) for part in re.findall(r"\d+", str(info["redis_version"]))[:2])
        if version < _LEAST_VERSION:
            raise StoreError(
                f"{self.url} runs {info['redis_version']}; the store needs 6.2 or later"
            )
        if info.get("role") not in (None, "master"):
            raise StoreError(f"the store {self.url}: {_REPLICA}")
        if str(info.get("cluster_enabled", 0)) == "1":
            raise StoreError(f"the store {self.url}: {_CLUSTER}")
        if self.facts["appendonly"] != "yes":
            raise StoreError(
                f"{self.url} keeps no append-only file and would forget jobs; set appendonly yes "
                "in its configuration file (and once: CONFIG SET appendonly yes)"
            )
        if self.facts["maxmemory_policy"].startswith("allkeys"):
            raise StoreError(
                f"{self.url} evicts keys when its memory is full (maxmemory-policy "
                f"{self.facts['maxmemory_policy']}) and would lose jobs; set noeviction"
            )

    def require_written(self) -> None:
        """Wait until the server has appended all that it was given: then no kill takes it back.

        With ``appendfsync everysec`` it answers first. What comes during an fsync waits in its
        memory for up to two seconds (``aof_buffer_length``), and of a write that failed (a full
        disk) it reports only at the next one.

        Raises:
            StoreUnavailableError: it could not append, or not in time; what it was given is lost
                if it ends now.
        """
        patience = time.monotonic() + self._patience_s
        pause = _FIRST_PAUSE_S
        while True:
            with self.explained():
                info = self.client.info("persistence")
            if info.get("aof_last_write_status") != "ok":
                raise StoreUnavailableError(f"the store {self.url}: {_NOT_WRITTEN}")
            if not info.get("aof_buffer_length"):
                return
            if time.monotonic() > patience:
                raise StoreUnavailableError(f"the store {self.url}: {_SLOW}")
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_S)

    def memory(self) -> int:
        """Bytes of memory that the server uses."""
        with self.explained():
            return int(self.client.info("memory")["used_memory"])

    def sizes(self, keys: Sequence[str]) -> list[int]:
        """Numbers of members of sorted sets."""
        with self.explained():
            pipeline = self.client.pipeline(transaction=False)
            for key in keys:
                pipeline.zcard(key)
            numbers: list[int] = pipeline.execute()
        return numbers

    def close(self) -> None:
        """Close all connections; may be called twice."""
        self._closed = True
        self.client.connection_pool.disconnect()
