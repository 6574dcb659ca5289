"""What binds jobs, on a real Slurm: classified, run, measured, found wrong, learned, then right.

A site has a library of its own that nothing here has heard of: `beamline.hold_until_stable` waits
for a device. Programs that use it look as if they computed; their measured runs teach otherwise.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.testbed import SlurmCluster
from tests.testbed.namespace import until
from typer.testing import CliRunner

from jobsight.cli.main import app
from jobsight.documents import parse_key
from jobsight.store import open_store

pytestmark = pytest.mark.slow

CORPUS = Path(__file__).parents[2] / "corpus" / "programs"
LIBRARY = '''"""The site's own: the device settles while the program does nothing."""
import select


def hold_until_stable(seconds):
    select.select([], [], [], seconds)
'''
PROGRAM = """import math

import beamline


def residual(samples, order):
    total = 0.0
    for index in range(samples):
        total += math.sin(index * {step}) ** order
    return total / samples


for turn in range({turns}):
    beamline.hold_until_stable({seconds})
    print(turn, residual({samples}, {order}))
"""
NUMBERS = [
    {"step": 0.01 * k, "turns": 2 + k % 3, "seconds": 4.0 / (2 + k % 3), "samples": 900 + 70 * k,
     "order": 2 + k % 2}
    for k in range(1, 17)
]  # fmt: skip


@dataclass
class Site:
    """A cluster, a store, and a folder that jobs see."""

    cluster: SlurmCluster
    folder: Path
    config: Path
    url: str

    def said(self, *call: str) -> str:
        """What a command prints on this store."""
        arguments = [*call, "--config", str(self.config)]
        result = CliRunner().invoke(app, arguments, catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.stdout

    def run(self, names: list[str]) -> list[str]:
        """Run programs as jobs that are profiled; their ids."""
        own = f"{Path(sys.prefix) / 'bin' / 'jobsight'} profile --save --store {self.url}"
        start = f"cd {self.folder}\nexport PYTHONPATH={self.folder}/site\n{own} -- python3"
        jobs = [self.cluster.submit(f"{start} {name}\n", user="root") for name in names]
        for job in jobs:
            self.cluster.wait(job)
        return jobs

    def collect(self, jobs: list[str]) -> None:
        """Look at the cluster until the store has the scripts of jobs: a look fetches some."""

        def known() -> bool:
            self.said("collect", "--slurm", "--once", "--store", self.url)
            with open_store(self.url) as store:
                found = {parse_key(one.id).job for one in store.scan() if one.submission.script}
            return found >= set(jobs)

        until(known, "the scripts of the jobs")

    def bound(self, *names: str, model: Path | None = None) -> list[str]:
        """The classes of programs or jobs, the answers of jobs saved."""
        options = ["--json", *([] if model is None else ["--model", str(model)])]
        saved = [] if Path(names[0]).exists() else ["--save"]
        found = json.loads(self.said("bound", *names, *options, *saved, "--store", self.url))
        return [one["class"] for one in (found if isinstance(found, list) else [found])]

    def right(self) -> dict[str, int]:
        """Jobs whose prediction was right, by model."""
        found = json.loads(self.said("review", "bound", "--json", "--store", self.url))
        assert all(one["observed"] == ["waiting"] for one in found["confusion"]), found
        counts: dict[str, int] = {}
        for one in found["confusion"]:
            counts[one["model"]] = counts.get(one["model"], 0) + one["jobs"] * one["right"]
        return counts


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, slurm_cluster: SlurmCluster) -> Iterator[Site]:
    folder = slurm_cluster.folder / "work" / "beamline"
    (folder / "site").mkdir(parents=True)
    (folder / "site" / "beamline.py").write_text(LIBRARY)
    for number, numbers in enumerate(NUMBERS):
        (folder / f"refine_{number}.py").write_text(PROGRAM.format(**numbers))
    config = tmp_path_factory.mktemp("bound") / "jobsight.yaml"
    slurm = {"bin": str(slurm_cluster.bin)}
    config.write_text(json.dumps({"slurm": slurm, "registry": str(config.parent / "models")}))
    url = str(folder / "jobs.db")
    open_store(url, create=True).close()
    yield Site(slurm_cluster, folder, config, url)
    shutil.rmtree(folder)


def test_what_a_site_measures_corrects_what_is_said_of_its_jobs(site: Site, tmp_path: Path) -> None:
    programs = [str(site.folder / f"refine_{k}.py") for k in range(len(NUMBERS))]
    said = site.bound(*programs[:-1])
    assert "waiting" not in said, said
    jobs = site.run(programs[:-1])
    site.collect(jobs)
    site.bound(*jobs)
    before = site.right()
    site.said(
        "train", "bound", str(CORPUS), site.url, "--model", "stack", "-o", str(tmp_path / "m")
    )
    learned = tmp_path / "m"
    assert site.bound(programs[-1], model=learned) == ["waiting"]
    site.bound(*jobs, model=learned)
    after = site.right()
    assert sum(before.values()) == 0
    assert max(after.values()) == len(jobs)
