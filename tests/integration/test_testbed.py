"""The test bed itself: real clusters that do what tests of Jobsight rely on."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from tests.support.limits import limit, prove
from tests.testbed import (
    BedError,
    HtcondorPool,
    KafkaBroker,
    RedisServer,
    SlurmCluster,
    Unavailable,
)
from tests.testbed.namespace import new_folder, remove, until
from tests.testbed.roots import mirror
from tests.testbed.sites import SiteBroker, SiteCluster, SitePool, SiteServer

ROOT = Path(__file__).resolve().parents[2]
pytestmark = prove


def test_a_job_runs_on_each_site(condor_pool: HtcondorPool) -> None:
    clusters = {site: condor_pool.submit("exit 3", site=site) for site in ("ALPHA", "BETA")}
    for site, cluster in clusters.items():
        (ad,) = condor_pool.wait(cluster)
        assert ad["ExitCode"] == 3
        assert f"@{site.lower()}@" in ad["LastRemoteHost"]


def test_a_broken_origin_holds_until_it_is_mended(condor_pool: HtcondorPool) -> None:
    condor_pool.fail(site="BETA", origin="store", status=3, message="store is down")
    inputs = "testbed://store/data?bytes=1000"
    script = "test $(wc -c <data) = 1000"
    broken = condor_pool.submit(script, site="BETA", transfer_input_files=inputs)
    sound = condor_pool.submit(script, site="ALPHA", transfer_input_files=inputs)
    ad = condor_pool.wait_held(broken)
    assert (ad["HoldReasonCode"], ad["HoldReasonSubCode"]) == (13, 3 * 256)
    assert "store is down" in ad["HoldReason"]
    assert condor_pool.wait(sound)[0]["ExitCode"] == 0
    condor_pool.mend(site="BETA", origin="store")
    condor_pool.release(broken)
    assert condor_pool.wait(broken)[0]["ExitCode"] == 0


def test_the_pool_holds_by_policy(condor_pool: HtcondorPool) -> None:
    slow = condor_pool.submit("sleep 60", MyMaxSeconds=1)
    greedy = condor_pool.submit("x=$(head -c 200000000 /dev/zero | tr '\\0' x); sleep 60")
    ads = [condor_pool.wait_held(cluster) for cluster in (slow, greedy)]
    codes = [(ad["HoldReasonCode"], ad["HoldReasonSubCode"]) for ad in ads]
    for cluster in (slow, greedy):
        condor_pool.remove(cluster)
    assert codes == [(26, 120), (26, 102)]


def test_the_event_log_and_the_tools_are_seen_from_the_host(condor_pool: HtcondorPool) -> None:
    cluster = condor_pool.submit("exit 0", count=2, hold=True)
    condor_pool.release(cluster)
    condor_pool.hold(cluster)
    path = os.pathsep.join([str(condor_pool.bin), os.environ["PATH"]])

    def tool(*command: str) -> str:
        environment = os.environ | {"PATH": path}
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True
        ).stdout

    assert tool("condor_config_val", "EVENT_LOG").strip() == str(condor_pool.event_log)
    assert len(json.loads(tool("condor_q", str(cluster), "-json"))) == 2
    condor_pool.release(cluster)
    assert {ad["ExitCode"] for ad in condor_pool.wait(cluster)} == {0}
    log = condor_pool.event_log.read_text()
    for code in ("000", "012", "013", "001", "005"):
        assert f"\n{code} ({cluster:03d}.001.000) " in log


def test_a_killed_schedd_comes_back_with_its_queue(condor_pool: HtcondorPool) -> None:
    cluster = condor_pool.submit("exit 0", hold=True)
    condor_pool.restart_schedd()
    assert condor_pool.job(cluster)["JobStatus"] == 5
    condor_pool.remove(cluster)


def test_an_ended_slurm_job_and_its_script_are_in_the_accounts(slurm_cluster: SlurmCluster) -> None:
    job = slurm_cluster.submit("echo findable; exit 4", "--comment=note")
    assert slurm_cluster.wait(job) == {job: "FAILED"}
    assert slurm_cluster.wait_accounted(job) == [
        {"JobID": job, "State": "FAILED", "ExitCode": "4:0"}
    ]
    assert "echo findable" in slurm_cluster.run("sacct", "-j", job, "--batch-script")


def test_arrays_and_heterogeneous_jobs(slurm_cluster: SlurmCluster) -> None:
    array = slurm_cluster.submit("exit $SLURM_ARRAY_TASK_ID", "--array=0-2%2")
    mixed = slurm_cluster.submit("exit 0", "-n1", ":", "-n2")
    assert slurm_cluster.wait(array) == {
        f"{array}_0": "COMPLETED",
        f"{array}_1": "FAILED",
        f"{array}_2": "FAILED",
    }
    assert slurm_cluster.wait(mixed) == {f"{mixed}+0": "COMPLETED", f"{mixed}+1": "COMPLETED"}
    rows = slurm_cluster.wait_accounted(array)
    assert {row["JobID"]: row["ExitCode"] for row in rows}[f"{array}_2"] == "2:0"


def test_a_requeued_job_ends_twice(slurm_cluster: SlurmCluster) -> None:
    job = slurm_cluster.submit("test ${SLURM_RESTART_COUNT:-0} = 1 || sleep 60")
    slurm_cluster.wait_running(job)
    slurm_cluster.requeue(job)
    assert slurm_cluster.wait(job, timeout=150) == {job: "COMPLETED"}
    slurm_cluster.wait_accounted(job)
    rows = slurm_cluster.accounted("-j", job, "--duplicates")
    assert [row["State"] for row in rows] == ["REQUEUED", "COMPLETED"]


def test_memory_overruns_and_limits_of_partitions(slurm_cluster: SlurmCluster) -> None:
    greedy = slurm_cluster.submit(
        "x=$(head -c 200000000 /dev/zero | tr '\\0' x); sleep 60", "--mem=50"
    )
    never = slurm_cluster.submit("exit 0", "--partition=short", "--time=30")
    assert set(slurm_cluster.wait(greedy).values()) <= {"OUT_OF_MEMORY", "FAILED"}
    reason = slurm_cluster.run("squeue", "-h", "-j", never, "-o", "%r").strip()
    slurm_cluster.cancel(never)
    assert reason == "PartitionTimeLimit"


def test_slurm_lives_through_stopped_daemons(slurm_cluster: SlurmCluster) -> None:
    slurm_cluster.stop_slurmdbd()
    job = slurm_cluster.submit("exit 0")
    slurm_cluster.wait(job)
    slurm_cluster.stop_slurmctld()
    assert "error" in slurm_cluster.run("sh", "-c", "squeue 2>&1", check=False)
    slurm_cluster.start_slurmdbd()
    slurm_cluster.start_slurmctld()
    assert slurm_cluster.wait_accounted(job)[0]["State"] == "COMPLETED"


def test_the_elder_slurm(slurm_2205: SlurmCluster) -> None:
    assert "22.05" in slurm_2205.run("squeue", "--version")
    job = slurm_2205.submit("echo findable; exit 4")
    slurm_2205.wait(job)
    assert slurm_2205.wait_accounted(job)[0]["ExitCode"] == "4:0"
    kept = ("sacct", "-j", job, "--batch-script")  # 22.05 sends it some seconds later
    until(lambda: "echo findable" in slurm_2205.run(*kept), "the script to be kept", timeout=30)


def test_slurm_without_accounts_tells_kafka(bed_ready: None, kafka_broker: KafkaBroker) -> None:
    with SlurmCluster(
        accounting=False, kafka=kafka_broker.bootstrap, nodes=1, name="told"
    ) as slurm:
        job = slurm.submit("exit 4")
        slurm.wait(job)
        (message,) = (json.loads(value) for value in kafka_broker.consume("told", 1))
        assert "disabled" in slurm.run("sh", "-c", "sacct 2>&1", check=False)
    assert str(message["jobid"]) == job
    assert (message["state"], message["exit_code"]) == ("FAILED", "4:0")


def test_a_frozen_broker_goes_on(bed_ready: None) -> None:
    with KafkaBroker() as broker:
        broker.produce("notes", ["one", {"two": 2}])
        broker.pause()
        broker.resume()
        assert sorted(broker.consume("notes", 2)) == [b"one", b'{"two": 2}']


@pytest.mark.parametrize("fixture", ["redis_server", "valkey_server"])
def test_what_was_written_survives_a_kill(fixture: str, request: pytest.FixtureRequest) -> None:
    server: RedisServer = request.getfixturevalue(fixture)
    server.cli("SET", f"bed:{fixture}", "kept")
    server.kill()
    with pytest.raises(BedError, match="Could not connect"):
        server.cli("PING")
    server.resume()
    assert server.cli("GET", f"bed:{fixture}").strip() == "kept"
    server.restart()
    assert server.cli("GETDEL", f"bed:{fixture}").strip() == "kept"


def test_a_server_can_have_a_password_and_a_small_disk(bed_ready: None) -> None:
    with RedisServer(password="open-sesame", disk_mb=2) as server:
        script = "for i=1,64 do redis.call('SET', i, string.rep('x', 65536)) end"
        server.cli("EVAL", script, "0", check=False)
        with pytest.raises(BedError, match="MISCONF"):
            server.cli("SET", "more", "x" * 100)


def test_stopping_leaves_no_process_no_mount_and_no_folder(bed_ready: None) -> None:
    with HtcondorPool(sites=("ALPHA",)) as pool:
        assert str(pool.folder) not in Path("/proc/self/mountinfo").read_text()
        waiting = subprocess.Popen(
            pool.namespace.command(["sleep", "600"], processes=False), stdin=subprocess.DEVNULL
        )
        until(lambda: "sleep" in pool.namespace.processes().values(), "sleep to run")
        processes = pool.namespace.processes()
        assert "condor_schedd" in processes.values()
    waiting.wait(timeout=limit(10))
    assert not [pid for pid in processes if Path(f"/proc/{pid}").exists()]
    assert str(pool.folder) not in Path("/proc/self/mountinfo").read_text()
    assert not pool.folder.exists()


def test_jobs_may_have_user_namespaces_and_do_not_see_the_hosts_root(
    slurm_cluster: SlurmCluster,
) -> None:
    """Containers need them, and the kernel gives none in a changed root."""
    inside = slurm_cluster.namespace
    seen = slurm_cluster.folder / "work/seen"
    slurm_cluster.wait(slurm_cluster.submit(f"unshare -Ur id -u > {seen}"))
    assert seen.read_text() == "0\n"
    assert inside.run("ls", "/proc/1/root/home").split() == ["alice", "bob"]


@pytest.mark.parametrize("folder", ["/usr", "/etc", "/var/lib", "/opt"])
def test_the_cached_root_cannot_be_written_to(folder: str, slurm_cluster: SlurmCluster) -> None:
    inside = slurm_cluster.namespace
    said = inside.run("sh", "-c", f"touch {folder}/new 2>&1", check=False)
    assert "Read-only file system" in said


_FAILS = """
def test_fails(redis_server):
    redis_server.cli("NONSENSE")


def test_passes(redis_server):
    redis_server.cli("PING")
"""


def test_logs_of_failed_tests_are_kept(bed_ready: None, tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["tests.testbed.fixtures"]\n')
    (tmp_path / "test_failing.py").write_text(_FAILS)
    logs = {"JOBSIGHT_TESTBED_LOGS": str(tmp_path / "logs"), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)],
        cwd=tmp_path, env=os.environ | logs, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    (kept,) = (tmp_path / "logs").iterdir()
    assert f"logs of the test bed: {kept}" in done.stderr
    assert "Ready to accept connections" in (kept / "logs/server.log").read_text()


_STARTS_AND_STAYS = """
import sys, time
from tests.testbed import KafkaBroker, RedisServer
from tests.testbed.namespace import Namespace
from tests.testbed.roots import root
empty = Namespace("empty", root("bookworm"), "box")
empty.start()
server, broker = RedisServer().start(), KafkaBroker().start()
folders = (server.namespace.folder, broker.folder, empty.folder)
print(*folders, *server.namespace.processes(), flush=True)
time.sleep(600)
"""


def test_a_killed_owner_takes_everything_with_it(bed_ready: None) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", _STARTS_AND_STAYS], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    with owner:
        assert owner.stdout
        folder, broker, empty, *processes = owner.stdout.readline().split()
        assert Path(folder, "state/data").is_dir()
        owner.send_signal(signal.SIGKILL)
    folders = [Path(folder), Path(broker), Path(empty)]
    gone = [*folders, *(Path("/proc", process) for process in processes)]
    until(lambda: not any(path.exists() for path in gone), "all of it to be gone", timeout=20)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("import os; os.geteuid = lambda: 1000", "needs root"),
        ("import sys; sys.platform = 'darwin'", "needs Linux"),
        ("import os; os.environ['JOBSIGHT_TESTBED'] = '0'", "switched off"),
        ("import os; os.environ['PATH'] = '/nowhere'", "util-linux"),
    ],
)
def test_it_says_why_it_cannot_run(change: str, reason: str) -> None:
    program = f"import runpy; {change}; runpy.run_module('tests.testbed', run_name='__main__')"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("testbed: ")
    assert reason in done.stderr


def test_a_host_without_debians_apt_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(Unavailable, match="needs Debian's apt"):
        mirror()


def test_logs_that_cannot_be_kept_elsewhere_stay_where_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("JOBSIGHT_TESTBED_LOGS", str(tmp_path / "file" / "logs"))
    folder = new_folder("one")
    assert remove(folder, keep_logs=True) == folder
    assert (folder / "logs").is_dir()
    assert remove(folder, keep_logs=False) is None
    assert not folder.exists()


def test_a_killed_tool_is_dead_inside_too(slurm_cluster: SlurmCluster) -> None:
    inside = slurm_cluster.namespace
    tool = subprocess.Popen([slurm_cluster.bin / "sbatch", "--wait", "--wrap", "sleep 60"])
    until(lambda: "sbatch" in inside.processes().values(), "sbatch to run")
    tool.kill()
    tool.wait()
    until(lambda: "sbatch" not in inside.processes().values(), "sbatch to be gone", timeout=5)
    slurm_cluster.cancel_all()


def test_a_job_from_a_folder_that_is_not_seen_inside_runs_in_work(
    slurm_cluster: SlurmCluster, tmp_path: Path
) -> None:
    work = slurm_cluster.namespace.folder / "work"
    submit = [str(slurm_cluster.bin / "sbatch"), "--parsable", "--wrap", "pwd"]
    job = subprocess.run(submit, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert slurm_cluster.wait(job.strip()) == {job.strip(): "COMPLETED"}
    assert (work / f"slurm-{job.strip()}.out").read_text() == f"{work}\n"


def test_a_job_that_asks_for_no_memory_is_given_some(condor_pool: HtcondorPool) -> None:
    log = condor_pool.namespace.folder / "work/asks-for-nothing.log"
    cluster = condor_pool.submit_text(f"executable = /bin/true\nlog = {log}\nqueue")
    assert condor_pool.wait(cluster)[0]["RequestMemory"] == 64


def test_a_clusters_tools_serve_as_a_sites_own(
    slurm_cluster: SlurmCluster, condor_pool: HtcondorPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = [str(slurm_cluster.bin), str(condor_pool.bin), os.environ["PATH"]]
    monkeypatch.setenv("PATH", os.pathsep.join(tools))
    monkeypatch.setenv("JOBSIGHT_TEST_REDIS", "redis://site/0")
    monkeypatch.setenv("JOBSIGHT_TEST_KAFKA", "site:9092")
    pool, cluster = SitePool().start(), SiteCluster().start()
    assert pool.event_log == condor_pool.event_log
    assert "testbed" in cluster.run("scontrol", "show", "config")
    assert SiteServer().start().url == "redis://site/0"
    assert SiteBroker().start().bootstrap == "site:9092"
    ours_alone = [pool.fail, pool.remove_all, cluster.cancel_all, cluster.stop_slurmctld]
    for refused in (*ours_alone, SiteServer().kill, SiteBroker().pause):
        with pytest.raises(Unavailable, match="the test bed's own piece"):
            refused()
    for piece in (pool, cluster, SiteServer()):
        with pytest.raises(Unavailable, match="looking inside"):
            piece.namespace.processes()
    monkeypatch.setattr(tempfile, "tempdir", str(condor_pool.folder / "work"))
    assert pool.wait(pool.submit("exit 3"))[0]["ExitCode"] == 3
    monkeypatch.setattr(tempfile, "tempdir", str(slurm_cluster.folder / "work"))
    job = cluster.submit("exit 3")
    assert cluster.wait(job) == {job: "FAILED"}
    pool.stop()
    cluster.stop()


@pytest.mark.parametrize(
    ("place", "fault", "upload", "status"),
    [
        ("any/any", {"status": 2}, False, 2),
        ("any/store", {"status": 3, "delay": 0.01}, True, 3),
        ("ALPHA/any", {"status": 4, "share": 0}, False, 0),
        ("BETA/store", {"status": 5}, False, 0),
        ("any/other", {"status": 6}, True, 0),
    ],
)
def test_the_transfer_plugin_fails_where_told_to(
    place: str, fault: dict[str, object], upload: bool, status: int, tmp_path: Path
) -> None:
    plugin = tmp_path / "faultplugin.py"
    plugin.write_text((ROOT / "tests/testbed/faultplugin.py").read_text())
    (tmp_path / place).parent.mkdir()
    (tmp_path / place).write_text(json.dumps(fault))
    (tmp_path / "machine.ad").write_text('Name = "x"\nTestbedSite = "ALPHA"\n')
    local = tmp_path / "data"
    asked = f'[ LocalFileName = "{local}"; Url = "testbed://store/data?bytes=7" ]\n'
    (tmp_path / "asked").write_text(asked)
    files = ["-infile", str(tmp_path / "asked"), "-outfile", str(tmp_path / "told")]
    done = subprocess.run(
        [sys.executable, str(plugin), *files, *(["-upload"] if upload else [])],
        env={"_CONDOR_MACHINE_AD": str(tmp_path / "machine.ad")}, check=False,
    )  # fmt: skip
    assert done.returncode == status
    told = (tmp_path / "told").read_text()
    assert f"TransferSuccess = {'false' if status else 'true'};" in told
    assert local.exists() == (status == 0 and not upload)
