"""The thread that follows the store."""

import gc
import threading
from pathlib import Path
from weakref import ref

import pytest
from tests.support.limits import limit
from tests.support.serving import documents
from tests.support.storedjobs import filled

from jobsight.answering.tables import Tables
from jobsight.errors import JobError
from jobsight.service.web.ready import Follower, Ready
from jobsight.settings import ServeSettings, Settings
from jobsight.store import open_store


def test_asked_to_stop_while_it_looks_it_waits_for_no_further_look(tmp_path: Path) -> None:
    looking, going_on = threading.Event(), threading.Event()

    def prepare(_ready: Ready) -> None:
        looking.set()
        going_on.wait(limit(30))

    settings = Settings(serve=ServeSettings(follow_seconds=60))
    with open_store(filled(tmp_path / "jobs.db", documents())) as store:
        others = set(threading.enumerate())
        follower = Follower(store, settings, prepare, lambda *_: None)
        follower.start()
        assert looking.wait(limit(30))
        timer = threading.Timer(0.2, going_on.set)  # behind the beginning of `stop`
        timer.start()
        follower.stop()
        timer.join()
    left = {one.name for one in set(threading.enumerate()) - others}
    assert "follower" not in left


def test_what_could_not_be_made_holds_no_state_of_the_store(tmp_path: Path) -> None:
    def make() -> object:
        raise JobError("no such job")

    with open_store(filled(tmp_path / "jobs.db", documents())) as store:
        ready, later = (Ready(Tables.read(store), Settings()) for _ in range(2))
    for _ in range(2):
        with pytest.raises(JobError, match="no such job"):
            ready.cached(("job", "a"), 60.0, make)
    later.keep(ready, ())
    gone = ref(ready)
    gc.disable()
    try:
        del ready
        assert gone() is None
    finally:
        gc.enable()
    with pytest.raises(JobError):
        later.cached(("job", "a"), 60.0, dict)
