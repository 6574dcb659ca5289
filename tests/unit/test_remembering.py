"""Results that a method keeps, without keeping its object."""

import gc
from weakref import ref

from jobsight.remembering import remembered


class Doubler:
    def __init__(self) -> None:
        self.made: list[int] = []
        self.double = remembered(self._double, 2)

    def _double(self, number: int) -> int:
        self.made.append(number)
        return 2 * number


def test_the_last_results_are_kept_and_go_with_their_object() -> None:
    doubler = Doubler()
    assert [doubler.double(one) for one in (1, 2, 1, 3, 2)] == [2, 4, 2, 6, 4]
    assert doubler.made == [1, 2, 3, 2]  # two are kept
    gone = ref(doubler)
    gc.disable()
    try:
        del doubler
        assert gone() is None
    finally:
        gc.enable()
