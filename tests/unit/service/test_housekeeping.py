"""When old jobs move to the archive."""

import threading
import time
from pathlib import Path

from jobsight.service.collector import Housekeeper
from jobsight.settings import CollectSettings
from jobsight.store import Put, open_store
from jobsight.testing import made_document

HOUR = 3_600_000_000


def test_few_old_jobs_wait_for_more_and_for_a_day_at_most(tmp_path: Path) -> None:
    now = time.time_ns() // 1000
    with open_store(str(tmp_path / "jobs.db"), create=True) as store:
        keeper = Housekeeper(CollectSettings(prune_jobs=3), 3600.0, threading.Event())
        keeper.opened(store)

        def moved_after(number: int, hours: int) -> int:
            store.put([Put(made_document(number, time=now - hours * HOUR))])
            keeper.prune()
            told = keeper.snapshot()
            assert told["errors"] == 0
            return store.status().archived

        assert [moved_after(number, 2) for number in range(6)] == [0, 0, 3, 3, 3, 6]
        assert moved_after(6, 24) == 6
        assert moved_after(7, 26) == 8
        assert keeper.snapshot()["pruned"] == 8
