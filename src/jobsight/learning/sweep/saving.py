"""When a run leaves its machine for a moment, so that what it has is fetched from there.

Where files are transferred, a checkpoint lies on the machine alone until a scheduler fetches it.
HTCondor does so when a job leaves with exit status 85, and then starts it again at once, where it
was. What a machine that dies takes along is what was trained since.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Saving"]

SECONDS = 600.0
TIMES = 10
"""Of what a start takes until it trains: so a save, which makes another necessary, costs no more
than a tenth."""


@dataclass(frozen=True)
class Saving:
    """When a run saves.

    Attributes:
        every: seconds of training in one attempt, after which it saves behind the epoch under way;
            None: `SECONDS`, or `TIMES` what it took to begin, if that is longer.
    """

    every: float | None = None

    def due(self, *, begun: float, trained: float, epochs: int, left: int) -> bool:
        """Whether to save now, between two epochs.

        Args:
            begun: seconds that this attempt took until it trained: it read, it built examples.
            trained: seconds of training since.
            epochs: that were trained in these, at least one: so every attempt gets on.
            left: epochs to go at most. What is trained sooner than another attempt would begin is
                not worth a save.
        """
        every = max(SECONDS, TIMES * begun) if self.every is None else self.every
        return trained >= every and left * trained / epochs > begun
