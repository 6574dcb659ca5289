#!/usr/bin/env python3
"""Word counts of blocks, by as many processes as there are CPUs."""
import logging
import os
import subprocess
import tempfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

log = logging.getLogger(__name__)


def count(path):
    return Counter(Path(path).read_text().split())


def main():
    workers = int(os.environ.get("SLURM_CPUS_PER_TASK", 1))
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for number in range(4):
            path = os.path.join(folder, f"block{number}.txt")
            with open(path, "w", encoding="utf-8") as target:
                target.write("sea wind " * (number + 1))
            paths.append(path)
        with ProcessPoolExecutor(workers) as pool:
            total = sum(pool.map(count, paths), Counter())
    log.info("%s", total)
    done = subprocess.run(["sort", "-r"], input="\n".join(total), text=True, check=True, capture_output=True)
    assert done.stdout.split()[0] == "wind"


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    main()
