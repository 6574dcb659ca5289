"""The raw numbers of jobs, added to a Redis store of schema 1."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from jobsight.errors import StoreError
from jobsight.store.packing import raw_in, unzip
from jobsight.store.redisrows import row_of
from jobsight.store.redisscripts import ADD_RAWS, END_RAWS

__all__ = ["add_raws"]

_OLD = 1
_CHUNK = 200
_TRIES = 5


def add_raws(client: Any, prefix: str) -> None:
    """From schema 1 to 2: all raw numbers, by id and as an index; may be run again after a kill.

    The new schema is written in one step with the look whether somebody wrote meanwhile: whoever
    knows only the old one would leave numbers out. Nothing is written to a store that another
    process has brought to the new schema meanwhile.

    Args:
        client: of the server.
        prefix: of the store's keys, in braces.

    Raises:
        StoreError: others write to it all the time.
    """
    for _ in range(_TRIES):
        before = client.hmget(f"{prefix}:meta", "revision", "generation")
        _fill(client, prefix)
        told = client.register_script(END_RAWS)(
            args=[prefix, _OLD, *(number or b"" for number in before)]
        )
        if told[0] != b"changed":
            return
    raise StoreError("others write to the store; stop what collects into it, and migrate again")


def _fill(client: Any, prefix: str) -> None:
    add = client.register_script(ADD_RAWS)
    low = "[slurm:"
    while ids := client.zrange(f"{prefix}:i", low, "(slurm;", bylex=True, offset=0, num=_CHUNK):
        low = f"({ids[-1].decode()}"
        told = client.mget([f"{prefix}:d:{id_.decode()}" for id_ in ids])
        found: list[str] = []
        for id_, data in zip((one.decode() for one in ids), told, strict=True):
            raw = None if data is None else _raw(id_, data)
            if raw is not None:
                found += (id_, raw)
        if found:
            add(args=[prefix, _OLD, *found])


def _raw(id_: str, data: bytes) -> str | None:
    """Of what is damaged none: `check` tells of it."""
    with suppress(StoreError):
        return raw_in(unzip(row_of(id_, data).data, id_), id_)
    return None
