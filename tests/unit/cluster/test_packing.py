import gzip
import hashlib
import importlib.metadata
import json
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from tests.support.limits import prove

from jobsight.cluster import packing
from jobsight.cluster.packing import pack
from jobsight.errors import OutputError, UsageError

BARE = {"PATH": "/usr/bin:/bin"}


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only packages that start quickly: what `jobsight --version` needs."""
    whole = packing._distributions

    def some(root: str) -> dict[str, importlib.metadata.Distribution]:
        needed = ("jobsight", "typer", "rich", "shellingham", "typing-extensions", "annotated-doc")
        return {name: one for name, one in whole(root).items() if name in needed}

    monkeypatch.setattr(packing, "_distributions", some)


def said(*command: str | Path, **environment: str) -> str:
    """What a command prints that sees nothing of our own environment."""
    done = subprocess.run(
        command, env=BARE | environment, capture_output=True, text=True, check=True
    )
    return done.stdout


def unpacked(archive: Path, folder: Path) -> Path:
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    return folder


@pytest.mark.slow
@pytest.mark.usefixtures("few")
def test_what_is_unpacked_anywhere_runs(tmp_path: Path) -> None:
    made = pack(tmp_path / "env.tar.gz", with_python=True)
    assert made["with_python"] and "jobsight" in made["packages"]
    place = unpacked(tmp_path / "env.tar.gz", tmp_path / "there")
    where = "import sys, jobsight; print(sys.prefix, jobsight.__file__)"
    for name in ("some where else", "and 'again"):
        place = place.rename(tmp_path / name)
        assert said(place / "bin/jobsight", "--version").startswith("jobsight ")
        told = said(place / "bin/python3", "-c", where)
        assert told.startswith(f"{place}/python {place}/lib/packages/jobsight/")


@pytest.mark.usefixtures("few")
def test_the_same_environment_gives_the_same_bytes_and_all_hashes(tmp_path: Path) -> None:
    pack(tmp_path / "one.tar.gz")
    pack(tmp_path / "two.tar.gz")
    assert (tmp_path / "one.tar.gz").read_bytes() == (tmp_path / "two.tar.gz").read_bytes()
    pack(tmp_path / "plain.tar")
    with gzip.open(tmp_path / "one.tar.gz") as one:
        assert one.read() == (tmp_path / "plain.tar").read_bytes()
    place = unpacked(tmp_path / "plain.tar", tmp_path / "there")
    manifest = json.loads((place / "manifest.json").read_text())
    found = {
        path.relative_to(place).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in place.rglob("*")
        if path.is_file() and path != place / "manifest.json"
    }
    assert manifest["files"] == found
    assert manifest["with_python"] is False and not (place / "python").exists()
    assert manifest["python"].startswith(f"{sys.version_info.major}.{sys.version_info.minor}.")


@pytest.mark.usefixtures("few")
def test_without_the_interpreter_one_of_the_same_version_is_needed(tmp_path: Path) -> None:
    pack(tmp_path / "env.tar")
    place = unpacked(tmp_path / "env.tar", tmp_path / "there")
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    (tmp_path / "bin").mkdir()
    tools = {"PATH": f"{tmp_path / 'bin'}"}
    for tool in ("sh", "dirname"):
        (tmp_path / "bin" / tool).symlink_to(Path("/bin") / tool)
    told = subprocess.run(
        ["/bin/sh", place / "bin/jobsight"], env=tools, capture_output=True, text=True, check=False
    )
    assert told.returncode == 1 and f"this machine has no python{version}" in told.stderr
    (tmp_path / "bin" / f"python{version}").symlink_to(Path(sys.executable).resolve())
    assert said(place / "bin/jobsight", "--version", **tools).startswith("jobsight ")


def test_all_that_nodes_need_is_found() -> None:
    found = packing._distributions("jobsight")
    assert {"jobsight", "polars", "numba", "lightgbm", "torch"} <= found.keys()
    assert "pytest" not in found and "mypy" not in found


@pytest.mark.usefixtures("few")
def test_bad_names_and_places_are_errors(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not named as an archive"):
        pack(tmp_path / "env.zip")
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot write"):
        pack(tmp_path / "file" / "env.tar")


@prove
def test_the_whole_environment_trains_elsewhere(tmp_path: Path) -> None:
    pack(tmp_path / "env.tar", with_python=True)
    place = unpacked(tmp_path / "env.tar", tmp_path / "there")
    done = "import torch, lightgbm, polars, numba, sklearn; print(torch.ones(3).sum().item())"
    assert said(place / "bin/python3", "-c", done) == "3.0\n"
