"""Job documents in a Redis or Valkey server: for several collectors and one service.

*Atomic.* A put is one script in the server: it checks all revisions and positions first and then
writes all or nothing; so it has a limit (`Store.most_documents`, `Store.most_bytes`), which also
bounds how long the server answers no other client.

*Durability.* The server writes each script to its append-only file as one transaction; what
``appendfsync everysec`` may lose with the power are whole transactions from the end, so documents
and positions go together. A kill of the server's process takes nothing back that was put: each put
waits until the server has appended it, which with a busy disk comes after its answer.

*Cost.* No command looks at more keys than the page it is asked for.

*Layout.* Keys, all beginning with the store's prefix in braces: ``:meta`` (hash: ``schema``,
``revision``, ``generation``, ``fence``, ``identity``), ``:d:<id>`` (a document), the sorted sets
``:t``,
``:s:<state>``, ``:u:<user>`` (all documents) and ``:a`` (of jobs that have not ended), by time and
id, ``:i`` (all ids), ``:r`` (Slurm's raw number and id, a colon between), ``:p`` (hash: positions
by source), ``:parts`` (list: the archive).

A document is its revision and its time (16 hexadecimal digits each, time + 2^63), the lengths of
the state, of the user's key and of the raw number (2, 4 and 2 digits; ``ffff``: no user is known),
these three, and the packed document. A member of a sorted set is time and id, and all scores are 0:
so the order is that of the bytes (ZRANGE BYLEX), and a page can begin behind any member.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from jobsight.documents import JSON, State
from jobsight.errors import ConflictError, StoreError
from jobsight.settings import StoreSettings
from jobsight.store.archive import Part, PartList
from jobsight.store.base import (
    ArchiveGrewError,
    Backend,
    OvertakenError,
    PositionWrite,
    RowWrite,
    View,
)
from jobsight.store.packing import ACTIVE, SCHEMA, cluster_of, require_schema
from jobsight.store.redisserver import RedisServer
from jobsight.store.rows import Keys, Order, Query, Row

__all__ = ["RedisBackend"]

_LOOKS = 2000
_PAGE_BYTES = 16 << 20
_CHUNK = 200
_ZERO = 2**63
_NO_USER = 0xFFFF

_COMMON = (
    f"""
local active = {{{", ".join(f"['{state}']=true" for state in sorted(ACTIVE))}}}
"""
    + """
local prefix, schema = ARGV[1], ARGV[2]
local written = redis.call('HGET', prefix .. ':meta', 'schema')
if written ~= schema then
    return {'schema', written or ''}
end
local function head(key)
    local text = redis.call('GETRANGE', key, 0, 255)
    if text == '' then return nil end
    local state, user = tonumber(string.sub(text, 33, 34), 16), string.sub(text, 35, 38)
    local raw = tonumber(string.sub(text, 39, 40), 16)
    local found = {
        revision = string.sub(text, 1, 16),
        time = string.sub(text, 17, 32),
        state = string.sub(text, 41, 40 + state),
    }
    local at = 40 + state
    if user ~= 'ffff' then
        local length = tonumber(user, 16)
        found.user = string.sub(text, at + 1, at + length)
        at = at + length
    end
    if raw > 0 then found.raw = string.sub(text, at + 1, at + raw) end
    return found
end
-- Places of a document in the indexes, but that by id.
local function places(id, document)
    local member = document.time .. id
    local found = {{':t', member}, {':s:' .. document.state, member}}
    if active[document.state] then found[#found + 1] = {':a', member} end
    if document.user then found[#found + 1] = {':u:' .. document.user, member} end
    if document.raw then found[#found + 1] = {':r', document.raw .. ':' .. id} end
    return found
end
local function unindex(id, document)
    for _, place in ipairs(places(id, document)) do
        redis.call('ZREM', prefix .. place[1], place[2])
    end
end
"""
)

_PUT = (
    _COMMON
    + """
local generation, documents, moves = ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local at = 5 + 4 * documents
local moved = {'position'}
for k = 0, moves - 1 do
    local source, old = ARGV[at + 3 * k + 1], ARGV[at + 3 * k + 2]
    if (redis.call('HGET', prefix .. ':p', source) or '') ~= old then moved[#moved + 1] = source end
end
if #moved > 1 then return moved end
local now = redis.call('HGET', prefix .. ':meta', 'generation') or '0'
local grown = generation ~= '' and generation ~= now
local before, changed = {}, {'document'}
for k = 0, documents - 1 do
    local id, based = ARGV[5 + 4 * k + 1], ARGV[5 + 4 * k + 2]
    local old = head(prefix .. ':d:' .. id)
    before[k] = old
    if (old and old.revision or '') ~= based or (based == '' and grown) then
        changed[#changed + 1] = id
    end
end
if #changed > 1 then return changed end
local revision = redis.call('HINCRBY', prefix .. ':meta', 'revision', 1)
revision = string.format('%016x', revision)
for k = 0, documents - 1 do
    local base = 5 + 4 * k
    local id, key = ARGV[base + 1], prefix .. ':d:' .. ARGV[base + 1]
    if before[k] then unindex(id, before[k]) else redis.call('ZADD', prefix .. ':i', 0, id) end
    redis.call('SET', key, revision .. ARGV[base + 3] .. ARGV[base + 4])
    for _, place in ipairs(places(id, head(key))) do
        redis.call('ZADD', prefix .. place[1], 0, place[2])
    end
end
for k = 0, moves - 1 do
    redis.call('HSET', prefix .. ':p', ARGV[at + 3 * k + 1], ARGV[at + 3 * k + 3])
end
return {'ok'}
"""
)
"""Arguments: prefix, schema, generation or ``""``, number of documents, number of moves; of a
document: id, revision that it is based on or ``""``, head without revision, packed document; of a
move: source, old text or ``""``, new text."""

_PAGE = (
    _COMMON
    + """
local index, back, low, high = prefix .. ARGV[3], ARGV[4] == '1', ARGV[5], ARGV[6]
local count, looks, bytes = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])
local states, cluster = ARGV[10], ARGV[11]
local members
if back then
    members = redis.call('ZRANGE', index, high, low, 'BYLEX', 'REV', 'LIMIT', 0, looks)
else
    members = redis.call('ZRANGE', index, low, high, 'BYLEX', 'LIMIT', 0, looks)
end
local reply = {'ok', redis.call('HGET', prefix .. ':meta', 'generation') or '0', ''}
for _, member in ipairs(members) do
    local id = string.sub(member, 17)
    reply[3] = member
    if string.sub(id, 1, #cluster) == cluster then
        local key = prefix .. ':d:' .. id
        local fits = true
        if states ~= '' then
            local found = head(key)
            fits = found and string.find(states, ',' .. found.state .. ',', 1, true)
        end
        local data = fits and redis.call('GET', key)
        if data then
            reply[#reply + 1] = id
            reply[#reply + 1] = data
            count = count - 1
            bytes = bytes - #data
        end
    end
    if count <= 0 or bytes <= 0 then break end
end
return reply
"""
)
"""Arguments: prefix, schema, index, 1 or 0 (backwards), least and greatest member as ZRANGE takes
them, most documents, most members to look at, most bytes, ``,state,state,`` or ``""``, beginning of
ids. Reply: ``ok``, generation, last member looked at (``""``: there was none), then ids and
documents."""

_RETIRE = (
    _COMMON
    + """
if redis.call('HGET', prefix .. ':meta', 'fence') ~= ARGV[3] then return {'fence'} end
local gone = 0
for k = 5, #ARGV, 2 do
    local id, key = ARGV[k], prefix .. ':d:' .. ARGV[k]
    local old = head(key)
    if old and old.revision == ARGV[k + 1] then
        unindex(id, old)
        redis.call('ZREM', prefix .. ':i', id)
        redis.call('DEL', key)
        gone = gone + 1
    end
end
if gone > 0 then
    redis.call('RPUSH', prefix .. ':parts', ARGV[4])
    redis.call('HINCRBY', prefix .. ':meta', 'generation', 1)
end
return {'ok', gone}
"""
)
"""Arguments: prefix, schema, fence, the part's text; then ids and revisions."""


class RedisBackend(Backend):
    """The rows of a store in a server.

    The archive has no folder unless the settings name one. With `create` a store begins where the
    prefix has none.

    Raises:
        UsageError: the address cannot be understood.
        StoreUnavailableError, StoreError: as by `jobsight.store.open_store`.
    """

    name = "redis"

    def __init__(
        self, url: str, settings: StoreSettings | None = None, *, create: bool = False
    ) -> None:
        settings = settings or StoreSettings()
        self._server = RedisServer(url, settings)
        self._prefix = f"{{{settings.prefix}}}"
        self._parts = PartList()
        self.url = self._server.url
        self.archive = Path(settings.archive).expanduser() if settings.archive else None
        try:
            self._server.require_fit()
            meta = f"{self._prefix}:meta"
            with self._server.explained():
                if create:
                    self._server.client.hsetnx(meta, "identity", secrets.randbits(63))
                    if self._server.client.hsetnx(meta, "schema", SCHEMA):
                        self._server.require_written()
                schema = self._server.client.hget(meta, "schema")
            if schema is None:
                raise StoreError(
                    f"there is no store of prefix {settings.prefix!r} at {self.url}; `jobsight "
                    "collect` and `jobsight import` make one"
                )
            require_schema(self.url, schema.decode(errors="replace"))
        except BaseException:
            self.close()
            raise

    def _call(self, script: str, *args: str | bytes | int) -> list[Any]:
        return self._server.call(script, self._prefix, SCHEMA, *args)

    def write(
        self,
        rows: Sequence[RowWrite],
        positions: Sequence[PositionWrite] = (),
        generation: int | None = None,
    ) -> None:
        args: list[str | bytes | int] = ["" if generation is None else generation]
        args += (len(rows), len(positions))
        for keys, data, based_on in rows:
            revision = "" if based_on is None else f"{based_on:016x}"
            user, raw = keys.user, keys.raw or ""
            length = _NO_USER if user is None else len(user.encode())
            lengths = f"{len(keys.state):02x}{length:04x}{len(raw):02x}"
            head = f"{_moment(keys.time)}{lengths}{keys.state}{user or ''}{raw}"
            args += (keys.id, revision, head, data)
        for source, old, new in positions:
            args += (source, old or "", new)
        result, *names = self._call(_PUT, *args)
        changed = tuple(name.decode() for name in names)
        if result == b"position":
            raise ConflictError(sources=changed)
        if result == b"document":
            raise ConflictError(changed)
        self._server.require_written()

    def number(self, name: str) -> int:
        with self._server.explained():
            return int(self._server.client.hget(f"{self._prefix}:meta", name) or 0)

    def positions(self, source: str | None = None) -> Mapping[str, bytes]:
        with self._server.explained():
            if source is not None:
                text = self._server.client.hget(f"{self._prefix}:p", source)
                return {} if text is None else {source: text}
            pairs = list(self._server.client.hscan_iter(f"{self._prefix}:p", count=_CHUNK))
        return {name.decode(): text for name, text in pairs}

    def states(self) -> dict[str, int]:
        names = ["", *(str(state) for state in State)]
        numbers = self._server.sizes([f"{self._prefix}:s:{name}" for name in names])
        return {name: number for name, number in zip(names, numbers, strict=True) if number}

    def size(self, rows: int) -> tuple[int, float | None]:
        return self._server.memory(), None

    def details(self) -> dict[str, JSON]:
        return {
            "durability": "what was put survives a kill of the server; appendfsync says what a "
            "loss of power leaves",
            **self._server.facts,
        }

    def close(self) -> None:
        self._server.close()

    def read(self, ids: Collection[str]) -> dict[str, Row]:
        asked = list(ids)
        rows: dict[str, Row] = {}
        for start in range(0, len(asked), _CHUNK):
            chunk = asked[start : start + _CHUNK]
            with self._server.explained():
                texts = self._server.client.mget([f"{self._prefix}:d:{id_}" for id_ in chunk])
            pairs = zip(chunk, texts, strict=True)
            rows |= {id_: _row_of(id_, data) for id_, data in pairs if data is not None}
        return rows

    def view(self) -> AbstractContextManager[View]:
        # The numbers first: a revision may be too low, or parts too many, and neither loses a job.
        numbers = (self.number("generation"), self.number("revision"))
        return nullcontext(_Now(self._call, self.read, *numbers, self.parts()))

    def parts(self) -> Sequence[Part]:
        def read() -> list[bytes]:
            with self._server.explained():
                texts: list[bytes] = self._server.client.lrange(f"{self._prefix}:parts", 0, -1)
            return texts

        return self._parts.at(self.number("generation"), read)

    def ids_by_raw(self, number: str) -> Collection[str]:
        # A semicolon follows the colon that ends the number.
        members = self._members(":r", f"[{number}:", f"({number};", -1)
        return [member.partition(":")[2] for member in members]

    def ids(self, first: str, end: str | None, count: int) -> list[str]:
        low, high = f"[{first}" if first else "-", "+" if end is None else f"({end}"
        return self._members(":i", low, high, count)

    def _members(self, index: str, low: str, high: str, count: int) -> list[str]:
        """At most `count` members of a sorted set; -1: all."""
        with self._server.explained():
            members = self._server.client.zrange(
                f"{self._prefix}{index}", low, high, bylex=True, offset=0, num=count
            )
        return [member.decode() for member in members]

    def next_fence(self) -> int:
        with self._server.explained():
            fence = int(self._server.client.hincrby(f"{self._prefix}:meta", "fence", 1))
        self._server.require_written()
        return fence

    def retire(self, part: Part, rows: Sequence[tuple[Keys, int]], fence: int) -> int:
        args = [word for keys, revision in rows for word in (keys.id, f"{revision:016x}")]
        reply = self._call(_RETIRE, fence, part.to_text(), *args)
        if reply[0] == b"fence":
            raise OvertakenError
        self._server.require_written()
        return int(reply[1])

    def problems(self) -> Iterator[str]:
        revision = self.number("revision")
        after: str = ""
        while ids := self.ids(after, None, _CHUNK):
            after = f"{ids[-1]} "  # no id has a blank
            rows = self.read(ids)
            with self._server.explained():
                pipeline = self._server.client.pipeline(transaction=False)
                for keys in (row.keys for row in rows.values()):
                    place = _member((keys.time, keys.id))
                    for index in (":t", f":s:{keys.state}", f":u:{keys.user or ''}", ":a"):
                        pipeline.zscore(f"{self._prefix}{index}", place)
                    pipeline.zscore(f"{self._prefix}:r", f"{keys.raw}:{keys.id}")
                scores = iter(pipeline.execute())
            for id_ in ids:
                row = rows.get(id_)
                if row is not None:
                    indexed = [next(scores) is not None for _ in range(5)]
                    keys = row.keys
                    right = [True, True, keys.user is not None, keys.active, keys.raw is not None]
                # Another process may have written it between the two looks at it.
                if (row is None or indexed != right) and self.read([id_]).get(id_) == row:
                    yield f"the indexes of {id_!r} are not its document's"
        indexes = [f"{self._prefix}{index}" for index in (":i", ":t")]
        indexes += [f"{self._prefix}:s:{state}" for state in ("", *State)]
        by_id, by_time, *by_state = self._server.sizes(indexes)
        if not by_id == by_time == sum(by_state) and self.number("revision") == revision:
            yield f"there are {by_id} jobs by id, {by_time} by time and {sum(by_state)} by state"


class _Now(View):
    """The server as it is at each page."""

    is_snapshot = False

    def __init__(
        self,
        call: Callable[..., list[Any]],
        read: Callable[[Collection[str]], dict[str, Row]],
        generation: int,
        revision: int,
        parts: Sequence[Part],
    ) -> None:
        self._call = call
        self._read = read
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
        low = "-" if query.since is None else f"[{_moment(query.since)}"
        high = "+" if query.until is None else f"({_moment(query.until)}"
        cluster = "" if query.cluster is None else f"{query.cluster}:"
        if after is not None:
            bound = f"({_member(after)}"
            low, high = (low, bound) if query.newest_first else (bound, high)
        wanted, back = f",{','.join(sorted(states))}," if states else "", int(query.newest_first)
        while True:
            bounds = (low, high, count, _LOOKS, _PAGE_BYTES)
            reply = self._call(_PAGE, index, back, *bounds, wanted, cluster)
            generation, last = int(reply[1]), reply[2]
            pairs = zip(reply[3::2], reply[4::2], strict=True)
            rows = [_row_of(id_.decode(), data) for id_, data in pairs]
            if generation != self._generation:
                self._generation = generation
                raise ArchiveGrewError
            if rows or not last:
                return rows
            bound = f"({last.decode()}"
            low, high = (low, bound) if query.newest_first else (bound, high)

    def read(self, ids: Collection[str]) -> dict[str, Row]:
        return self._read(ids)


def _moment(time: int) -> str:
    """A time as 16 hexadecimal digits, in whose order times follow each other."""
    return f"{min(max(time + _ZERO, 0), 2 * _ZERO - 1):016x}"


def _member(order: Order) -> str:
    """What an index by time has of a document."""
    return f"{_moment(order[0])}{order[1]}"


def _row_of(id_: str, text: bytes) -> Row:
    """The row of a document as the server has it; `StoreError`: it is damaged."""
    try:
        revision, time = int(text[:16], 16), int(text[16:32], 16) - _ZERO
        user_at, length = 40 + int(text[32:34], 16), int(text[34:38], 16)
        raw_at = user_at + (0 if length == _NO_USER else length)
        data_at = raw_at + int(text[38:40], 16)
        state, raw = text[40:user_at].decode("ascii"), text[raw_at:data_at].decode("ascii")
        user = None if length == _NO_USER else text[user_at:raw_at].decode()
    except ValueError:
        raise StoreError(f"the document of {id_[:80]!r} is damaged in its head") from None
    return Row(Keys(id_, cluster_of(id_), state, user, time, raw or None), revision, text[data_at:])
