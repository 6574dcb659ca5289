"""The as-of rule on the bundled pool's log: every example rests on its past alone."""

from pathlib import Path

from jobsight.history.events import read_events
from jobsight.history.timelines import History
from jobsight.questions.hold.examples.truncation import prove_as_of
from jobsight.questions.hold.training.dataset import Dataset
from jobsight.settings import HoldSettings

POOL = Path(__file__).resolve().parents[2] / "data" / "pool-a.log.gz"


def test_every_example_is_the_same_when_the_log_ends_at_its_decision() -> None:
    history = History.from_table(read_events([str(POOL)], timezone="UTC").table)
    data = Dataset.for_training(history, HoldSettings())
    proof = prove_as_of(history, data.table, data.settings, data.scale)
    assert proof.checked == len(data.table) > 1300
    assert proof.differences == ()
