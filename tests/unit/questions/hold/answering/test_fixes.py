from __future__ import annotations

from typing import Any

import pytest

from jobsight.questions.hold.answering.fixes import Fix, known_fix
from jobsight.questions.hold.answering.heldjob import Held, about_job
from jobsight.questions.hold.answering.retries import chance_left


def fix(code: int | None, subcode: int | None, reason: str, **more: Any) -> Fix | None:
    return known_fix(Held(code, subcode, reason, **more))


def sure(code: int | None, subcode: int | None, reason: str, **more: Any) -> Fix:
    found = fix(code, subcode, reason, **more)
    assert found is not None
    return found


SLOT = "Error from slot1_8@mwt2@vm: "
INPUT = (
    "Transfer input files failure at execution point slot1_1@mwt2@vm using protocol lab. Details: "
)
OUTPUT = (
    "Transfer output files failure at execution point slot1_6@x@vm while sending files to access "
    "point vm. Details: reading from file /var/lib/condor/execute_x/dir_153918/"
)

CASES: list[tuple[int, int, str, str, str]] = [
    # code, sub-code, reason, kind, in the text
    (34, 102, "Job has gone over cgroup memory limit of 3072 megabytes. Peak usage: 3070 "
     "megabytes.  Consider resubmitting with a higher request_memory.", "memory", "4,608 MB"),
    (34, 0, SLOT + "Job has gone over memory limit of 2000 megabytes. Peak usage: 14435 "
     "megabytes.", "memory", "18,432 MB"),
    (34, 0, "Docker job has gone over memory limit of 8055 Mb", "memory", "12,288 MB"),
    (26, 34, "memory usage 163 MB exceeded request_memory 128 MB", "memory", "256 MB"),
    (21, 102, "", "memory", "request_memory"),
    (21, 104, SLOT + "disk usage exceeded request_disk", "disk", "request_disk"),
    (26, 0, "SYSTEM_PERIODIC_HOLD Disk/Memory Limit", "memory", "request_disk or request_memory"),
    (26, 46, "job exceeded the allowed execute duration of 75 seconds", "time",
     "allowed_execute_duration"),
    (46, 0, "The job exceeded allowed job duration of 20:00:00", "time", "allowed_job_duration"),
    (47, 0, "", "time", "allowed_execute_duration"),
    (26, 120, "Ran longer than the 600 seconds allowed", "time", "the policy that held it"),
    (4, 0, "", "credentials", "renew"),
    (26, 0, "the x509 proxy of the job has expired", "credentials", "renew"),
    (21, 102, "Job did not complete within 72 hrs", "time", "checkpoint"),
    (26, 0, "CPU efficiency below 10 percent", "cpu", "fewer CPUs"),
    (26, 0, "Job has low GPU utilization", "gpu", "request_gpus"),
    (35, 0, "", "container", "Docker image"),
    (6, 13, SLOT + "Failed to execute '/var/lib/condor/execute/dir_15/bad.py' with arguments run=1:"
     " (errno=13: 'Permission denied')", "permission", "make bad.py executable (chmod +x)"),
    (6, 2, SLOT + "Failed to execute '/x/dir_3/condor_exec.exe' with arguments 3: (errno=2: 'No "
     "such file or directory')", "software", "Windows"),
    (7, 2, SLOT + "Failed to open '/home/r/log/out' as standard output: No such file or directory "
     "(errno 2)", "output", "make the folder of /home/r/log/out"),
    (9, 2, "", "output", "folder"),
    (10, 2, "", "input", "standard input"),
    (14, 2, "", "file", "initial working directory"),
    (32, 0, "", "request", "max_transfer_input_mb"),
    (33, 0, "", "request", "max_transfer_output_mb"),
    (13, 256, INPUT + "HTTP response code 404: data/984 not found on ap20 ( URL file = "
     "lab://ap20/data/984 )|", "input", "lab://ap20/data/984"),
    (13, 256, INPUT + "HTTP response code 403: authorization denied for data/8 ( URL file = "
     "lab://ap20/data/8 )|", "permission", "lab://ap20/data/8"),
    (13, 256, INPUT + "Client Error: object not found ( URL file = osdf:///lab/in 9.gz )|", "input",
     "osdf:///lab/in"),
    (12, 2, OUTPUT + "out/result.dat: (errno 2) No such file or directory", "output",
     "never wrote out/result.dat"),
    # In older logs 13 is a failure to send, here by the starter: an output all the same.
    (13, 2, SLOT + "STARTER at 1.2.3.4 failed to send file(s) to <1.2.3.5:9618>: error reading "
     "from /scratch/glide_p/execute/dir_1/outSS: (errno 2) No such file or directory; SHADOW "
     "failed to receive file(s)", "output", "never wrote outSS"),
    # As OSPool's documentation and older shadows have it, also without words behind the number.
    (12, 2, "Transfer output files failure at access point ap40 while receiving files from the "
     "execution point. Details: Error from slot1_1@e1: STARTER at 1.2.3.4 failed to send file(s) "
     "at ap40; failed to read from file /srv/dir_7/out.root: (errno 2) No such file or directory",
     "output", "never wrote out.root"),
    (12, 2, "Transfer output files failure at access point s1 while receiving files. Details: "
     "writing to file /eos/user/a/ann/run7/map out.txt: (errno 2) No such file or directory",
     "output", "cannot write the output /eos/user/a/ann/run7/map out.txt"),
    (13, 2, "failed to read from file /home/r/i n.dat: (errno 2)", "input", "/home/r/i n.dat"),
    (13, 13, "failed to read from file /home/r/in.dat: (errno 13)", "permission", "/home/r/in.dat"),
    (13, 2, SLOT + "SHADOW at 1.2.3.4 failed to send file(s) to <1.2.3.5:9618>: error reading from "
     "/tmp/x509up_u812: (errno 2) No such file or directory", "credentials", "x509userproxy"),
    (0, 0, "Cannot expand $$(GLIDEIN_Site).", "request", "$$(GLIDEIN_Site:"),
    (12, 122, OUTPUT + "x: (errno 122) Disk quota exceeded", "space", "quota"),
    (5, 0, "", "request", "undefined"),
    (20, 0, "", "request", "deferral_time"),
    (22, 0, "", "file", "log file"),
    (44, 0, "", "script", "post-command"),
    (2, 17, "", "grid", "compute element"),
    (26, 120, "too many restarts", "policy", "in its log"),
]  # fmt: skip


@pytest.mark.parametrize(("code", "subcode", "reason", "kind", "said"), CASES)
def test_known_causes(code: int, subcode: int, reason: str, kind: str, said: str) -> None:
    found = sure(code, subcode, reason)
    assert found.kind == kind
    assert said in found.text


@pytest.mark.parametrize(
    ("code", "subcode", "reason"),
    [
        (3, 1, "job exited with code 1"),
        (3, 1, "job exited with code 137"),
        (3, 0, "The job attribute PeriodicHold expression '(NumJobStarts >= 3)' evaluated to TRUE"),
        (None, None, ""),
        (6, 0, "something else"),
        (26, 1, "exceeded the disk-jockey quota of user memory-lane"),
    ],
)
def test_unknown_causes(code: int | None, subcode: int | None, reason: str) -> None:
    assert fix(code, subcode, reason) is None


@pytest.mark.parametrize(
    ("reason", "ad"),
    [
        ("job exited with code 139", {}),
        ("The job attribute OnExitHold expression 'ExitBySignal' evaluated to TRUE",
         {"ExitBySignal": True, "ExitSignal": 11}),
        ("The job attribute OnExitHold expression 'ExitCode != 0' evaluated to TRUE",
         {"ExitBySignal": False, "ExitCode": 139}),
        ("Job died on signal 11", {}),
        ("exit code: 3221225477", {}),
    ],
)  # fmt: skip
def test_a_segmentation_fault_is_a_bug(reason: str, ad: dict[str, Any]) -> None:
    found = sure(3, 0, reason, ad=ad)
    assert (found.kind, found.first, found.certain) == ("crash", True, True)
    assert "segmentation fault" in found.text
    retried = found.though_retried(3, 20)
    assert (retried.first, retried.certain) == (False, False)
    assert "3 of 20 retries succeeded" in retried.text


def test_exits_that_say_what_to_fix() -> None:
    assert sure(3, 126, "job exited with code 126").kind == "permission"
    assert "not found" in sure(3, 127, "exited with status 127").text
    killed, ad = "job exited with code 137", {"RequestMemory": 1000}
    found = sure(3, 137, killed, ad=ad, memory_mb=990.0)
    assert (found.kind, found.edit, found.certain) == ("memory", ("RequestMemory", 1536), False)
    assert fix(3, 137, killed, ad=ad, memory_mb=200.0) is None
    assert sure(26, 0, "cmsRun exit code 50660", ad={"RequestMemory": 1000}).kind == "memory"
    assert fix(13, 2, "job exited with code 139") is None


POLICY = "The job attribute PeriodicHold expression '{}' evaluated to TRUE"


@pytest.mark.parametrize(
    ("expression", "ad", "again"),
    [
        ("(NumJobStarts >= 3 && JobStatus == 1)", {"NumJobStarts": 3}, True),
        ("(NumJobStarts >= 3 && JobStatus == 2)", {"NumJobStarts": 3}, True),
        ("NumJobStarts >= 3", {"NumJobStarts": 1}, False),
        ("NumJobStarts >= 3", {"NumJobStarts": 2}, True),  # at its next start
        # It held the job, and no release changes what it names.
        ("NumJobStarts >= 3", {}, True),
        ("JobStatus == 2 && NumJobStarts >= 3", {}, True),
        ("JobStatus == 2 && NumJobStarts >= 3 || Owner", {}, None),
        ("time() - QDate > 86400", {}, True),
        ("RemoteWallClockTime > 3600", {}, True),
        ("JobStatus == 2 && (time() - EnteredCurrentStatus) > 5", {}, None),
        ("JobStatus == 1 && (CurrentTime - EnteredCurrentStatus) > 5", {}, None),
        ("MemoryUsage =!= undefined && MemoryUsage > 100", {"MemoryUsage": 90}, False),
        ("MemoryUsage =!= undefined && MemoryUsage > 100", {}, True),
        ("MY.RequestMemory < 2 * 1024 && !(NumHolds > 9)", {"RequestMemory": 1}, True),
        ("MY.RequestMemory < 2 * 1024 && !(NumHolds > 9)", {"RequestMemory": 1, "NumHolds": 1},
         True),
        ("NumHolds =!= 3 || Unknown > 1", {"NumHolds": 2}, True),
        ("time() - EnteredCurrentStatus > 60", {}, None),
        ("ifThenElse(x, 1, 2) ?: 3", {}, None),
        ("'x'*99999999999", {}, None),
        ("(" * 400, {}, None),
        ("-" * 450 + "1", {}, None),
        ("9 if 0or 1 else\x00", {}, None),
    ],
)  # fmt: skip
def test_whether_a_policy_would_hold_it_again(
    expression: str, ad: dict[str, Any], again: bool | None
) -> None:
    found = [one for one in about_job(Held(3, 0, POLICY.format(expression), ad=ad))
             if one["what"] == "policy"]  # fmt: skip
    assert [one["holds_again"] for one in found] == [again]
    assert found[0]["text"].isprintable()


def test_a_raised_request_is_no_longer_exceeded() -> None:
    reason = "memory usage 163 MB exceeded request_memory 128 MB"
    (found,) = about_job(Held(26, 34, reason, ad={"RequestMemory": 256}))
    assert (found["what"], found["holds_again"]) == ("policy", False)
    assert about_job(Held(26, 34, reason)) == []


@pytest.mark.parametrize(
    ("used", "limit", "wanted"),
    [
        (None, 8000, 12288),
        (900.0, 1000, 1536),
        (9000.0, 2000, 11264),
        (100.0, 90, 192),
        (2440.0, 2311, 3584),
    ],
)
def test_memory_is_rounded_up_with_headroom(used: float | None, limit: float, wanted: int) -> None:
    found = sure(34, 102, "", memory_mb=used, ad={"RequestMemory": limit})
    assert found.edit == ("RequestMemory", wanted)


@pytest.mark.parametrize("value", ["ifThenElse(x, 1, 2)", True, -5, float("nan"), 1e300, None])
def test_no_figure_where_it_is_not_known_what_was_asked_for(value: Any) -> None:
    found = sure(34, 102, "", memory_mb=900.0, ad={"RequestMemory": value})
    assert (found.edit, found.first) == (None, True)
    assert "request_memory) than the 900 MB it used" in found.text


RUNS = [{"Memory": 2048.0, "Disk": 1048576.0, "Cpus": 1.0}]
"""What the log says of a slot, as `jobsight.history.allotments` gives it."""


@pytest.mark.parametrize(
    ("code", "subcode", "reason", "edit"),
    [
        # An update of 393 MB came early: never less than the slot had.
        (21, 102, "memory usage exceeded request_memory", ("RequestMemory", 3072)),
        (34, 102, "Job has encountered an out-of-memory event.", ("RequestMemory", 3072)),
        (26, 0, "Job in status 2 put on hold by SYSTEM_PERIODIC_HOLD due to memory usage 3000000.",
         ("RequestMemory", 3840)),
        (26, 0, "Job in status 2 put on hold due to memory usage 3000.", ("RequestMemory", 3840)),
        (26, 0, "The system macro SYSTEM_PERIODIC_HOLD expression 'MemoryUsage > RequestMemory' "
         "evaluated to TRUE", ("RequestMemory", 3072)),
        (21, 0, "The startd put this job on hold.  (At preemption time, WANT_HOLD evaluated to "
         "true: WANT_HOLD = ResidentSetSize > 1 && MemoryUsage > Memory)", ("RequestMemory", 3072)),
        (21, 102, SLOT + "disk usage exceeded request_disk", ("RequestDisk", 2097152)),
        (26, 104, "Memory of 4G as per the rules exceeded", ("RequestMemory", 6144)),
        (21, 102, SLOT + "CPU usage exceeded request_cpus", None),
        (26, 120, "CPU usage of 3.9 exceeds the 1 requested", ("RequestCpus", 4)),
        (26, 0, "uses more CPUs than requested: used 2 of 1", ("RequestCpus", 2)),
        (26, 0, "Job wastes memory: it uses less than 20 percent of the memory that it requested",
         None),
        (26, 0, "put on hold due to memory usage 5.", ("RequestMemory", 3072)),
        (26, 0, "memory usage exceeds 80% of what was requested", ("RequestMemory", 3072)),
        (26, 0, "memory usage 5000 MB exceeds 4000 MB", ("RequestMemory", 6400)),
        (26, 0, "RSS exceeds 4000 MB", ("RequestMemory", 6144)),
        (26, 0, "disk usage 12345678 KB exceeds requested 1000000", ("RequestDisk", 15728640)),
        (3, 0, "job was OOM killed", ("RequestMemory", 3072)),
        (26, 0, "CPU efficiency below 10 percent", None),
        (26, 0, "CPU usage of 390 % exceeds the 1 requested", ("RequestCpus", 4)),
        (26, 0, "Job uses too many CPUs: CPU usage of 14000 seconds", None),
    ],
)  # fmt: skip
def test_the_words_say_which_resource_and_all_that_is_known_how_much(
    code: int, subcode: int, reason: str, edit: tuple[str, int] | None
) -> None:
    assert sure(code, subcode, reason, memory_mb=393.0, runs=RUNS).edit == edit


def test_of_several_resources_the_one_that_was_exceeded_counts() -> None:
    reason = (
        "The system macro SYSTEM_PERIODIC_HOLD expression '(MemoryUsage > RequestMemory) || "
        "(DiskUsage > RequestDisk)' evaluated to TRUE"
    )
    ad = {"RequestMemory": 2048, "RequestDisk": 1000, "DiskUsage": 3000, "MemoryUsage": 90}
    assert sure(26, 0, reason, ad=ad).edit == ("RequestDisk", 4096)
    assert sure(26, 0, reason, ad=ad | {"DiskUsage": 9, "MemoryUsage": 2100}).kind == "memory"
    unclear = sure(26, 0, reason, ad={"RequestMemory": 2048})
    assert (unclear.edit, unclear.certain) == (None, False)
    assert "request_disk or request_memory" in unclear.text


def test_a_number_without_a_unit_that_nothing_explains_is_quoted() -> None:
    found = sure(26, 0, "held due to memory usage 3000000.")
    assert found.edit is None
    assert "3000000, without a unit" in found.text


def test_no_more_than_the_largest_slot_known() -> None:
    held = {"ad": {"RequestMemory": 3000, "MemoryUsage": 2900}}
    capped = sure(34, 102, "", largest={"RequestMemory": 4000.0}, **held)
    assert capped.edit == ("RequestMemory", 4000)
    assert "no slot known has more" in capped.text
    none = sure(34, 102, "", largest={"RequestMemory": 3000.0}, **held)
    assert (none.edit, none.first) == (None, True)
    assert "no slot known has more memory than the 3,000 MB" in none.text


@pytest.mark.parametrize(
    ("code", "reason", "said"),
    [
        (45, SLOT + "Singularity exec of failed, this singularity or apptainer installation cannot "
         "run jobs", "Apptainer"),
        (34, SLOT + "Error running docker job: OCI runtime create failed: nvidia-container-cli: "
         "initialization error: nvml error: driver not loaded: unknown", "GPU driver"),
        (35, SLOT + "Cannot connect to the Docker daemon at unix:///var/run/docker.sock", "Docker"),
        (6, SLOT + "Failed to execute '/x/condor_exec.exe': (errno=116: 'Stale file handle')",
         "file system"),
    ],
)  # fmt: skip
def test_a_broken_machine_is_not_the_jobs_fault(code: int, reason: str, said: str) -> None:
    found = sure(code, 0, reason)
    assert (found.kind, found.certain, found.first) == ("node", False, False)
    assert found.machine == "vm"
    assert said in found.text
    assert "(slot1_8@mwt2@vm) is broken" in found.text


def test_room_is_made_only_where_its_user_can() -> None:
    path = "/var/lib/condor/execute/dir_3107/scratch/ref.fa: (errno 28) No space left on device"
    inputs = sure(13, 28, INPUT + f"writing to file {path}")
    image = sure(35, 0, SLOT + "failed to register layer: no space left on device")
    for found in (inputs, image):
        assert (found.kind, found.certain) == ("space", False)
        assert "release it to run on another machine" in found.text
    place = "Transfer output files failure at access point ap while receiving files. Details: "
    output = sure(12, 28, place + "writing to file /home/ann/out: No space left on device")
    assert "where its output goes" in output.text


@pytest.mark.parametrize(
    "details",
    [
        "timed out waiting for response from origin ap2 ( URL file = lab://a/b )|",
        "could not reach cache from MWT2: connection reset by peer (ap2)|",
        "FILETRANSFER:1:non-zero exit (139) from curl_plugin",
    ],
)
def test_a_failure_of_the_network_is_none_of_the_job(details: str) -> None:
    found = sure(13, 256, INPUT + details)
    assert (found.kind, found.passing, found.certain) == ("network", True, False)
    assert "try again" in found.text


def test_the_machine_to_leave_is_that_of_the_reason_else_that_of_the_last_run() -> None:
    reason = "Singularity test failed: no loop device"
    assert (
        sure(45, 0, "Error from slot1_3@wn51.example.org: " + reason).machine == "wn51.example.org"
    )
    assert sure(45, 0, reason, slot="slot1@wn52").machine == "wn52"
    assert sure(45, 0, reason).machine is None
    lost = sure(12, 2, OUTPUT + "_condor_stdout: (errno 2) No such file or directory")
    assert (lost.kind, lost.certain) == ("node", False)


def test_absurd_figures_do_not_count() -> None:
    reason = "memory usage 999999999999 MB exceeded request_memory 128 MB"
    assert sure(26, 34, reason).edit == ("RequestMemory", 192)


def test_disk_in_kilobytes() -> None:
    assert sure(21, 104, "", ad={"RequestDisk": 10240}).edit == ("RequestDisk", 20480)
    used = sure(34, 104, "disk usage of 5 GB over the limit of 1 GB", ad={"RequestDisk": 1024})
    assert used.edit == ("RequestDisk", 7 * 1024**2)


def test_what_may_be_an_outage_is_not_certain() -> None:
    assert not sure(
        13, 256, INPUT + "HTTP response code 404: a not found ( URL file = lab://a/b )"
    ).certain
    assert sure(12, 2, OUTPUT + "x: (errno 2) No such file or directory").certain


def test_hostile_reasons_are_made_plain() -> None:
    found = sure(
        6, 2, "invalid interpreter (/x\x1b[31m\u202e" + "a" * 290 + ") specified on first line"
    )
    assert found.text.isprintable()
    assert len(found.text) < 600
    assert known_fix(Held(34, 102, "memory " * 100_000)) is not None


def test_each_failure_of_a_program_leaves_less_chance() -> None:
    assert [chance_left(0.4, failed, 2.0) for failed in (0, 2, 6)] == pytest.approx([0.4, 0.2, 0.1])
