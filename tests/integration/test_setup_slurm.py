"""``jobsight setup slurm`` on real clusters whose sites have scripts of their own, and the policy.

Whatever is in our files, the site's scripts do what they did, and jobs are submitted.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.support.limits import limit, prove
from tests.testbed.errors import BedError
from tests.testbed.namespace import until
from tests.testbed.slurm import SlurmCluster

from jobsight.acting.slurm.installing import Cluster
from jobsight.acting.slurm.policy import Rule, policy_file, render, withdraw, write
from jobsight.clock import now_micros
from jobsight.settings import ActingSettings, Mode, Settings, SlurmSettings

pytestmark = pytest.mark.slow

USER = "games"
"""Known to the test's machine and in the cluster, under the same number."""
RULES = {(USER, "train-7"): Rule({"membw": 30}, {"fs": 2}, "jobsight: 30 of 100 of membw")}
SITE = {
    "job_submit.lua": """\
function slurm_job_submit(job, partitions, uid)
    if job.name == "forbidden" then
        slurm.log_user("not on this cluster")
        return slurm.ERROR
    end
    if job.comment == nil then job.comment = "by the site" end
    return slurm.SUCCESS
end
function slurm_job_modify(job, record, partitions, uid)
    return slurm.SUCCESS
end
-- here
return slurm.SUCCESS
""",
    "cli_filter.lua": """\
function slurm_cli_setup_defaults(options, early)
    return slurm.SUCCESS
end
function slurm_cli_pre_submit(options, offset)
    -- here
    options["nice"] = "7"
    return slurm.SUCCESS
end
function slurm_cli_post_submit(offset, job, step)
    return slurm.SUCCESS
end
""",
}
GRES = "Name=membw Count=100 Flags=CountOnly\nName=diskbw Count=100 Flags=CountOnly\n"


class Site:
    """A cluster with scripts of its own, and who administers it."""

    def __init__(self, cluster: SlurmCluster) -> None:
        self.cluster = cluster
        self.etc = cluster.folder / "etc/slurm"
        folder = cluster.folder / "acting"
        folder.mkdir()
        folder.chmod(0o755)
        self.acting = ActingSettings(mode="enforce", folder=folder)
        conf = self.etc / "slurm.conf"
        self.slurm = SlurmSettings(bin=cluster.bin, conf=conf)
        self.second = time.time()

    def setup(self, *words: str, status: int = 0) -> str:
        """Both outputs of ``jobsight setup slurm``."""
        settings = {
            "slurm": self.slurm.model_dump(mode="json"),
            "acting": self.acting.model_dump(mode="json"),
        }
        file = self.cluster.folder / "settings.yaml"
        file.write_text(json.dumps(settings))
        line = [sys.executable, "-m", "jobsight", "setup", "slurm", *words, "--config", str(file)]
        done = subprocess.run(line, check=False, capture_output=True, text=True)
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout + done.stderr

    def files(self) -> dict[str, str]:
        return {path.name: path.read_text() for path in self.etc.iterdir()}

    def edit(self, lines: str) -> None:
        """Add the lines that ``setup`` shows to the scripts of the site; none: take them out."""
        for name, text in SITE.items():
            said = re.search(rf"^to \S*{name}.*:\n  (.+)$", lines, re.M)
            (self.etc / name).write_text(text.replace("-- here", said[1] if said else "-- here"))
            self.touch(name)

    def touch(self, name: str = "job_submit.lua") -> None:
        """Let slurmctld load the script anew, and with it the policy: its second is a new one."""
        self.second = max(self.second + 1, time.time())
        os.utime(self.etc / name, (self.second, self.second))

    def write(self, mode: Mode = "enforce") -> None:
        write(self.acting.model_copy(update={"mode": mode}), RULES)
        self.touch()

    def settle(self) -> None:
        """Until slurmctld looks at the policy by itself: it does so at a submission every 2 s."""
        begun = time.monotonic()
        until(lambda: time.monotonic() - begun > 3, "two seconds to pass")

    def submit(self, *options: str, user: str = USER, name: str = "train-12") -> dict[str, str]:
        """What slurmctld has of a job that was submitted and is held."""
        number = self.cluster.submit("exit 0", "--hold", f"--job-name={name}", *options, user=user)
        said = self.cluster.run("scontrol", "-o", "show", "job", number)
        fields = dict(re.findall(r"(\w+)=(.*?)(?= \w+=|$)", said))
        asked = ("TresPerNode", "Licenses", "AdminComment", "Comment", "Nice")
        found = {key: fields.get(key, "(null)").strip() for key in asked}
        return {key: value for key, value in found.items() if value != "(null)"}


AS_IT_CAME = {"Comment": "by the site", "Nice": "7"}


@pytest.fixture(scope="module", params=["24.11", pytest.param("22.05", marks=prove)])
def site(bed_ready: None, request: pytest.FixtureRequest) -> Iterator[Site]:
    settings = [
        "JobSubmitPlugins=lua", "CliFilterPlugins=cli_filter/lua", "GresTypes=membw,diskbw",
        "Licenses=fs:10", "NodeName=DEFAULT Gres=membw:100,diskbw:100",
    ]  # fmt: skip
    files = {**SITE, "gres.conf": GRES}
    with SlurmCluster(request.param, settings=settings, files=files) as cluster:
        yield Site(cluster)


@pytest.fixture(autouse=True)
def clean(site: Site) -> Iterator[None]:
    yield
    site.cluster.run("scancel", f"--user={USER}")
    site.cluster.cancel_all()
    withdraw(site.acting)
    site.setup("--remove")
    site.edit("")


def prefix(site: Site) -> str:
    return "gres:" if site.cluster.version == "22.05" else "gres/"


def given(site: Site) -> dict[str, str]:
    return {
        "TresPerNode": f"{prefix(site)}membw:30",
        "Licenses": "fs:2",
        "AdminComment": "jobsight: 30 of 100 of membw",
        **AS_IT_CAME,
    }


def test_files_come_and_go_next_to_the_scripts_of_the_site(site: Site) -> None:
    before = site.files()
    assert site.submit() == AS_IT_CAME
    assert "#### jobsight-submit.lua" in site.setup("--print")
    assert site.files() == before
    shown = site.setup("--install")
    assert "missing: a call of jobsight-submit.lua" in shown
    assert "missing: lua in" not in shown
    assert "missing: a partition" not in shown
    after = site.files()
    assert {name: after[name] for name in before} == before
    assert all(name.startswith("jobsight-") for name in set(after) - set(before))
    assert '\nlocal TOKENS = "diskbw:100,membw:100"\n' in after["jobsight-submit.lua"]
    assert '\nlocal PARTITIONS = "main,short"\n' in after["jobsight-submit.lua"]
    assert '\nlocal LICENCES = "fs:10"\n' in after["jobsight-submit.lua"]
    site.edit(shown)
    assert "missing: a call of jobsight-submit.lua" not in site.setup("--install")
    assert site.submit() == AS_IT_CAME  # there is no policy
    write(site.acting, RULES)
    site.settle()
    assert site.submit() == given(site)
    shown = site.setup("--remove")
    assert "job_submit.lua has a line for jobsight-submit.lua still" in shown
    assert set(site.files()) == set(before)
    # What slurmctld has loaded, what it loads anew, and after a start.
    withdraw(site.acting)
    site.settle()
    assert site.submit() == AS_IT_CAME
    write(site.acting, RULES)
    site.touch()
    assert site.submit() == AS_IT_CAME
    site.cluster.stop_slurmctld()
    site.cluster.start_slurmctld()
    assert site.submit() == AS_IT_CAME
    with pytest.raises(BedError):
        site.submit(name="forbidden")


def test_what_jobs_get(site: Site) -> None:
    site.edit(site.setup("--install"))
    site.write()
    tokens, everything = f"{prefix(site)}membw:30", given(site)
    assert site.submit("--partition=short") == everything
    both = f"{prefix(site)}diskbw:5,{tokens}"
    assert site.submit("--gres=diskbw:5") == {**everything, "TresPerNode": both}
    own = f"{prefix(site)}membw:0"
    assert site.submit("--gres=membw:0") == {**everything, "TresPerNode": own}
    assert site.submit("--licenses=fs:1") == {**everything, "Licenses": "fs:1"}
    refused = {"Comment": "jobsight=none", "Nice": "7"}
    assert site.submit("--comment=jobsight=none") == refused
    assert site.submit(user="alice") == AS_IT_CAME
    assert site.submit(name="other") == AS_IT_CAME
    with pytest.raises(BedError):
        site.submit(name="forbidden")
    job = site.cluster.submit("exit 0", "--job-name=train-1", "--array=0-1", user=USER)
    assert set(site.cluster.wait(job).values()) == {"COMPLETED"}
    line = ("--job-name=train-2", "--chdir=/tmp", "true")
    site.cluster.run("srun", *line, user=USER)
    site.cluster.run("salloc", *line, user=USER)
    rows = site.cluster.run("scontrol", "-o", "show", "job").splitlines()
    rows = [row for row in rows if "JobName=train-2" in row]
    assert len(rows) == 2
    assert all(f"TresPerNode={tokens}" in row for row in rows)


@pytest.mark.parametrize("mode", ["observe", "advise"])
def test_other_modes_give_no_tokens(site: Site, mode: Mode) -> None:
    site.edit(site.setup("--install"))
    site.write(mode)
    comment = {"AdminComment": given(site)["AdminComment"]} if mode == "advise" else {}
    assert site.submit() == {**AS_IT_CAME, **comment}
    log = (site.cluster.folder / "logs/slurmctld.log").read_text()
    assert mode == "advise" or "would set for a job of user 5: gres=membw:30 licenses=fs:2" in log


def test_tokens_limit_what_runs_together(site: Site) -> None:
    site.edit(site.setup("--install"))
    rule = Rule({"membw": 60})
    write(site.acting, {(USER, "heavy"): rule})
    site.touch()
    jobs = [
        site.cluster.submit("sleep 60", "--job-name=heavy", "--mem=10", user=USER) for _ in range(3)
    ]
    for job in jobs[:2]:
        site.cluster.wait_running(job)
    shown = ("squeue", "-h", "-o", "%T %r", "-j", jobs[2])
    until(lambda: site.cluster.run(*shown).split() == ["PENDING", "Resources"], "the third to wait")
    nodes = {site.cluster.run("squeue", "-h", "-o", "%N", "-j", job) for job in jobs[:2]}
    assert len(nodes) == 2


POLICIES: dict[str, Callable[[], str]] = {
    "stale": lambda: render(RULES, "enforce", now_micros() - 25 * 3_600_000_000),
    "code": lambda: "while true do end\n",
    "escape": lambda: 'os.execute("touch /tmp/jobsight-was-run")\n',
    "huge": lambda: render(RULES, "enforce", now_micros()) + "x" * (64 << 20),
    "cut": lambda: render(RULES, "enforce", now_micros())[:-20],
    "unknown gres": lambda: _with("membw:30", "nosuch:1"),
    "too many tokens": lambda: _with("membw:30", "membw:101"),
    "unknown licence": lambda: _with("fs:2", "nosuch:1"),
    "nonsense": lambda: _with("membw:30", "gres/membw:30:,,:"),
    "bytes": lambda: "\x00\x01\x7f" * 1000,
}


def _with(old: str, new: str) -> str:
    """A policy of a hostile writer, without its other parts."""
    text = render(RULES, "enforce", now_micros())
    for part in ("membw:30", "fs:2", "jobsight: 30 of 100 of membw"):
        text = text.replace(part, new if part == old else "")
    return text


def test_a_damaged_or_hostile_policy_changes_nothing(site: Site) -> None:
    site.edit(site.setup("--install"))
    for case, text in POLICIES.items():
        policy_file(site.acting).write_text(text())
        site.touch()
        begun = time.monotonic()
        assert site.submit() == AS_IT_CAME, case
        assert time.monotonic() - begun < limit(3), case
    policy_file(site.acting).unlink()
    for target in ("/dev/zero", "/etc", "/nowhere"):
        with contextlib.suppress(FileNotFoundError):
            policy_file(site.acting).unlink()
        policy_file(site.acting).symlink_to(target)
        site.touch()
        assert site.submit() == AS_IT_CAME, target
    assert not (site.cluster.namespace.root / "tmp/jobsight-was-run").exists()
    policy_file(site.acting).unlink()
    site.write()
    assert site.submit() == given(site)


@pytest.mark.parametrize("text", ["function (", "error('x')", "return 7", "\x1bLua", ""])
def test_a_damaged_file_of_ours_stops_no_submission(site: Site, text: str) -> None:
    site.edit(site.setup("--install"))
    site.write()
    for name in site.files():
        if name.startswith("jobsight-"):
            (site.etc / name).write_text(text)
    site.touch()
    assert site.submit() == AS_IT_CAME
    if text == "function (":
        site.cluster.stop_slurmctld()
        site.cluster.start_slurmctld()
        assert site.submit() == AS_IT_CAME


def test_what_is_missing_is_named(site: Site) -> None:
    cluster = Cluster(Settings(slurm=site.slurm, acting=site.acting), None)
    assert cluster.folder == site.etc
    right = "the right of alice to write AdminComment"
    assert any(line.startswith(right) for line in cluster.missing("alice"))
    assert not any("AdminComment" in line for line in cluster.missing("slurm"))
    change = ("sacctmgr", "-i", "modify", "user", "name=alice", "set")
    site.cluster.run(*change, "AdminLevel=Administrator")
    assert not any("AdminComment" in line for line in cluster.missing("alice"))
    site.cluster.run(*change, "AdminLevel=None")
    site.acting.folder.chmod(0o700)
    assert any(line.startswith("SlurmUser's right") for line in cluster.missing("root"))
    site.acting.folder.chmod(0o755)


def test_without_a_folder_that_is_known_nothing_is_written(site: Site, tmp_path: Path) -> None:
    away = site.slurm.model_copy(update={"bin": tmp_path, "conf": None})
    site.slurm, kept = away, site.slurm
    try:
        assert "name the folder of the files with --folder" in site.setup("--install", status=2)
        assert "give one of" in site.setup(status=2)
        shown = site.setup("--install", "--folder", str(tmp_path / "new"))
        assert "missing: the cluster's configuration" in shown
        assert f'pcall(dofile, "{tmp_path}/new/jobsight-submit.lua")' in shown
        # Whether slurmd calls them is not known.
        refused = site.setup("--remove", "--folder", str(tmp_path / "new"), status=1)
        assert "the cluster's configuration is not known" in refused
    finally:
        site.slurm = kept
