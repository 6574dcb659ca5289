"""Which submissions were looked at, so that none is looked at twice: also after a restart."""

from __future__ import annotations

from jobsight.documents import JSON
from jobsight.history.slurm.ids import pack, unpack

__all__ = ["Fetched"]

_MOST_FETCHED = 1_000_000


class Fetched:
    """Submissions that were looked at: those told of lately, and those told of last before.

    Two sets and one time in the place of a time for each: so the position of an hour is small, and
    a collector that begins anew for each poll forgets as well as one that runs on.
    """

    def __init__(self) -> None:
        self._recent: set[int] = set()
        self._before: set[int] = set()
        self._since: int | None = None

    def __len__(self) -> int:
        return len(self._recent) + len(self._before)

    def told(self, number: int) -> bool:
        """Whether it was looked at; remembered longer for having been told of again."""
        if number in self._before:
            self.add(number)
        return number in self._recent

    def add(self, number: int) -> None:
        """Remember one that was looked at now."""
        self._before.discard(number)
        self._recent.add(number)

    def forget(self, before: int, now: int) -> None:
        """Forget those that nobody has told of since some time before `before`.

        Args:
            before: µs since 1970; at the latest twice as long ago as this, they are forgotten.
            now: µs since 1970.
        """
        if self._since is None:
            self._since = now
        if self._since <= before or len(self._recent) > _MOST_FETCHED // 2:
            self._recent, self._before, self._since = set(), self._recent, now

    def position(self) -> dict[str, JSON]:
        """What must be known after a restart."""
        return {
            "fetched": pack(self._recent),
            "fetched_before": pack(self._before),
            "fetched_since": self._since,
        }

    def restore(self, position: dict[str, JSON], now: int) -> None:
        """Go on from a position.

        Raises:
            ValueError: the position is damaged.
        """
        since = position.get("fetched_since")
        if since is not None and not isinstance(since, int):
            raise ValueError("the time of what was fetched is no number")
        self._recent = set(unpack(str(position.get("fetched", "")), _MOST_FETCHED))
        self._before = set(unpack(str(position.get("fetched_before", "")), _MOST_FETCHED))
        self._since = now if since is None else since
