"""From schema to schema."""

import pytest

from jobsight.errors import StoreError
from jobsight.store.schemas import climb, require_readable


def test_steps_are_taken_one_after_the_other() -> None:
    taken: list[tuple[str, int]] = []
    steps = {1: "a", 2: "b", 3: "c"}
    assert climb("x", 2, 4, steps, lambda step, after: taken.append((step, after))) == (2, 4)
    assert taken == [("b", 3), ("c", 4)]
    assert climb("x", 4, 4, steps, lambda *_: pytest.fail("nothing is to be done")) == (4, 4)


def test_a_step_that_is_missing() -> None:
    taken: list[int] = []
    with pytest.raises(StoreError, match="x has schema 2, which no released version wrote"):
        climb("x", 1, 3, {1: 7}, lambda _, after: taken.append(after))
    assert taken == [2]


def test_which_schemas_can_be_read() -> None:
    require_readable("x", 3, 3, older=False)
    require_readable("x", 1, 3, older=True)
    with pytest.raises(StoreError, match="jobsight store migrate"):
        require_readable("x", 2, 3, older=False)
    for newer in (4, "3b"):
        with pytest.raises(StoreError, match="newer"):
            require_readable("x", newer, 3, older=True)
