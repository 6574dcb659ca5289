"""The wheel: every file is in it, and what it requires is all that the usual commands need."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import tomllib
import venv
import zipfile
from collections.abc import Callable, Iterator, Mapping
from email.parser import Parser
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from tests.support.limits import prove
from tests.support.logtext import HELD, SUBMIT, record

from jobsight import __version__

ROOT = Path(__file__).parents[2]
BUILT_FROM = ("pyproject.toml", "README.md", "LICENSE", "packaging", "src")
SACCT = ROOT / "data" / "samples" / "sacct.psv"
SCRIPT = "#!/bin/bash\n#SBATCH --job-name=sweep --mem=1G --tmie=10\nif [ $# > 1 ]; then true; fi\n"
PYTHONS = ("3.11", "3.12", "3.13")

Record = Callable[[str, object], None]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy of the repository by what is installed here."""
    place = tmp_path_factory.mktemp("wheel")
    for name in BUILT_FROM:
        if (ROOT / name).is_dir():
            unwanted = shutil.ignore_patterns("__pycache__", "*.egg-info")
            shutil.copytree(ROOT / name, place / "tree" / name, ignore=unwanted)
        else:
            (place / "tree").mkdir(exist_ok=True)
            shutil.copy(ROOT / name, place / "tree")
    pip(sys.executable, "wheel", "--no-build-isolation", "-w", place, place / "tree")
    (built,) = place.glob("*.whl")
    return built


def pip(python: str | Path, command: str, *words: str | Path) -> None:
    """Call pip for an environment, without an index."""
    call = [sys.executable, "-m", "pip", "--quiet", "--python", python, command]
    done = subprocess.run(
        [*call, "--no-deps", "--no-index", *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def required(names: Iterator[str], known: dict[str, Distribution]) -> dict[str, Distribution]:
    """What requirements without extras lead to, by name, as it is installed here."""
    for requirement in map(Requirement, names):
        wanted = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        if wanted and requirement.name not in known:
            known[requirement.name] = distribution(requirement.name)
            required(iter(known[requirement.name].requires or ()), known)
    return known


@pytest.fixture(scope="module")
def programs(wheel: Path) -> Path:
    """The programs of an environment that has the wheel and what it requires, and no more."""
    home = wheel.parent / "env"
    venv.create(home, symlinks=True)
    (packages,) = home.glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel) as files:
        (metadata,) = (name for name in files.namelist() if name.endswith(".dist-info/METADATA"))
        described = Parser().parsestr(files.read(metadata).decode())
    for one in required(iter(described.get_all("Requires-Dist", [])), {}).values():
        for file in one.files or ():
            here = Path(str(one.locate_file(file))).resolve()
            inside = ".." not in file.parts
            if inside:
                here = Path(str(one.locate_file(file.parts[0])))
            link = packages / file.parts[0] if inside else home / "bin" / here.name
            if (inside or here.parent.name == "bin") and not link.exists():
                link.symlink_to(here)
    pip(home / "bin" / "python", "install", wheel)
    return home / "bin"


def run(programs: Path, folder: Path, *words: str, status: int = 0) -> str:
    """What `jobsight` of the environment prints to a user who has nothing else."""
    done = subprocess.run(
        [programs / "jobsight", *words],
        cwd=folder, env={"HOME": str(folder), "PATH": "/usr/bin:/bin"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == status, done.stderr
    return done.stdout


def test_every_file_of_the_package_is_in_the_wheel(wheel: Path) -> None:
    source = ROOT / "src"
    expected = {
        path.relative_to(source).as_posix()
        for path in (source / "jobsight").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(wheel) as files:
        names = {name for name in files.namelist() if not name.endswith("/")}
    data = f"jobsight-{__version__}.data/data/share/man/man1/jobsight.1"
    assert {name for name in names if name.startswith("jobsight/")} == expected
    assert data in names
    assert {name.partition("/")[0] for name in names} == {
        "jobsight", f"jobsight-{__version__}.data", f"jobsight-{__version__}.dist-info",
    }  # fmt: skip


def test_the_usual_commands_need_no_extra(programs: Path, tmp_path: Path) -> None:
    (tmp_path / "job.sh").write_text(SCRIPT)
    assert run(programs, tmp_path, "--version") == f"jobsight {__version__}\n"
    found = run(programs, tmp_path, "check", "job.sh", status=1)
    assert "error JS201 --tmie" in found
    assert " SC2071 " in found  # of the ShellCheck that was installed with it
    answer = run(programs, tmp_path, "fail", "job.sh", "--import", str(SACCT), "--model", "none")
    assert "% to fail" in answer
    stored = ("--store", str(tmp_path / "jobs.db"))
    run(programs, tmp_path, "import", str(SACCT), "--timezone", "UTC", *stored)
    assert "sweep" in run(programs, tmp_path, "jobs", *stored)
    for verb in ("start", "bound", "collect", "profile", "events"):
        assert f"jobsight {verb} " in run(programs, tmp_path, verb, "--help")
    (tmp_path / "job.log").write_bytes(record(0, SUBMIT) + record(12, HELD))
    held = run(programs, tmp_path, "hold", "--log", "job.log")
    assert "condor_release -name ap1 123.0" in held


def test_the_man_page_is_where_man_looks_for_it(programs: Path) -> None:
    page = programs.parent / "share" / "man" / "man1" / "jobsight.1"
    assert page.read_text(encoding="utf-8").startswith(".TH JOBSIGHT 1 ")


def test_the_recipe_of_easybuild_installs_this_wheel(wheel: Path) -> None:
    (recipe,) = (ROOT / "packaging" / "easybuild").glob("*.eb")
    values = {
        statement.targets[0].id: ast.literal_eval(statement.value)
        for statement in ast.parse(recipe.read_text(encoding="utf-8")).body
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)
    }
    named = {"name": values["name"], "version": values["version"]}
    toolchain = f"{values['toolchain']['name']}-{values['toolchain']['version']}"
    assert [source % named for source in values["sources"]] == [wheel.name]
    assert recipe.name == f"jobsight-{__version__}-{toolchain}.eb"
    (python,) = (version for name, version in values["dependencies"] if name == "Python")
    assert python.rpartition(".")[0] in PYTHONS
    with zipfile.ZipFile(wheel) as files:
        names = [name.partition(".data/data/")[2] for name in files.namelist()]
        scripts = next(name for name in files.namelist() if name.endswith("entry_points.txt"))
        assert b"jobsight = " in files.read(scripts)
    assert set(values["sanity_check_paths"]["files"]) <= {*names, "bin/jobsight"}


def python_of(version: str) -> str:
    """A Python of this version; those of pyenv need not be on the PATH."""
    shims = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    places = [*map(str, shims.glob(f"{version}.*/bin")), *os.environ["PATH"].split(os.pathsep)]
    for place in places:
        path = shutil.which(f"python{version}", path=place)
        if path and subprocess.run([path, "-V"], capture_output=True, check=False).returncode == 0:
            return path
    pytest.skip(f"Python {version} is not installed")


INSTALL: Mapping[str, str] = {
    "pip": '"$PYTHON" -m venv app && app/bin/pip install -q "$WHEEL" && du -sm app',
    "pipx": '"$TOOLS/pipx" install -q --python "$PYTHON" "$WHEEL" && du -smL pipx/venvs/jobsight',
    "uv": '"$TOOLS/uv" tool install -q --python "$PYTHON" "$WHEEL" && du -sm uv/jobsight',
}
"""By tool: how a user installs the wheel, with what it requires from the package index."""


@prove
@pytest.mark.parametrize("version", PYTHONS)
@pytest.mark.parametrize("tool", INSTALL)
def test_each_installer_installs_it_on_each_python(
    tool: str, version: str, wheel: Path, tmp_path: Path, record_property: Record
) -> None:
    python, tools = python_of(version), wheel.parent / "tools"
    if not (tools / "bin" / "uv").exists():
        venv.create(tools, with_pip=True)
        subprocess.run([tools / "bin" / "pip", "install", "-q", "pipx", "uv"], check=True)
    places = {"PIPX_HOME": "pipx", "PIPX_BIN_DIR": "bin", "PIPX_MAN_DIR": "man",
              "UV_TOOL_DIR": "uv", "UV_TOOL_BIN_DIR": "bin"}  # fmt: skip
    named = {name: str(tmp_path / folder) for name, folder in places.items()}
    named |= {"PYTHON": python, "TOOLS": str(tools / "bin"), "WHEEL": str(wheel)}
    done = subprocess.run(
        ["bash", "-c", INSTALL[tool]], cwd=tmp_path, env=os.environ | named,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    record_property("megabytes", done.stdout.split()[0])
    test_the_usual_commands_need_no_extra(
        tmp_path / ("app/bin" if tool == "pip" else "bin"), tmp_path
    )
    if tool == "pipx":
        assert (tmp_path / "man" / "man1" / "jobsight.1").exists()


def test_the_pythons_that_are_tried_are_those_that_are_promised() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    prefix = "Programming Language :: Python :: 3."
    promised = [one for one in project["classifiers"] if one.startswith(prefix)]
    assert [one.rpartition(" ")[2] for one in promised] == list(PYTHONS)
