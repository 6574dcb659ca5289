"""What the scheduler's tools say, where they are none, fail, or are asked by two calls at once."""

import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.history.slurm.slurm_fakes import FakeClient, FakeJob, FakeSlurm

from jobsight.answering import machine
from jobsight.errors import OutputError, SourceError, UsageError
from jobsight.history.slurm.client import FailureKind
from jobsight.ids import parse_job_name
from jobsight.settings import MachineSettings, Settings, SlurmSettings
from jobsight.store import open_store


class Place:
    """A user of a fake cluster, and what the calls noted."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.slurm = FakeSlurm()
        self.notes: list[str] = []
        self.folder = folder / "own"
        self.settings = self._settings()
        patch.setattr(FakeClient, "has", lambda _self, _tool: True)
        patch.setattr(
            machine, "slurm_client", lambda settings: FakeClient(settings.slurm, self.slurm)
        )
        patch.setattr(machine, "SlurmClient", lambda settings: FakeClient(settings, self.slurm))

    def _settings(self, **machine: object) -> Settings:
        given = {"folder": self.folder, "every": 0, "background": False} | machine
        return Settings(machine=MachineSettings.model_validate(given), slurm=SlurmSettings())

    def ask(self, *names: str, **machine_settings: object) -> list[str]:
        """Ids of the jobs that are known after a call."""
        settings = self._settings(**machine_settings)
        asked = [parse_job_name(name) for name in names]
        url = machine.own_history(settings, lambda _step: None, self.notes.append, asked)
        with open_store(url) as store:
            return sorted(document.id for document in store.scan())


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    return Place(tmp_path, monkeypatch)


def _ended(place: Place, number: int, hours_ago: float) -> None:
    at = round(place.slurm.now - hours_ago * 3600)
    job = FakeJob(str(number), str(number), "COMPLETED", submit=at - 20, start=at - 10, end=at)
    place.slurm.accounts.append(job)


def test_the_queue_and_a_month_of_accounting_are_known_after_one_call(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.time", lambda: float(place.slurm.now))
    place.slurm.queue["9"] = FakeJob("9", "9")
    for number, hours in enumerate((0.5, 3, 40, 29 * 24, 31 * 24), start=1):
        _ended(place, number, hours)
    assert place.ask(days=30) == [f"slurm:fake:{number}" for number in (1, 2, 3, 4, 9)]
    assert place.notes == []
    assert stat.S_IMODE(place.folder.stat().st_mode) == 0o700


def test_a_call_that_follows_soon_asks_nothing_unless_a_job_is_not_known(place: Place) -> None:
    place.slurm.queue["9"] = FakeJob("9", "9")
    place.ask(every=600)
    asked = len(place.slurm.log)
    place.slurm.queue["10"] = FakeJob("10", "10")
    assert place.ask("9", every=600) == ["slurm:fake:9"]
    assert len(place.slurm.log) == asked
    os.utime(place.folder / "looked", (1, 1))
    assert "slurm:fake:10" in place.ask("10", every=600)


def test_a_controller_that_is_down_is_reported_and_what_is_known_still_answers(
    place: Place,
) -> None:
    place.slurm.down = {"squeue": FailureKind.DOWN, "sacct": FailureKind.DOWN}
    with pytest.raises(SourceError, match="in trouble"):
        place.ask()
    place.slurm.down = {}
    place.slurm.queue["9"] = FakeJob("9", "9")
    place.ask()
    place.slurm.down = {"squeue": FailureKind.DOWN, "sacct": FailureKind.DOWN}
    assert place.ask() == ["slurm:fake:9"]
    assert "what is known may be old" in place.notes[-1]


def test_without_accounting_the_queue_alone_is_known_and_that_is_said(place: Place) -> None:
    place.slurm.accounting = "accounting_storage/none"
    place.slurm.queue["9"] = FakeJob("9", "9")
    assert place.ask() == ["slurm:fake:9"]
    assert place.notes == ["Slurm keeps no accounts here: only the jobs of the queue are known"]


def test_of_two_calls_at_once_one_asks_and_both_know(place: Place) -> None:
    place.slurm.queue["9"] = FakeJob("9", "9")
    answers: list[list[str]] = []
    threads = [
        threading.Thread(target=lambda: answers.append(place.ask(every=600))) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [["slurm:fake:9"]] * 2
    assert [words[0] for words in place.slurm.log].count("squeue") == 1


def test_without_tools_the_error_says_how_to_name_a_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    ask: Callable[[], str] = lambda: machine.own_history(Settings(), print, print)  # noqa: E731
    with pytest.raises(UsageError, match=r"--store URL.*no tools of Slurm"):
        ask()


def test_a_folder_that_others_may_write_is_refused(place: Place) -> None:
    place.folder.mkdir()
    place.folder.chmod(0o777)
    with pytest.raises(OutputError, match=r"machine\.folder"):
        place.ask()


def test_a_cluster_without_a_job_is_an_error_that_says_so(place: Place) -> None:
    with pytest.raises(SourceError, match="show no job, neither in the queue"):
        place.ask()


def test_slurm_is_asked_also_where_no_folder_can_keep_what_seldom_changes(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "squeue").write_text("#!/bin/sh\n")
    (tmp_path / "squeue").chmod(0o755)
    client = machine.slurm_client(
        Settings(
            machine=MachineSettings(folder=tmp_path / "open"), slurm=SlurmSettings(bin=tmp_path)
        )
    )
    assert client.queue() == []
    assert list((tmp_path / "open").iterdir()) == []
