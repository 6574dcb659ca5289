"""scontrol's text, and names that imitate it."""

from __future__ import annotations

import datetime as dt
import re

from jobsight.documents import State
from jobsight.history.slurm.documents import of_shown
from jobsight.history.slurm.scontrol import Shown, read_config, read_jobs

JOB = (
    "JobId=5 HetJobId=5 HetJobOffset=0 JobName=two words HetJobIdSet=5-6 UserId=ann(2001) "
    "GroupId=ann(2001) MCS_label=N/A Priority=1 JobState=COMPLETED Reason=None Dependency=(null) "
    "Requeue=1 Restarts=1 BatchFlag=1 Reboot=0 ExitCode=2:9 RunTime=00:00:40 "
    "TimeLimit=1-00:00:00 TimeMin=N/A SubmitTime=1795242021 EligibleTime=1795242021 "
    "StartTime=1795242022 EndTime=1795242062 SuspendTime=None Partition=main "
    "AllocNode:Sid=ctl:29430 NodeList=node1 NumNodes=1 NumCPUs=1 CPUs/Task=1 "
    "ReqTRES=cpu=1,mem=200M,node=1,billing=1 AllocTRES=cpu=1 Comment=a b=c "
    "Command=/home/ann/run me.sh WorkDir=/home/ann \n"
)
ARRAY = (
    "JobId=3 ArrayJobId=3 ArrayTaskId=4-6%2 JobName=x JobState=PENDING BatchFlag=1 Restarts=0\n"
    "JobId=9 ArrayJobId=3 ArrayTaskId=1 JobName=x JobState=RUNNING BatchFlag=1 Restarts=0\n"
)


def jobs(text: str, base: str) -> list[Shown]:
    return list(read_jobs(text, base, dt.UTC))


def test_a_job() -> None:
    (job,) = jobs(JOB, "5")
    assert (job.id.name, job.fields["JobId"], job.fields["JobState"]) == ("5+0", "5", "COMPLETED")
    assert (job.times["Submit"], job.times["End"]) == (1795242021000000, 1795242062000000)
    assert job.times["Suspend"] is None
    assert (job.time_limit_s, job.batch) == (86400, True)
    assert job.fields["JobName"] == "two words"
    document = of_shown("c", job.id, job, 1795242062000000)
    assert (document.request.memory_mb, document.usage.requeues) == (200, 1)
    end = document.timeline[-1]
    assert (end.state, end.return_value, end.signal) == (State.COMPLETED, 2, 9)
    assert job.fields["Command"] == "/home/ann/run me.sh"
    assert job.fields["AllocNode:Sid"] == "ctl:29430"
    assert "Dependency" not in job.fields


def test_an_array_and_what_was_not_asked_for() -> None:
    assert [job.id.name for job in jobs(ARRAY + JOB, "3")] == ["3", "3_1"]
    tasks = jobs(ARRAY, "3")[0].id.tasks
    assert tasks is not None and list(tasks) == [4, 5, 6]


def test_a_sluid_may_stand_behind_the_id() -> None:
    other = re.sub(r"(?m)^(JobId=\d+)", r"\1 SLUID=sABCDEFGHIJKLM", ARRAY + JOB)
    for base in ("3", "5"):
        assert [one.id for one in jobs(other, base)] == [one.id for one in jobs(ARRAY + JOB, base)]
    (plain,) = jobs("JobId=5 SLUID=sABCDEFGHIJKLM JobName=x JobState=RUNNING \n", "5")
    assert (plain.id.name, plain.fields["JobState"]) == ("5", "RUNNING")


def test_a_name_cannot_speak_for_its_job_nor_for_another() -> None:
    evil = JOB.replace(
        "two words", "x JobState=FAILED ExitCode=0:0\nJobId=7 JobName=y JobState=FAILED"
    )
    (job,) = jobs(evil, "5")
    assert job.id.base == "5"
    assert "JobState" not in job.fields
    own = evil.replace("JobId=7 JobName", "JobId=5 HetJobId=5 JobName")
    assert jobs(own, "5") == []
    inline = JOB.replace("two words", "x JobState=FAILED JobId=7 ExitCode=0:0")
    (job,) = jobs(inline, "5")
    assert job.fields["JobId"] == "5"
    assert not {"JobState", "ExitCode"} & set(job.fields)


def test_what_cannot_be_read_is_left_out() -> None:
    assert jobs("", "5") == []
    assert jobs("slurm_load_jobs error", "5") == []
    assert jobs(JOB.replace("1795242021", "soon"), "5") == []
    assert jobs(JOB.replace("JobId=5 Het", "JobId=x Het"), "5") == []


def test_the_configuration() -> None:
    config = read_config(
        "Configuration data as of 1795242027\n"
        "AccountingStorageType   = accounting_storage/slurmdbd\n"
        "AccountingStoreFlags    = job_comment,job_script\nClusterName             = blue\n"
        "JobAcctGatherFrequency  = energy=9,task=20\nJobAcctGatherType = jobacct_gather/cgroup\n"
        "MinJobAge               = 300 sec\nSLURM_VERSION           = 24.11.5\n"
        "Prolog = ClusterName = red\n\nCgroup Support Configuration:\nClusterName = green\n",
        dt.UTC,
    )
    assert (config.cluster, config.version, config.min_job_age) == ("blue", "24.11", 300)
    assert (config.accounting, config.scripts_kept) == (True, True)
    assert config.now == 1795242027000000
    assert config.sampling == "jobacct_gather/cgroup every 20 s"


def test_an_unknown_configuration() -> None:
    config = read_config(
        "Configuration data as of yesterday\nAccountingStorageType = (null)", dt.UTC
    )
    assert (config.cluster, config.version, config.now, config.min_job_age) == (
        "",
        None,
        None,
        None,
    )
    assert (config.accounting, config.sampling) == (False, None)
