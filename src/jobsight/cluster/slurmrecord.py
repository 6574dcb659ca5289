"""The latest submission of a plan to Slurm, kept in the plan's folder."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated

import msgspec

from jobsight.cluster.slurmscript import FOLDER
from jobsight.errors import ClusterError
from jobsight.files import read_json, write_json

__all__ = ["Record", "Task"]

Task = tuple[str, int]
"""Number of an array, and of a task of it."""

_Number = Annotated[str, msgspec.Meta(pattern="^[0-9]{1,20}$")]


@dataclass
class Record:
    """The latest submission, as in ``submitted/slurm/jobs.json``.

    Attributes:
        digest: the plan's.
        submission: its number.
        arrays: job numbers, and the node of each task.
        complete: all of it was submitted, and noted here.
    """

    digest: str = ""
    submission: int = 0
    arrays: dict[_Number, dict[int, str]] = field(default_factory=dict)
    complete: bool = True

    @property
    def tasks(self) -> dict[str, Task]:
        """The task of each node."""
        return {
            name: (array, number)
            for array, nodes in self.arrays.items()
            for number, name in nodes.items()
        }

    def write(self, folder: Path) -> None:
        """Keep it; `folder` is the plan's.

        Raises:
            OutputError: it cannot be written.
        """
        write_json(folder / FOLDER / "jobs.json", asdict(self))

    @classmethod
    def read(cls, folder: Path) -> Record:
        """What was kept; without any, that of a plan never submitted.

        Raises:
            ClusterError: it is damaged.
        """
        path = folder / FOLDER / "jobs.json"
        try:
            return msgspec.convert(read_json(path, dict), cls, str_keys=True)
        except FileNotFoundError:
            return cls()
        except OSError as error:
            raise ClusterError(f"cannot read {path}: {error.strerror or error}") from None
        except ValueError as error:
            raise ClusterError(
                f"{path} is damaged ({type(error).__name__}); see squeue for jobs of the plan, "
                "then remove the file"
            ) from None
