"""The as-of rule on the bundled pool's log: every example rests on its past alone.

`make test` checks one example in 72, `make prove` all of them.
"""

from pathlib import Path

import numpy as np
from tests.support.limits import PROVE

from jobsight.history.events import read_events
from jobsight.history.timelines import History
from jobsight.learning.audit.leaks import prove_as_of
from jobsight.learning.dataset import Dataset
from jobsight.questions.hold.question import HOLD
from jobsight.questions.hold.settings import HoldSettings

POOL = Path(__file__).resolve().parents[2] / "data" / "pool-a.log.gz"


def test_every_example_is_the_same_when_the_log_ends_at_its_decision() -> None:
    history = History.from_table(read_events([str(POOL)], timezone="UTC").table)
    data = Dataset.for_training(HOLD, history, HoldSettings())
    assert len(data.table) > 1300
    rows = np.arange(0, len(data.table), 1 if PROVE else 72)
    proof = prove_as_of(HOLD, history, data.table[rows], data.settings, data.encoding)
    assert proof.checked == len(rows)
    assert proof.differences == ()
