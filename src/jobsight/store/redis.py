"""Job documents in a Redis or Valkey server: for several collectors and one service.

*Atomic.* A put is one script in the server: it checks all revisions and positions first and then
writes all or nothing; so it has a limit (`most_documents`, `most_bytes`), which also bounds how
long the server answers no other client.

*Durability.* The server writes each script to its append-only file as one transaction; what
``appendfsync everysec`` may lose with the power are whole transactions from the end, so documents
and positions go together. A kill of the server's process takes nothing back that was put: each put
waits until the server has appended it, which with a busy disk comes after its answer.

*Cost.* No command looks at more keys than the page it is asked for. `redisscripts` has the layout.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from jobsight.documents import JSON, State
from jobsight.errors import ConflictError, StoreError
from jobsight.settings import StoreSettings
from jobsight.store.archive import Archive
from jobsight.store.base import Move, Put, Store
from jobsight.store.merging import prepare
from jobsight.store.packing import ACTIVE, SCHEMA, Keys, require_schema
from jobsight.store.parts import Part
from jobsight.store.pruning import OVERTAKEN
from jobsight.store.redisscripts import PAGE, PUT, RETIRE, head, member, moment, row_of
from jobsight.store.redisserver import RedisServer
from jobsight.store.rows import Order, Query, Row
from jobsight.store.views import ArchiveGrewError, View

__all__ = ["RedisStore"]

_LOOKS = 2000
_PAGE_BYTES = 16 << 20
_CHUNK = 200


class RedisStore(Store):
    """A store in a server.

    Args:
        url: its address, see `jobsight.store.opening`.
        settings: of the store; the archive has no folder unless they name one.
        create: begin a store where the prefix has none.

    Raises:
        UsageError: the address cannot be understood.
        StoreUnavailableError, StoreError: as by `jobsight.store.open_store`.
    """

    backend = "redis"

    def __init__(
        self, url: str, settings: StoreSettings | None = None, *, create: bool = False
    ) -> None:
        settings = settings or StoreSettings()
        self._server = RedisServer(url, settings)
        self._prefix = f"{{{settings.prefix}}}"
        self.url = self._server.url
        self.archive = Archive(Path(settings.archive).expanduser()) if settings.archive else None
        try:
            self._server.require_fit()
            self._require_ours(create)
        except BaseException:
            self.close()
            raise

    def _require_ours(self, create: bool) -> None:
        meta = f"{self._prefix}:meta"
        with self._server.explained():
            if create:
                self._server.client.hsetnx(meta, "identity", secrets.randbits(63))
                if self._server.client.hsetnx(meta, "schema", SCHEMA):
                    self._server.require_written()
            schema = self._server.client.hget(meta, "schema")
        if schema is None:
            raise StoreError(
                f"there is no store of prefix {self._prefix[1:-1]!r} at {self.url}; `jobsight "
                "collect` and `jobsight import` make one"
            )
        require_schema(self.url, schema.decode(errors="replace"))

    def _call(self, script: str, *args: str | bytes | int) -> list[Any]:
        return self._server.call(script, self._prefix, SCHEMA, *args)

    def put(
        self, puts: Sequence[Put], moves: Sequence[Move] = (), *, generation: int | None = None
    ) -> None:
        """Store documents and positions in one step; see `Store.put`."""
        packed, texts = prepare(self, puts, moves)
        args: list[str | bytes] = []
        for put, (keys, data) in zip(puts, packed, strict=True):
            based_on = "" if put.based_on is None else f"{put.based_on:016x}"
            args += (keys.id, based_on, head(keys), data)
        for source, old, new in texts:
            args += (source, old or "", new)
        known = "" if generation is None else generation
        result, *names = self._call(PUT, known, len(puts), len(moves), *args)
        changed = tuple(name.decode() for name in names)
        if result == b"position":
            raise ConflictError(sources=changed)
        if result == b"document":
            raise ConflictError(changed)
        self._server.require_written()

    def _number(self, name: str) -> int:
        with self._server.explained():
            return int(self._server.client.hget(f"{self._prefix}:meta", name) or 0)

    def _position_texts(self, source: str | None = None) -> Mapping[str, bytes]:
        with self._server.explained():
            if source is not None:
                text = self._server.client.hget(f"{self._prefix}:p", source)
                return {} if text is None else {source: text}
            found = dict(self._server.client.hscan_iter(f"{self._prefix}:p", count=_CHUNK))
        return {name.decode(): text for name, text in found.items()}

    def _states(self) -> dict[str, int]:
        names = ["", *(str(state) for state in State)]
        numbers = self._server.sizes([f"{self._prefix}:s:{name}" for name in names])
        return {name: number for name, number in zip(names, numbers, strict=True) if number}

    def _size(self, documents: int) -> tuple[int, float | None]:
        return self._server.memory(), None

    def _details(self) -> dict[str, JSON]:
        return {
            "durability": "what was put survives a kill of the server; appendfsync says what a "
            "loss of power leaves",
            **self._server.facts,
        }

    def close(self) -> None:
        """Close all connections; see `Store.close`."""
        self._server.close()

    def _live(self, ids: Collection[str]) -> dict[str, Row]:
        asked = list(ids)
        found: dict[str, Row] = {}
        for start in range(0, len(asked), _CHUNK):
            chunk = asked[start : start + _CHUNK]
            with self._server.explained():
                texts = self._server.client.mget([f"{self._prefix}:d:{id_}" for id_ in chunk])
            found.update(
                (id_, row_of(id_, data))
                for id_, data in zip(chunk, texts, strict=True)
                if data is not None
            )
        return found

    def _view(self) -> AbstractContextManager[View]:
        # The numbers first: a revision may be too low, or parts too many, and neither loses a job.
        numbers = (self._number("generation"), self._number("revision"))
        return nullcontext(_Now(self, *numbers, self._parts()))

    def _parts(self) -> Sequence[Part]:
        return self._parts_at(self._number("generation"), self._part_texts)

    def _part_texts(self) -> list[bytes]:
        with self._server.explained():
            texts: list[bytes] = self._server.client.lrange(f"{self._prefix}:parts", 0, -1)
        return texts

    def _live_raw(self, number: str) -> Collection[str]:
        # A semicolon follows the colon that ends the number.
        return [
            one.partition(":")[2] for one in self._members(":r", f"[{number}:", f"({number};", -1)
        ]

    def _ids(self, first: str, end: str | None, count: int) -> list[str]:
        low, high = f"[{first}" if first else "-", "+" if end is None else f"({end}"
        return self._members(":i", low, high, count)

    def _members(self, index: str, low: str, high: str, count: int) -> list[str]:
        """At most `count` members of a sorted set; -1: all."""
        with self._server.explained():
            found = self._server.client.zrange(
                f"{self._prefix}{index}", low, high, bylex=True, offset=0, num=count
            )
        return [one.decode() for one in found]

    def _next_fence(self) -> int:
        with self._server.explained():
            fence = int(self._server.client.hincrby(f"{self._prefix}:meta", "fence", 1))
        self._server.require_written()
        return fence

    def _retire(self, part: Part, rows: Sequence[tuple[Keys, int]], fence: int) -> int:
        args = [word for keys, revision in rows for word in (keys.id, f"{revision:016x}")]
        reply = self._call(RETIRE, fence, part.to_text(), *args)
        if reply[0] == b"fence":
            raise StoreError(OVERTAKEN)
        self._server.require_written()
        return int(reply[1])

    def _index_problems(self) -> Iterator[str]:
        revision = self._number("revision")
        after: str = ""
        while ids := self._ids(after, None, _CHUNK):
            after = f"{ids[-1]} "  # no id has a blank
            yield from self._misplaced(ids)
        keys = [f"{self._prefix}{index}" for index in (":i", ":t")]
        keys += [f"{self._prefix}:s:{state}" for state in ("", *State)]
        by_id, by_time, *by_state = self._server.sizes(keys)
        if not by_id == by_time == sum(by_state) and self._number("revision") == revision:
            yield f"there are {by_id} jobs by id, {by_time} by time and {sum(by_state)} by state"

    def _misplaced(self, ids: Sequence[str]) -> Iterator[str]:
        """Jobs that lack a place in an index, or have one that is not their document's."""
        rows = self._live(ids)
        with self._server.explained():
            pipeline = self._server.client.pipeline(transaction=False)
            for keys in (row.keys for row in rows.values()):
                place = member((keys.time, keys.id))
                for index in (":t", f":s:{keys.state}", f":u:{keys.user or ''}", ":a"):
                    pipeline.zscore(f"{self._prefix}{index}", place)
                pipeline.zscore(f"{self._prefix}:r", f"{keys.raw}:{keys.id}")
            scores = iter(pipeline.execute())
        for id_ in ids:
            row = rows.get(id_)
            if row is not None:
                found = [next(scores) is not None for _ in range(5)]
                keys = row.keys
                right = [True, True, keys.user is not None, keys.active, keys.raw is not None]
            # Another process may have written it between the two looks at it.
            if (row is None or found != right) and self._live([id_]).get(id_) == row:
                yield f"the indexes of {id_!r} are not its document's"


class _Now(View):
    """The server as it is at each page."""

    settled = False

    def __init__(
        self, store: RedisStore, generation: int, revision: int, parts: Sequence[Part]
    ) -> None:
        self._store = store
        self._generation = generation
        self.revision = revision
        self.parts = parts

    def page(self, query: Query, after: Order | None, count: int) -> list[Row]:
        index, states = ":t", query.states or frozenset()
        if query.states == frozenset():
            return []
        if query.user is not None:
            index = f":u:{query.user}"
        elif len(states) == 1:
            index, states = f":s:{next(iter(states))}", frozenset()
        elif states and states <= ACTIVE:
            index, states = ":a", states if states < ACTIVE else frozenset()
        low = "-" if query.since is None else f"[{moment(query.since)}"
        high = "+" if query.until is None else f"({moment(query.until)}"
        cluster = "" if query.cluster is None else f"{query.cluster}:"
        if after is not None:
            bound = f"({member(after)}"
            low, high = (low, bound) if query.newest_first else (bound, high)
        wanted, back = f",{','.join(sorted(states))}," if states else "", int(query.newest_first)
        while True:
            bounds = (low, high, count, _LOOKS, _PAGE_BYTES)
            reply = self._store._call(PAGE, index, back, *bounds, wanted, cluster)
            generation, last = int(reply[1]), reply[2]
            pairs = zip(reply[3::2], reply[4::2], strict=True)
            rows = [row_of(id_.decode(), data) for id_, data in pairs]
            if generation != self._generation:
                self._generation = generation
                raise ArchiveGrewError
            if rows or not last:
                return rows
            bound = f"({last.decode()}"
            low, high = (low, bound) if query.newest_first else (bound, high)

    def live(self, ids: Collection[str]) -> dict[str, Row]:
        return self._store._live(ids)
