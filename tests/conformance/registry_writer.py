"""A process that puts, promotes and removes models until it is killed; for tests of the registry.

``python -m tests.conformance.registry_writer REGISTRY SEED OPERATIONS`` prints a line for each
thing done, after it was done: ``put DIGEST``, ``promoted DIGEST``, ``removed DIGEST``.
"""

import json
import random
import sys
import tempfile
from pathlib import Path

from jobsight.errors import ModelError
from jobsight.learning.manifest import write_manifest
from jobsight.learning.registry import Registry

SCORES = {"log_loss": 0.5}
REPORT = {"chosen": "constant", "models": dict.fromkeys(("constant", "rates"), SCORES)}


def tiny_model(folder: Path, number: int) -> Path:
    """A model directory of a few small files, which differs from others by its number."""
    folder.mkdir(parents=True)
    (folder / "report.json").write_text(json.dumps(REPORT))
    for name in ("a", "b", "c"):
        (folder / name).write_text(f"{name} {number}" * 500)
    write_manifest(folder, question="hold", seed=number, settings={}, sources=[], facts={})
    return folder


def act(registry: Registry, draw: random.Random, made: list[Path]) -> str | None:
    """Do one thing; what was done, None where another writer was faster."""
    kind = draw.choice(["put", "put", "promoted", "removed"])
    if kind == "put":
        return f"put {registry.put(draw.choice(made), 'hold', why=kind)}"
    entries = registry.entries("hold")
    if not entries:
        return None
    entry = draw.choice(entries)
    try:
        if kind == "removed":
            registry.remove(entry, force=draw.random() < 0.5)
        else:
            champion = registry.champion("hold")
            registry.promote(entry, over=champion.digest if champion else None, why="a test")
    except ModelError:
        return None
    return f"{kind} {entry.digest}"


def tell(line: str) -> None:
    """Have the parent read a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main(path: Path, seed: int, operations: int) -> None:
    """Do so many things."""
    draw = random.Random(seed)
    registry = Registry(path)
    with tempfile.TemporaryDirectory() as place:
        made = [tiny_model(Path(place) / str(number), number) for number in range(6)]
        tell("ready")
        for _ in range(operations):
            done = act(registry, draw, made)
            if done is not None:
                tell(done)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
