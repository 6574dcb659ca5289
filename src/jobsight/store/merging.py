"""Merging what sources report into a store next to other writers, and preparing puts."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from jobsight.documents import JobDocument
from jobsight.documents import merge as join
from jobsight.documents.identity import is_surely_of, may_share_number, nth_id, sort_out
from jobsight.documents.keys import first_id
from jobsight.errors import ConflictError, DocumentError, StoreError, TooMuchError
from jobsight.store.packing import Keys, pack, position_to_text
from jobsight.store.reports import Change, Merged, Move, Put, Stored

if TYPE_CHECKING:
    from jobsight.store.base import Store

__all__ = ["merge", "prepare"]

_MOST_TRIES = 100
_FIRST_PAUSE = 0.002
_LONGEST_PAUSE = 0.25


def merge(store: Store, partials: Iterable[JobDocument], moves: Sequence[Move] = ()) -> Merged:
    """See `Store.merge`."""
    parts: dict[str, list[JobDocument]] = {}
    for partial in partials:
        parts.setdefault(partial.id, []).append(partial)
    try:
        return _merge_at_once(store, dict(parts), moves)
    except TooMuchError:
        if moves or len(parts) < 2:
            raise
    each = list(parts.values())
    halves = (each[: len(each) // 2], each[len(each) // 2 :])
    one, other = (merge(store, itertools.chain(*half)) for half in halves)
    return Merged(
        one.changes + other.changes,
        one.unchanged + other.unchanged,
        one.refused + other.refused,
    )


def _merge_at_once(
    store: Store, parts: dict[str, list[JobDocument]], moves: Sequence[Move]
) -> Merged:
    """As `merge`, in one put; documents that cannot be kept are taken out of `parts`."""
    refused: list[tuple[str, str]] = []
    pause = _FIRST_PAUSE
    for _ in range(_MOST_TRIES):
        generation = store.generation()
        puts, changes, unchanged = _join(store, parts)
        try:
            if puts or any(move.old != move.new for move in moves):
                store.put(puts, moves, generation=generation)
            return Merged(changes, unchanged, tuple(refused))
        except DocumentError:
            if not (found := list(_unstorable(puts))):
                raise
            refused += found
            for id_, _reason in found:
                # Of a number used again, what is reported of all its jobs.
                parts.pop(id_, None) or parts.pop(first_id(id_), None)
            continue
        except ConflictError as conflict:
            if conflict.sources:
                raise
        # The pause grows and varies, so that writers of the same jobs get out of step.
        time.sleep(pause * random.random())  # noqa: S311
        pause = min(2 * pause, _LONGEST_PAUSE)
    raise ConflictError(tuple(parts))


def _join(
    store: Store, parts: dict[str, list[JobDocument]]
) -> tuple[list[Put], tuple[Change, ...], int]:
    """Puts of all jobs of which `parts` report something new; of how many ids there is nothing."""
    found = store.get(parts.keys())
    puts: list[Put] = []
    changes: list[Change] = []
    unchanged = 0
    for id_, partials in parts.items():
        stored = found.get(id_)
        before = len(puts)
        if may_share_number(id_) and (stored is not None or len(partials) > 1):
            _join_by_number(store, id_, stored, partials, puts, changes)
        else:
            new = old = stored.document if stored else None
            for partial in partials:
                new = join(new, partial)
            if new is not None and new is not old and new != old:
                puts.append(Put(new, stored.revision if stored else None))
                changes.append(Change(old, new))
        unchanged += len(puts) == before
    return puts, tuple(changes), unchanged


def _join_by_number(
    store: Store,
    id_: str,
    stored: Stored | None,
    partials: Sequence[JobDocument],
    puts: list[Put],
    changes: list[Change],
) -> None:
    """As `_join`, for reports that may be of several jobs to which Slurm gave one number."""
    known = [] if stored is None else [stored]
    if stored and not all(is_surely_of(stored.document, partial) for partial in partials):
        # A writer that adds another job meanwhile puts it under the same id, so one of the two
        # puts is refused.
        while later := store.get([nth_id(id_, len(known) + 1)]):
            known += later.values()
    old = [one.document for one in known]
    for at, (index, new) in enumerate(sort_out(old, partials)):
        here = known[at] if at < len(known) else None
        if here is None or new != here.document:
            puts.append(Put(new, here.revision if here else None))
            changes.append(Change(None if index is None else old[index], new))


def prepare(
    store: Store, puts: Sequence[Put], moves: Sequence[Move]
) -> tuple[list[tuple[Keys, bytes]], list[tuple[str, str | None, str]]]:
    """Keys and packed documents; sources with the texts of their old and new positions.

    Raises:
        DocumentError, StoreError: as by `Store.put`.
    """
    packed = [(Keys.of(put.document), pack(put.document)) for put in puts]
    size = sum(len(data) for _, data in packed)
    if len(packed) > store.most_documents or size > store.most_bytes:
        raise TooMuchError(
            f"{len(packed)} documents of {size} bytes are too much for one put; it may hold "
            f"{store.most_documents} documents and {store.most_bytes} bytes: ask the source for "
            "less at a time"
        )
    if len({keys.id for keys, _ in packed}) != len(packed):
        raise StoreError("a put has the same job twice; merge its documents first")
    texts = [
        (
            move.source,
            None if move.old is None else position_to_text(move.source, move.old),
            position_to_text(move.source, move.new),
        )
        for move in moves
    ]
    return packed, texts


def _unstorable(puts: Iterable[Put]) -> Iterator[tuple[str, str]]:
    for put in puts:
        try:
            pack(put.document)
        except DocumentError as error:
            yield put.document.id, str(error)
