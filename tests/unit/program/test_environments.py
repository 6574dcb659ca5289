"""Packages of the environment that a script chooses: a venv of Python, libraries of R."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.program.checking import found

SLURM = "#!/bin/bash\n#SBATCH --mem=1G --time=10\nmodule load lang/1.0\n"


@pytest.mark.parametrize(
    "start", [". v/bin/activate\npython3", "PATH=$PWD/v/bin:$PATH\npython3", "v/bin/python"]
)
@pytest.mark.parametrize("link", [None, "/apps/python/3.11.3/bin/python3", "/apps/bin/python3.11"])
@pytest.mark.parametrize(("config", "wrong"), [("false", [("a.py", 2, "JS107")]), ("true", [])])
def test_a_venv_whose_interpreter_is_not_here(
    start: str, link: str | None, config: str, wrong: list[tuple[str, int, str]]
) -> None:
    text = f"{SLURM}{start} a.py\n=== a.py\nimport emcee\nimport lmfit.models, json\n"
    text += f"=== v/pyvenv.cfg\nhome = /apps\ninclude-system-site-packages = {config}\n"
    text += "=== v/bin/activate\n=== v/lib/python3.11/site-packages/emcee/__init__.py\n"
    if link:
        Path("v/bin").mkdir(parents=True)
        Path("v/bin/python").symlink_to(link)
        Path("v/bin/python3").symlink_to("python")
    assert found(text) == wrong


_FINDER = "MAPPING: dict[str, str] = {'lens': '/src/lens'}\nNAMESPACES: dict[str, list[str]] = {}\n"


@pytest.mark.parametrize(
    ("path", "finder", "wrong"),
    [
        ("{src}\n", "", [2]),
        ("{src}/gone\n", "", []),
        ("import __editable___lens_finder; __editable___lens_finder.install()\n", _FINDER, [2]),
        ("import __editable___lens_finder; __editable___lens_finder.install()\n", "x = 1\n", []),
    ],
)
def test_names_that_an_editable_install_adds(path: str, finder: str, wrong: list[int]) -> None:
    """It names a folder, or maps names to folders."""
    text = f"{SLURM}v/bin/python a.py\n=== a.py\nimport lens\nimport lense_data\n"
    text += "=== v/pyvenv.cfg\nhome = /apps\n=== src/lens/__init__.py\n"
    site = "=== v/lib/python3.11/site-packages/"
    text += f"{site}own.pth\n{path.format(src=Path('src').absolute())}"
    text += f"{site}__editable___lens_finder.py\n{finder}"
    assert found(text) == [("a.py", line, "JS107") for line in wrong]


@pytest.mark.parametrize(
    ("imports", "wrong"),
    [
        ("import plate_oi", True),
        ("from utils.io_helpers import read", True),
        ("from utils.io_helper import read", False),
        ("import plate_io, corners, json", False),
    ],
)
def test_own_modules_where_the_packages_are_not_known(imports: str, wrong: bool) -> None:
    text = f"{SLURM}conda activate plates\npython a.py\n=== a.py\n{imports}\n"
    text += "=== plate_io.py\n=== corner.py\n=== utils/io_helper.py\n"
    assert [one for one in found(text) if one[2] == "JS107"] == [("a.py", 1, "JS107")] * wrong


_VENV = "python3 -m venv v\nsource v/bin/activate\n"


@pytest.mark.parametrize(
    ("build", "listed", "wrong"),
    [
        (f"{_VENV}pip install -q -r r.txt", "pandas>=2\nscikit-learn\n", [1, 4]),
        (f"{_VENV}pip install -r r.txt opencv-python", "pandas\nsklearn\n", []),
        (f"{_VENV}pip install -r r.txt opencv-python", "# of the fit\nseaborn==0.13\n", [2, 4]),
        (f"{_VENV}pip install -r r.txt\npip install .", "pandas\n", []),
        (f"{_VENV}pip install -r r.txt -f wheels/", "pandas\n", []),
        (f"conda env create -f environment.yml -p ./v\n{_VENV}", "pandas\n", []),
    ],
)
def test_an_environment_that_the_job_builds(build: str, listed: str, wrong: list[int]) -> None:
    """What comes along with a listed package is there; with one unknown all may be."""
    text = f"{SLURM}{build}\npython code/a.py\n=== r.txt\n{listed}=== environment.yml\n"
    text += "name: fit\ndependencies:\n  - python=3.11\n  - pip:\n    - pandas\n=== code/a.py\n"
    text += "import cv2\nimport sklearn.svm\nimport numpy, json\nfrom . import part\n"
    text += "=== code/part.py\nimport pandas\nimport os\n\nimport yaml\n"
    assert sorted({line for _, line, code in found(text) if code == "JS107"}) == wrong


_R = "=== R/a.R\nlibrary(stats)\nlibrary(sandwich)\nlibrary(lmtest)\n"
_R += "=== rlib/zoo/DESCRIPTION\n=== rlib/sandwich/DESCRIPTION\n"


@pytest.mark.parametrize(
    ("script", "program", "wrong"),
    [
        ("export R_LIBS_USER=$PWD/rlib\nRscript R/a.R", "", [3]),
        ("Rscript R/a.R", ".libPaths(file.path(getwd(), 'rlib'))\n", [4]),
        ("Rscript R/a.R", "", []),
        ("export R_LIBS=$GROUP/r:rlib\nRscript R/a.R", "", []),
        ("export R_LIBS=rlib\nR CMD INSTALL lmtest.tgz\nRscript R/a.R", "", []),
    ],
)
def test_a_package_that_the_library_of_the_project_lacks(
    script: str, program: str, wrong: list[int]
) -> None:
    text = f"{SLURM}{script}\n{_R}".replace("=== R/a.R\n", f"=== R/a.R\n{program}")
    assert found(text) == [("R/a.R", line, "JS111") for line in wrong]
