"""What a real pool records of slots and use, and what is proposed of it."""

import json
from pathlib import Path

from tests.support.calling import jobsight
from tests.testbed.condor import HtcondorPool

from jobsight.history.condor.client import CondorClient
from jobsight.settings import CondorSettings


def test_a_request_is_above_the_slot_and_within_the_pool(
    condor_pool: HtcondorPool, tmp_path: Path
) -> None:
    """Held for its memory while it runs: by the pool's own records (001, 004, 028)."""
    log = condor_pool.namespace.folder / "work/asks-for-memory.log"
    cluster = condor_pool.submit_text(
        f"executable = /bin/sleep\narguments = 600\nlog = {log}\nrequest_memory = 70\n"
        "periodic_hold = JobStatus == 2\nperiodic_hold_subcode = 102\n"
        'periodic_hold_reason = "memory usage exceeded request_memory"\nqueue'
    )
    condor_pool.wait_held(cluster)
    given = float(condor_pool.job(cluster)["MemoryProvisioned"])
    condor_pool.remove(cluster)
    largest = CondorClient(CondorSettings(bin=condor_pool.bin)).largest_slot()
    assert largest["RequestMemory"] >= given >= 70
    assert set(largest) == {"RequestMemory", "RequestDisk", "RequestCpus"}
    own = tmp_path / "job.log"
    own.write_bytes(log.read_bytes().partition(b"\n009 (")[0] + b"\n")
    found = json.loads(
        jobsight("hold", f"{cluster}.0", "--log", str(own), "--model", "none", "--json").stdout
    )
    command = found["advice"]["steps"][0]["command"]
    assert command.partition("RequestMemory ")[2].isdecimal()
    assert given < int(command.rpartition(" ")[2]) <= 1.5 * given + 64
