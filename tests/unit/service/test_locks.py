import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from jobsight.errors import OutputError, SourceError
from jobsight.locks import is_locked
from jobsight.service.status import locked, store_lock

HOLDER = """
import sys, time
from pathlib import Path
from jobsight.service.status import locked
with locked(Path(sys.argv[1]), "x"):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_second_is_told_who_holds_it_and_gets_it_after_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "lock"
    command = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        assert is_locked(path) is True
        told = pytest.raises(SourceError, match=rf"with it \(process {holder.pid} on \S+\)")
        with told, locked(path, "with it"):
            pass
        holder.kill()
    assert is_locked(path) is False
    with locked(path, "with it"):
        assert path.parent.stat().st_mode & 0o777 == 0o700
        assert path.read_text().split() == [str(os.getpid()), socket.gethostname()]


def test_it_cannot_be_told_of_a_lock_that_is_not_there(tmp_path: Path) -> None:
    assert is_locked(tmp_path / "none") is None


def test_a_lock_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    told = pytest.raises(OutputError, match=r"cannot open the lock file .*; name another$")
    with told, locked(tmp_path / "file" / "lock", "with it", "name another"):
        pass


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OutputError), locked(tmp_path / "lock", "with it"):
        pass
    assert not (tmp_path / "elsewhere").exists()


def test_a_store_of_two_names_has_one_lock(tmp_path: Path) -> None:
    (tmp_path / "jobs.db").touch()
    (tmp_path / "link").symlink_to(tmp_path / "jobs.db")
    lock = tmp_path / "jobs.db.collect.lock"
    for name in ("jobs.db", "link"):
        assert store_lock(str(tmp_path / name)) == lock
        assert store_lock(f"sqlite://{tmp_path / name}") == lock
    assert store_lock("redis://127.0.0.1/0") is None
