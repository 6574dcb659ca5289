"""The latest handing over of a plan to Slurm, kept in the plan's folder."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from jobsight.cluster.slurmscript import FOLDER
from jobsight.errors import ClusterError
from jobsight.files import read_json, write_json

__all__ = ["Record", "Task"]

_NAME = "jobs.json"

Task = tuple[str, int]
"""Number of an array, and of a task of it."""


@dataclass
class Record:
    """The latest handing over, as it lies in ``submitted/slurm/jobs.json``.

    Attributes:
        digest: the plan's.
        submission: its number.
        arrays: job numbers, and the node of each task.
        complete: all of it was handed over, and written down here.
    """

    digest: str = ""
    submission: int = 0
    arrays: dict[str, dict[int, str]] = field(default_factory=dict)
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
        body = {
            "plan": self.digest,
            "submission": self.submission,
            "arrays": self.arrays,
            "complete": self.complete,
        }
        write_json(folder / FOLDER / _NAME, body)

    @classmethod
    def read(cls, folder: Path) -> Record:
        """What was kept; without any, that of a plan never handed over.

        Raises:
            ClusterError: it is damaged.
        """
        path = folder / FOLDER / _NAME
        try:
            told = read_json(path, dict)
            return cls(
                digest=str(told["plan"]),
                submission=int(told["submission"]),
                arrays={
                    _number(array): {int(task): str(name) for task, name in nodes.items()}
                    for array, nodes in told["arrays"].items()
                },
                complete=told["complete"] is True,
            )
        except FileNotFoundError:
            return cls()
        except OSError as error:
            raise ClusterError(f"cannot read {path}: {error.strerror or error}") from None
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise ClusterError(
                f"{path} is damaged ({type(error).__name__}); see squeue for jobs of the plan, "
                "then remove the file"
            ) from None


def _number(text: str) -> str:
    """The number of a job, to be an argument of Slurm's tools."""
    if not (text.isascii() and text.isdecimal()):
        raise ValueError(f"{text[:40]!r} is no number of a job")
    return text
