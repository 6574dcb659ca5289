"""What Python can import in an environment that a job builds from lists of packages."""

from __future__ import annotations

import re
import sys
from itertools import pairwise

from jobsight.program.preflight.job import Job
from jobsight.program.preflight.traces import text_here
from jobsight.program.shell.model import Command, Program, Word

__all__ = ["built_for", "requirement_of"]

_PACKAGES = """
ase: numpy scipy matplotlib; asteval; astropy-iers-data; astropy: numpy pyerfa astropy-iers-data
pyyaml packaging; attrs attr; beautifulsoup4 bs4: soupsieve typing-extensions; biopython Bio
BioSQL: numpy; bottleneck: numpy; certifi; cftime: numpy; charset-normalizer; click; cloudpickle;
contourpy: numpy; corner: numpy scipy matplotlib; cycler; cython Cython; dask: click cloudpickle
fsspec packaging partd pyyaml toolz importlib-metadata; dill; docopt; emcee: numpy; et-xmlfile;
filelock; fonttools fontTools; fsspec; h5py: numpy; idna; imageio: numpy pillow;
importlib-metadata: zipp; jinja2: markupsafe; joblib; kiwisolver; lazy-loader; lightgbm: numpy
scipy; llvmlite; lmfit: numpy scipy asteval uncertainties dill; locket; loguru; lxml; markupsafe;
matplotlib mpl_toolkits pylab: numpy contourpy cycler fonttools kiwisolver packaging pillow
pyparsing python-dateutil; matplotlib-base: matplotlib; mpi4py; mpmath; narwhals; netcdf4 netCDF4:
numpy cftime certifi; networkx; numba: numpy llvmlite; numexpr: numpy; numpy; opencv:
opencv-python; opencv-python cv2: numpy; opencv-python-headless cv2: numpy; openpyxl: et-xmlfile;
packaging; pandas: numpy python-dateutil pytz tzdata; partd: locket toolz; patsy: numpy; pillow
PIL; pip; polars; psutil; pyarrow; pybind11; pyerfa erfa: numpy; pyparsing; pyproj: certifi;
pysam; python: pip setuptools wheel; python-dateutil dateutil: six; pytorch: torch; pytz; pyyaml
yaml _yaml; requests: urllib3 certifi idna charset-normalizer; scikit-image skimage: numpy scipy
networkx pillow imageio tifffile packaging lazy-loader; scikit-learn sklearn: numpy scipy joblib
threadpoolctl narwhals; scipy: numpy; seaborn: numpy pandas matplotlib; setuptools pkg_resources;
shapely: numpy; simplejson; six; soupsieve; statsmodels: numpy scipy pandas patsy packaging;
sympy: mpmath; tabulate; threadpoolctl; tifffile: numpy; toml; toolz; torch functorch torchgen
triton: filelock typing-extensions sympy networkx jinja2 fsspec setuptools; tqdm;
typing-extensions; tzdata; uncertainties; urllib3; wheel; xarray: numpy pandas packaging; xgboost:
numpy scipy; xlrd; zipp
"""
"""Packages, with the names that they add where these differ, and the packages that they need."""

_PARTS = [one.partition(":") for one in _PACKAGES.split(";")]
_KNOWN = {front.split()[0]: (front.split(), needs.split()) for front, _, needs in _PARTS}
_CREATES = re.compile(r"(?m)^[^#\n]*\b(?:conda|mamba|micromamba)\s+(?:env\s+)?create\b")


def requirement_of(module: str) -> str:
    """The package that adds a module."""
    return next((name for name, (adds, _) in _KNOWN.items() if module in adds[1:]), module)


def built_for(program: Program, job: Job) -> tuple[str, frozenset[str]] | None:
    """The list that a job builds the environment of a program from, and what can be imported.

    None: it builds none, or one of the packages is not known with all that it needs.
    """
    command = program.command
    before: list[Command] = []
    for one in job.commands:
        if one is command:
            break
        before.append(one)
    made = [one for one in before if {"create"} & {w.text for w in one.arguments[:2]}]
    if re.search(r"PYTHONPATH|--system-site|\bspack\b|\$\(pip|easy_install", job.text):
        return None
    if command.environment.fresh:
        if _CREATES.search(job.text):
            return None
        installs = [words for one in before if (words := _installed(one)) is not None]
        lists = [found for words in installs for found in _pip(words, before, job)]
    elif len(made) == 1 and len(_CREATES.findall(job.text)) == 1 and "install" not in job.text:
        form = r"(?m)^[ \t]*(?:source|conda|mamba|micromamba)\s+activate\s+(\S+)"
        entered = re.findall(form, job.text)
        own = "/" in (program.interpreter or "")
        if not own and (len(entered) != 1 or entered[0] == "base"):
            return None
        words = made[0].arguments
        files = [b for a, b in pairwise(words) if a.text in ("-f", "--file")]
        lists = [_conda(one, made[0], job) for one in files]
    else:
        return None
    if not lists or any(one is None for _, one in lists):
        return None
    names = {"pip", "setuptools", "wheel"} | {one for _, some in lists for one in some or ()}
    known = _imported(names)
    return None if known is None else (lists[-1][0], known)


def _installed(command: Command) -> tuple[Word, ...] | None:
    """The words behind ``pip install``; None: it is another command."""
    texts = [one.text for one in command.words[:5]]
    at = texts.index("install") if "install" in texts else 0
    called = at and any(re.search(r"(?:^|/)pip[\d.]*$|^uv$", one) for one in texts[:at])
    return command.words[at + 1 :] if called else None


def _pip(
    words: tuple[Word, ...], before: list[Command], job: Job
) -> list[tuple[str, list[str] | None]]:
    """For each list or package of a call of pip: its name, and the packages; None: not known."""
    folder = next((one.folder for one in before if {*words[:1]} & {*one.words}), None)
    found: list[tuple[str, list[str] | None]] = []
    taken = ""
    for word in words:
        option, taken = taken, ""
        if option in ("-r", "--requirement"):
            found.append((word.text, _requirements(word, folder, job)))
        elif option in ("-c", "--constraint"):
            continue
        elif word.text in ("-r", "--requirement", "-c", "--constraint"):
            taken = word.text
        elif word.text in (".", "-e"):
            found.append((word.text, None))
        elif not word.text.startswith("-"):
            found.append(("pip install", _packages([word.value or "?"])))
    return found


def _packages(lines: list[str]) -> list[str] | None:
    """The packages that lines of a list name; None: one of them is not a plain name."""
    bare = [re.sub(r"\s*(?:(?:^|\s)#.*|;.*)", "", one).strip() for one in lines]
    names = [re.fullmatch(r"([\w.-]+?)\s*(?:[<>=!~].*)?", one) for one in bare if one]
    if not all(names):
        return None
    return [re.sub(r"[-_.]+", "-", one[1].lower()) for one in names if one]


def _requirements(word: Word, folder: str | None, job: Job) -> list[str] | None:
    text = text_here(word, folder, job)
    return None if text is None else _packages(text.splitlines())


def _conda(word: Word, command: Command, job: Job) -> tuple[str, list[str] | None]:
    """The packages of an ``environment.yml``, with those for pip."""
    text = text_here(word, command.folder, job)
    block = re.search(r"(?m)^dependencies:[ \t]*\n((?:[ \t]*(?:-.*|#.*)?(?:\n|$))+)", text or "")
    if block is None:
        return word.text, None
    items = re.findall(r"(?m)^[ \t]*-[ \t]*[\"']?([^\"'\n]+)", block[1])
    return word.text, _packages([one for one in items if one.strip() != "pip:"])


def _imported(packages: set[str]) -> frozenset[str] | None:
    """What packages and all that they need add; None: one is not known."""
    names, seen, waiting = set(sys.stdlib_module_names), set[str](), list(packages)
    while waiting:
        if (one := waiting.pop()) in seen:
            continue
        if one not in _KNOWN:
            return None
        seen.add(one)
        adds, needs = _KNOWN[one]
        names |= {one.replace("-", "_"), *adds[1:]}
        waiting += needs
    return frozenset(names)
