"""``python -m corpus.check.stored FOLDER URL``: the jobs of a real cluster, with their scripts.

FOLDER has ``slurm-a.sacct.psv.gz`` and ``slurm-a.scripts.jsonl.gz``; URL is of a store.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

from jobsight.documents import JobDocument, Submission, slurm_id
from jobsight.history.importers import FileImport, Options
from jobsight.store import open_store

__all__ = ["main"]

_CLUSTER = "slurm-a"


def main(folder: Path, url: str) -> None:
    """Write the documents."""
    with gzip.open(folder / "slurm-a.scripts.jsonl.gz", "rt", encoding="utf-8") as lines:
        scripts = {slurm_id(_CLUSTER, one["job"]): one["script"] for one in map(json.loads, lines)}
    accounting = FileImport(
        [str(folder / "slurm-a.sacct.psv.gz")], format="sacct", options=Options(cluster=_CLUSTER)
    )
    with open_store(url, create=True) as store:
        for batch in accounting.batches():
            store.merge(batch)
            store.merge(
                JobDocument(id=one.id, updated=one.updated, timeline=(),
                            submission=Submission(script=scripts[one.id]))
                for one in batch if one.id in scripts
            )  # fmt: skip


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
