"""Checkpoints of a training: the state after an epoch, as safetensors and JSON.

``0007.safetensors`` holds the tensors after epoch 7, ``0007.json``, written last, says what they
are: epoch, identity of the training, SHA-256 of the tensors, plain facts, and a SHA-256 of itself.
The two newest are kept, so that one that is damaged costs one epoch, not all.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jobsight.errors import OutputError
from jobsight.files import new_file, read_json, without_nan, write_json

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["Checkpoint", "Checkpoints"]

SCHEMA = "jobsight.checkpoint/1"
KEPT = 2
_NAME = re.compile(r"(\d{4,9})\.json", re.ASCII)


@dataclass(frozen=True)
class Checkpoint:
    """The state after an epoch.

    Attributes:
        epoch: how many were trained.
        tensors: by name, on the CPU.
        facts: plain data.
    """

    epoch: int
    tensors: Mapping[str, Tensor]
    facts: Mapping[str, Any]


class Checkpoints:
    """A folder of checkpoints of one training; one process writes it at a time.

    Attributes:
        folder: made when the first checkpoint is written.
        notes: one line for each checkpoint that could not be used, and was set aside.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.notes: list[str] = []

    def save(self, checkpoint: Checkpoint, identity: str) -> None:
        """Write a checkpoint, whole or not at all, and remove all but the two newest.

        Args:
            checkpoint: the state.
            identity: of the training: what its data and settings are, as a digest.

        Raises:
            OutputError: it cannot be written (disk full, no permission); those before it stay.
        """
        from safetensors.torch import save

        content = save(dict(checkpoint.tensors))
        tensors, body_path = self._paths(checkpoint.epoch)
        with new_file(tensors) as temporary:
            temporary.write_bytes(content)
        body = {
            "schema": SCHEMA,
            "epoch": checkpoint.epoch,
            "identity": identity,
            "tensors": hashlib.sha256(content).hexdigest(),
            "facts": without_nan(dict(checkpoint.facts)),
        }
        write_json(body_path, {**body, "sha256": _digest(body)})
        self._forget_before(checkpoint.epoch)

    def usable(self, identity: str) -> Iterator[Checkpoint]:
        """The checkpoints of this training, newest first; any other found on the way is set aside.

        Raises:
            OutputError: the folder cannot be read.
        """
        for epoch in sorted(self._epochs(), reverse=True):
            try:
                yield self._read(epoch, identity)
            except (OSError, ValueError) as error:
                reason = error.strerror if isinstance(error, OSError) else None
                self.set_aside(epoch, reason or str(error))

    def set_aside(self, epoch: int, reason: str) -> None:
        """Give a checkpoint another name, under which it is not taken for one, and note why."""
        self.notes.append(f"the checkpoint of epoch {epoch} was set aside: {reason}"[:500])
        for path in self._paths(epoch):
            if path.is_symlink() or path.exists():
                try:
                    path.replace(path.with_name(f"aside-{path.name}"))
                except OSError as error:
                    raise OutputError(f"cannot rename {path}: {error.strerror}") from None

    def _paths(self, epoch: int) -> tuple[Path, Path]:
        name = f"{epoch:04d}"
        return self.folder / f"{name}.safetensors", self.folder / f"{name}.json"

    def _epochs(self) -> list[int]:
        try:
            names = [path.name for path in self.folder.iterdir()]
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise OutputError(f"cannot read {self.folder}: {error.strerror}") from None
        return [int(found[1]) for name in names if (found := _NAME.fullmatch(name))]

    def _read(self, epoch: int, identity: str) -> Checkpoint:
        from safetensors import SafetensorError
        from safetensors.torch import load

        tensors, body_path = self._paths(epoch)
        body = read_json(body_path, dict)
        claimed = body.pop("sha256", None)
        if body.get("schema") != SCHEMA or claimed != _digest(body) or body.get("epoch") != epoch:
            raise ValueError("it is damaged, or not written by this version")
        if body.get("identity") != identity:
            raise ValueError("it belongs to a training with other data or settings")
        content = tensors.read_bytes()
        if hashlib.sha256(content).hexdigest() != body.get("tensors"):
            raise ValueError("its tensors are damaged")
        try:
            return Checkpoint(epoch, load(content), body["facts"])
        except (SafetensorError, KeyError) as error:
            raise ValueError(f"its tensors cannot be read ({error})") from None

    def _forget_before(self, epoch: int) -> None:
        """Remove all but the two newest up to `epoch`; what is beyond it is of another time."""
        older = sorted((one for one in self._epochs() if one < epoch), reverse=True)
        for one in older[KEPT - 1 :]:
            tensors, body = self._paths(one)
            for path in (body, tensors):  # never a body whose tensors are gone
                path.unlink(missing_ok=True)


def _digest(body: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
