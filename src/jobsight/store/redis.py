"""Job documents in a Redis or Valkey server: for several collectors and one service.

*Atomic.* A put is one script in the server: it looks at all revisions and positions first and then
writes all or nothing; so it has a limit (`most_documents`, `most_bytes`), which also bounds how
long the server answers nobody else. Documents first and their position in a last step would not do:
what a killed collector had put would be there without the position that says so.

*Durability.* The server writes each script to its append-only file as one transaction; what
``appendfsync everysec`` may lose with the power are whole transactions from the end, so documents
and positions go together. A kill of the server's process takes nothing back that was put: each put
waits until the server has appended it, which with a busy disk comes after its answer.

*Cost.* No command looks at more keys than the page it is asked for. `redisscripts` has the layout.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from jobsight.documents import State
from jobsight.errors import ConflictError, StoreError
from jobsight.settings import StoreSettings
from jobsight.store.archive import Archive
from jobsight.store.base import Move, Put
from jobsight.store.packing import (
    SCHEMA,
    Keys,
    pack,
    position_from_text,
    position_to_text,
    raw_of,
    require_schema,
)
from jobsight.store.parts import Part
from jobsight.store.redisaudit import bytes_per_job, index_problems
from jobsight.store.redisrows import head, member, moment, row_of
from jobsight.store.redisscripts import PAGE, PUT, RETIRE
from jobsight.store.redisserver import RedisServer
from jobsight.store.reports import Position, StoreStatus
from jobsight.store.rows import Order, Query, Row
from jobsight.store.tiers import OVERTAKEN, ArchiveGrewError, TieredStore, View

__all__ = ["RedisStore"]

_LOOKS = 2000
_PAGE_BYTES = 16 << 20
_CHUNK = 200


class RedisStore(TieredStore):
    """A store in a server.

    Args:
        url: its address, see `jobsight.store.opening`.
        settings: of the store; the archive has no folder unless they name one.
        create: begin a store where the prefix has none.

    Raises:
        UsageError: the address cannot be understood.
        StoreUnavailableError, StoreError: as by `jobsight.store.open_store`.
    """

    def __init__(
        self,
        url: str,
        settings: StoreSettings | None = None,
        *,
        create: bool = False,
    ) -> None:
        settings = settings or StoreSettings()
        self._server = RedisServer(url, settings)
        self._prefix = f"{{{settings.prefix}}}"
        self.url = self._server.url
        self.archive = Archive(Path(settings.archive).expanduser()) if settings.archive else None
        self._known_parts: tuple[int, Sequence[Part]] = (0, ())
        try:
            self._server.require_fit()
            self._require_ours(create)
        except BaseException:
            self.close()
            raise

    def _require_ours(self, create: bool) -> None:
        with self._server.explained():
            if create and self._server.client.hsetnx(f"{self._prefix}:meta", "schema", SCHEMA):
                self._server.require_written()
            told = self._server.client.hget(f"{self._prefix}:meta", "schema")
        if told is None:
            raise StoreError(
                f"there is no store of prefix {self._prefix[1:-1]!r} at {self.url}; `jobsight "
                "collect` and `jobsight import` make one"
            )
        require_schema(self.url, told.decode(errors="replace"))

    def _call(self, script: str, *args: str | bytes | int) -> list[Any]:
        return self._server.call(script, self._prefix, SCHEMA, *args)

    def put(
        self, puts: Sequence[Put], moves: Sequence[Move] = (), *, generation: int | None = None
    ) -> None:
        """Store documents and positions in one step; see `Store.put`."""
        args: list[str | bytes | int] = []
        ids: list[str] = []
        size = 0
        for put in puts:
            keys, data = Keys.of(put.document), pack(put.document)
            based_on = "" if put.based_on is None else f"{put.based_on:016x}"
            raw = raw_of(put.document) or ""
            args += (keys.id, based_on, int(keys.active), head(keys), data, raw)
            ids.append(keys.id)
            size += len(data)
        self._require_bounded(ids, size)
        for move in moves:
            old = "" if move.old is None else position_to_text(move.source, move.old)
            args += (move.source, old, position_to_text(move.source, move.new))
        told = self._call(
            PUT, "" if generation is None else generation, len(puts), len(moves), *args
        )
        names = tuple(name.decode() for name in told[1:])
        if told[0] == b"position":
            raise ConflictError(sources=names)
        if told[0] == b"document":
            raise ConflictError(names)
        self._server.require_written()

    def generation(self) -> int:
        """Changes when documents move to the archive; see `Store.generation`."""
        return self._numbers()[0]

    def _numbers(self) -> tuple[int, int]:
        """Generation and revision."""
        with self._server.explained():
            generation, revision = self._server.client.hmget(
                f"{self._prefix}:meta", "generation", "revision"
            )
        return int(generation or 0), int(revision or 0)

    def position(self, source: str) -> Position | None:
        """Where a source stands; see `Store.position`."""
        with self._server.explained():
            text = self._server.client.hget(f"{self._prefix}:p", source)
        return None if text is None else position_from_text(source, text)

    def positions(self) -> dict[str, Position]:
        """Where all sources stand; see `Store.positions`."""
        with self._server.explained():
            found = dict(self._server.client.hscan_iter(f"{self._prefix}:p", count=_CHUNK))
        return {
            name.decode(): position_from_text(name.decode(), found[name]) for name in sorted(found)
        }

    def status(self) -> StoreStatus:
        """What the store holds; see `Store.status`."""
        states = ["", *(str(state) for state in State)]
        with self._server.explained():
            pipeline = self._server.client.pipeline(transaction=False)
            for state in states:
                pipeline.zcard(f"{self._prefix}:s:{state}")
            pipeline.zcard(f"{self._prefix}:a")
            *numbers, active = pipeline.execute()
        documents = sum(numbers)
        per_job = bytes_per_job(self._server, self._prefix, self._live, documents)
        parts = self._parts()
        return StoreStatus(
            url=self.url,
            backend="redis",
            schema=SCHEMA,
            states={state: number for state, number in zip(states, numbers, strict=True) if number},
            active=active,
            archived=sum(part.rows for part in parts),
            bytes=None if documents and per_job is None else round((per_job or 0.0) * documents),
            bytes_per_job=per_job,
            archive_bytes=sum(part.size for part in parts),
            positions=self.positions(),
            details={
                "durability": "what was put survives a kill of the server; appendfsync says what a "
                "loss of power leaves",
                **self._server.facts,
            },
        )

    def close(self) -> None:
        """Close all connections; see `Store.close`."""
        self._server.close()

    def _live(self, ids: Collection[str]) -> dict[str, Row]:
        asked = list(ids)
        found: dict[str, Row] = {}
        for start in range(0, len(asked), _CHUNK):
            chunk = asked[start : start + _CHUNK]
            with self._server.explained():
                told = self._server.client.mget([f"{self._prefix}:d:{id_}" for id_ in chunk])
            found.update(
                (id_, row_of(id_, data))
                for id_, data in zip(chunk, told, strict=True)
                if data is not None
            )
        return found

    def _view(self) -> AbstractContextManager[View]:
        # The numbers first: a revision may be too low, or parts too many, and neither loses a job.
        generation, revision = self._numbers()
        return nullcontext(_Now(self, generation, revision, self._parts()))

    def _parts(self) -> Sequence[Part]:
        generation = self.generation()
        known, parts = self._known_parts
        if generation == known:
            return parts
        # From the first: a server that lost power may have fewer than it had.
        found: list[Part] = []
        while True:
            start = len(found)
            with self._server.explained():
                told = self._server.client.lrange(
                    f"{self._prefix}:parts", start, start + _CHUNK - 1
                )
            if not told:
                break
            found += [Part.from_text(text) for text in told]
        self._known_parts = (generation, found)
        return found

    def _page(
        self,
        index: str,
        low: str,
        high: str,
        *,
        skip: int,
        count: int,
        back: bool = False,
        states: Collection[str] = (),
        cluster: str = "",
    ) -> tuple[int, bytes, list[Row]]:
        """One page of an index, looking at a bounded number of its members.

        Args:
            index: key of the sorted set, without the prefix.
            low: least member, as ZRANGE takes it.
            high: greatest member.
            skip: letters of a member before its id.
            count: most rows.
            back: from the greatest to the least.
            states: only rows in one of these; empty: in any.
            cluster: only ids that begin with it.

        Returns:
            The generation, the last member that was looked at (empty: there is none), rows.
        """
        wanted = f",{','.join(sorted(states))}," if states else ""
        bounds = (low, high, skip, count, _LOOKS, _PAGE_BYTES)
        told = self._call(PAGE, index, int(back), *bounds, wanted, cluster)
        pairs = zip(told[3::2], told[4::2], strict=True)
        rows = [row_of(id_.decode(), data) for id_, data in pairs]
        return int(told[1]), told[2], rows

    def _active_page(self, cluster: str | None, after: str, count: int) -> list[Row]:
        low, high = "-", "+"
        if cluster is not None:
            # A semicolon follows the colon that ends the cluster's part of an id.
            low, high = f"({cluster}:", f"({cluster};"
        if after:
            low = f"({after}"
        while True:
            _, last, rows = self._page(":a", low, high, skip=0, count=count)
            if rows or not last:
                return rows
            low = f"({last.decode()}"

    def _live_raw(self, number: str) -> Iterator[str]:
        # A semicolon follows the colon that ends the number.
        low = f"[{number}:"
        while True:
            with self._server.explained():
                found = self._server.client.zrange(
                    f"{self._prefix}:r", low, f"({number};", bylex=True, offset=0, num=_CHUNK
                )
            if not found:
                return
            yield from (one.decode().partition(":")[2] for one in found)
            low = f"({found[-1].decode()}"

    def _ids(self, first: str, end: str | None, count: int) -> list[str]:
        with self._server.explained():
            found = self._server.client.zrange(
                f"{self._prefix}:i",
                f"[{first}" if first else "-",
                "+" if end is None else f"({end}",
                bylex=True,
                offset=0,
                num=count,
            )
        return [id_.decode() for id_ in found]

    def _identity(self) -> str:
        meta, client = f"{self._prefix}:meta", self._server.client
        with self._server.explained():
            if client.hsetnx(meta, "identity", secrets.token_hex(8)):
                self._server.require_written()
            return str(client.hget(meta, "identity").decode())

    def _fence(self) -> int:
        with self._server.explained():
            fence = int(self._server.client.hincrby(f"{self._prefix}:meta", "fence", 1))
        self._server.require_written()
        return fence

    def _latest_fence(self) -> int:
        with self._server.explained():
            return int(self._server.client.hget(f"{self._prefix}:meta", "fence") or 0)

    def _retire(self, part: Part, rows: Sequence[tuple[Keys, int]], fence: int) -> int:
        args = [word for keys, revision in rows for word in (keys.id, f"{revision:016x}")]
        told = self._call(RETIRE, fence, part.to_text(), *args)
        if told[0] == b"fence":
            raise StoreError(OVERTAKEN)
        self._server.require_written()
        return int(told[1])

    def _index_problems(self) -> Iterator[str]:
        return index_problems(self._server, self._prefix, self._live)


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
        if query.states is not None and len(query.states) == 1:
            index, states = f":s:{next(iter(query.states))}", frozenset()
        if query.user is not None:
            index, states = f":u:{query.user}", query.states or frozenset()
        if query.states == frozenset():
            return []
        low = "-" if query.since is None else f"[{moment(query.since)}"
        high = "+" if query.until is None else f"({moment(query.until)}"
        cluster = "" if query.cluster is None else f"{query.cluster}:"
        if after is not None:
            bound = f"({member(*query.place(after))}"
            low, high = (low, bound) if query.newest_first else (bound, high)
        while True:
            generation, last, rows = self._store._page(
                index,
                low,
                high,
                skip=16,
                count=count,
                back=query.newest_first,
                states=states,
                cluster=cluster,
            )
            if generation != self._generation:
                self._generation = generation
                raise ArchiveGrewError
            if rows or not last:
                return rows
            bound = f"({last.decode()}"
            low, high = (low, bound) if query.newest_first else (bound, high)

    def live(self, ids: Collection[str]) -> dict[str, Row]:
        return self._store._live(ids)
