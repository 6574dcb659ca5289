"""The test bed itself: real clusters that do what tests of Jobsight rely on."""

from tests.testbed import HtcondorPool, SlurmCluster


def test_a_job_runs_on_each_site(condor_pool: HtcondorPool) -> None:
    clusters = {site: condor_pool.submit("exit 3", site=site) for site in ("ALPHA", "BETA")}
    for site, cluster in clusters.items():
        (ad,) = condor_pool.wait(cluster)
        assert ad["ExitCode"] == 3
        assert f"@{site.lower()}@" in ad["LastRemoteHost"]


def test_an_ended_slurm_job_is_in_the_accounts(slurm_cluster: SlurmCluster) -> None:
    job = slurm_cluster.submit("exit 4")
    assert slurm_cluster.wait(job) == {job: "FAILED"}
    assert slurm_cluster.wait_accounted(job) == [
        {"JobID": job, "State": "FAILED", "ExitCode": "4:0"}
    ]
