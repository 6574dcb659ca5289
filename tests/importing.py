"""Importing as tests do it: text to files, files to merged documents."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from jobsight.documents import JobDocument, merge
from jobsight.history.importers import FileImport, Importer, ImportReport, Options

__all__ = ["SACCT_JSON", "SAMPLES", "imported", "states", "written"]

SAMPLES = Path(__file__).parents[1] / "data" / "samples"

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
    "time": {"total": {"seconds": 7, "microseconds": 250000}},
    "tres": {"requested": {"max": [{"type": "mem", "count": 3145728}],
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
            found[document.id] = merge(found.get(document.id), document)
    return {id_.rpartition(":")[2]: document for id_, document in found.items()}, reading.report


def states(documents: dict[str, JobDocument]) -> Counter[str]:
    """Number of jobs by state."""
    return Counter(str(document.state) for document in documents.values())
