"""What a Redis server is asked of a store as a whole: its memory, and whether its indexes agree."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress

from jobsight.documents import State
from jobsight.errors import StoreError
from jobsight.store.packing import raw_in
from jobsight.store.redisrows import member
from jobsight.store.redisserver import RedisServer
from jobsight.store.rows import Row

__all__ = ["bytes_per_job", "index_problems"]

Live = Callable[[Collection[str]], dict[str, Row]]

_SAMPLES = 32
_CHUNK = 200
_LOOKS = 2000


def bytes_per_job(server: RedisServer, prefix: str, live: Live, documents: int) -> float | None:
    """The server's memory for a document and its places in the indexes, from samples.

    None where there are no documents, or where the server does not tell.
    """
    if not documents:
        return None
    with server.explained():
        members = server.client.zrandmember(f"{prefix}:t", _SAMPLES)
    rows = live([one[16:].decode() for one in members])
    if not rows:
        return None
    users = {row.keys.user for row in rows.values() if row.keys.user is not None}
    common = [
        f"{prefix}:t",
        f"{prefix}:i",
        f"{prefix}:a",
        f"{prefix}:k",
        f"{prefix}:r",
        *(f"{prefix}:s:{state}" for state in ("", *State)),
    ]
    by_user = [f"{prefix}:u:{user}" for user in users]
    sizes = server.memory([f"{prefix}:d:{id_}" for id_ in rows] + common + by_user)
    if sizes[0] is None:
        return None
    known = [size or 0 for size in sizes]
    own = sum(known[: len(rows)]) / len(rows)
    shared = sum(known[len(rows) : len(rows) + len(common)]) / documents
    return own + shared + _user_share(server, by_user, known[len(rows) + len(common) :])


def _user_share(server: RedisServer, keys: Sequence[str], sizes: Sequence[int]) -> float:
    if not keys:
        return 0.0
    members = sum(_sizes(server, keys))
    return sum(sizes) / max(members, 1)


def _sizes(server: RedisServer, keys: Sequence[str]) -> list[int]:
    """Numbers of members of sorted sets."""
    with server.explained():
        pipeline = server.client.pipeline(transaction=False)
        for key in keys:
            pipeline.zcard(key)
        numbers: list[int] = pipeline.execute()
    return numbers


def index_problems(server: RedisServer, prefix: str, live: Live) -> Iterator[str]:
    """What is wrong with the indexes of the live documents.

    Reads all keys of the server, a few at a time; of documents that change meanwhile nothing is
    said.
    """
    with server.explained():
        before = server.client.hget(f"{prefix}:meta", "revision")
    documents = 0
    for ids in _document_ids(server, prefix):
        documents += len(ids)
        yield from _wrong(server, prefix, live, ids)
    by_time, by_id, *by_state = _sizes(
        server, [f"{prefix}:t", f"{prefix}:i", *(f"{prefix}:s:{state}" for state in ("", *State))]
    )
    with server.explained():
        unchanged = server.client.hget(f"{prefix}:meta", "revision") == before
    if unchanged and not documents == by_time == by_id == sum(by_state):
        yield (
            f"there are {documents} documents, but {by_time} by time, {by_id} by id and "
            f"{sum(by_state)} by state"
        )


def _document_ids(server: RedisServer, prefix: str) -> Iterator[list[str]]:
    """Ids of all documents; SCAN gives none never, but may give one twice."""
    start = f"{prefix}:d:"
    seen: set[int] = set()
    cursor = 0
    while True:
        with server.explained():
            cursor, keys = server.client.scan(cursor, match=f"{start}*", count=_LOOKS)
        ids = [id_ for key in keys if hash(id_ := key.decode()[len(start) :]) not in seen]
        ids = list(dict.fromkeys(ids))
        seen.update(map(hash, ids))
        for first in range(0, len(ids), _CHUNK):
            yield ids[first : first + _CHUNK]
        if not cursor:
            return


def _wrong(server: RedisServer, prefix: str, live: Live, ids: Sequence[str]) -> Iterator[str]:
    rows = live(ids)
    if not rows:
        return
    raws = {id_: _raw(row) for id_, row in rows.items()}
    with server.explained():
        pipeline = server.client.pipeline(transaction=False)
        for keys in (row.keys for row in rows.values()):
            place = member(keys.time, keys.id)
            pipeline.zscore(f"{prefix}:t", place)
            pipeline.zscore(f"{prefix}:s:{keys.state}", place)
            pipeline.zscore(f"{prefix}:u:{keys.user or ''}", place)
            pipeline.zscore(f"{prefix}:a", keys.id)
            pipeline.zscore(f"{prefix}:r", f"{raws[keys.id]}:{keys.id}")
            pipeline.hget(f"{prefix}:k", keys.id)
        told = pipeline.execute()
    for at, row in enumerate(rows.values()):
        *scores, kept = told[6 * at : 6 * at + 6]
        raw = raws[row.keys.id]
        found = [*(score is not None for score in scores), kept and kept.decode()]
        right = [True, True, row.keys.user is not None, row.keys.active, raw is not None, raw]
        # Somebody may have written it between the two looks at it.
        if found != right and live([row.keys.id]).get(row.keys.id) == row:
            yield f"the indexes of {row.keys.id!r} are not its document's"


def _raw(row: Row) -> str | None:
    """Of what is damaged none: `check` tells of it."""
    with suppress(StoreError):
        return raw_in(row.text(), row.keys.id)
    return None
