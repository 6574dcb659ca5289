from typing import Any

from jobsight.answering.question import Answerable, Answerer
from tests.toys.evicted import QUESTION

__all__ = ["LEARNED"]


class Learned(Answerable[Any]):
    """Of questions that are learned, and not asked of jobs."""

    question = QUESTION

    def answerer(self, source: Any, moment: int, model: Any, settings: Any) -> Answerer:
        raise AssertionError("it is not asked")


LEARNED = Learned()
