"""Importing as tests do it: text to files, files to merged documents."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from jobsight.documents import JobDocument
from jobsight.history.importers import FileImport, Importer, ImportReport, Options
from tests.support.storedjobs import merge_into

__all__ = ["JOB_TABLE", "SACCT_JSON", "SAMPLES", "imported", "states", "written"]

SAMPLES = Path(__file__).parents[2] / "data" / "samples"

SACCT_JSON = """{"meta": {"Slurm": {"release": "24.11"}}, "jobs": [
{"job_id": 11, "array": {"job_id": 9, "task_id": {"set": true, "infinite": false, "number": 0},
  "task": ""}, "het": {"job_id": 0}, "allocation_nodes": 2, "cluster": "c", "name": "a|b",
  "association": {"user": "ada"}, "state": {"current": ["FAILED"], "reason": "None"},
  "exit_code": {"status": ["ERROR"], "return_code": {"set": true, "number": 3},
    "signal": {"id": {"set": false, "infinite": false, "number": 0}}}, "nodes": "n[1-2]",
  "time": {"submission": 1772442000, "eligible": 1772442001, "start": 1772442060,
    "end": 1772442120, "elapsed": 60, "limit": {"set": false, "infinite": true, "number": 0},
    "total": {"seconds": 7, "microseconds": 250999}},
  "required": {"CPUs": 4, "memory_per_node": {"set": true, "number": 2048}},
  "tres": {"requested": [{"type": "cpu", "name": "", "count": 4}, {"type": "mem", "count": 4096},
    {"type": "gres", "name": "gpu", "count": 2}, {"type": "energy", "count": -2}],
    "allocated": [{"type": "cpu", "count": 4}]},
  "steps": [{"step": {"id": "11.batch"}, "state": ["FAILED"], "exit_code": {},
    "time": {"total": {"seconds": 7, "microseconds": 250000}}, "tasks": {"count": 3},
    "tres": {"requested": {"max": [{"type": "mem", "count": 3145728}],
      "average": [{"type": "mem", "count": 2097152}],
      "total": [{"type": "fs", "name": "disk", "count": 1048576}]}, "consumed": {}}}]},
{"job_id": 12, "array": {"job_id": 12, "task_id": null, "task": "5-6"}, "cluster": "c",
  "state": {"current": "PENDING"}, "exit_code": {"status": "SUCCESS", "return_code": 0},
  "time": {"submission": 1772442000, "start": 0, "end": 0, "limit": 90}, "steps": []},
{"job_id": 13, "het": {"job_id": 13, "job_offset": 0}, "cluster": "c", "allocation_nodes": 1,
  "state": {"current": ["PENDING", "REQUEUED"]}, "nodes": "n1",
  "exit_code": {"status": "SUCCESS", "return_code": 0},
  "time": {"submission": 1772442000, "start": 1772442060, "end": 1772442120, "elapsed": 60},
  "tres": {"allocated": [{"type": "cpu", "count": 1}]}}
], "errors": [], "warnings": []}
"""
JOB_TABLE = """id_job\tid_user\tid_array_job\tid_array_task\tarray_task_str\thet_job_id\thet_job_offset\tstate\texit_code\ttimelimit\tmem_req\tcpus_req\ttime_submit\ttime_eligible\ttime_start\ttime_end\ttres_req\ttres_alloc\tnodelist\tkill_requid\tdeleted\tjob_name
11\t1001\t9\t0\tNULL\t0\t4294967294\t5\t768\t4294967295\t2048\t4\t1772442000\t1772442001\t1772442060\t1772442120\t1=4,2=4096,1001=2\t1=4,3=18446744073709551614\tn[1-2]\tNULL\t0\ta|b
12\t1001\t12\t4294967294\t0x60\t0\t4294967294\t0\t0\t90\t9223372036854775858\t2\t1772442000\t0\t0\t0\t\t\tNone assigned\tNULL\t0\tlater
13\t1001\t0\t4294967294\tNULL\t13\t0\t1024\t0\t90\t0\t1\t1772442000\t0\t1772442060\t1772442120\t\t1=1\tn1\tNULL\t0\tagain
14\t1001\t0\t4294967294\tNULL\t0\t4294967294\t4\t0\t4294967294\t0\t1\t1772442000\t0\t0\t1772442120\t\t\tNone assigned\t0\t0\tgone
15\t1001\t0\t4294967294\tNULL\t0\t4294967294\t3\t9\t90\t0\t1\t1772442000\t0\t1772442060\t1772442120\t\t1=1\tn1\tNULL\t1\tdeleted
"""  # noqa: E501


def written(folder: Path, text: str | bytes, name: str = "input") -> Path:
    """A file of that content."""
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def imported(
    *paths: Path,
    format: str | Importer = "auto",  # noqa: A002
    options: Options | None = None,
) -> tuple[dict[str, JobDocument], ImportReport]:
    """What a store would have after the import, by job (the id's last part), and the report."""
    options = options or Options()
    reading = FileImport([str(path) for path in paths], format=format, options=options)
    found: dict[str, JobDocument] = {}
    for batch in reading.batches():
        for document in batch:
            merge_into(found, document)
    return {id_.rpartition(":")[2]: document for id_, document in found.items()}, reading.report


def states(documents: dict[str, JobDocument]) -> Counter[str]:
    """Number of jobs by state."""
    return Counter(str(document.state) for document in documents.values())
