"""A cause: what made a job fail, and what to do."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["KINDS", "Cause"]

KINDS = {
    "memory": "out of memory",
    "gpu-memory": "out of GPU memory",
    "disk": "more disk used than asked for",
    "cpu": "more or fewer CPUs used than asked for",
    "time": "time limit reached",
    "node": "machine failed",
    "preempted": "preempted",
    "cancelled": "cancelled",
    "space": "no space left, or quota reached",
    "file": "file missing or unusable",
    "input": "input missing",
    "output": "output not written, or not to be written where it goes",
    "permission": "permission denied",
    "software": "program, module, library or package missing or of the wrong version",
    "setup": "environment not set up",
    "script": "error of the script",
    "request": "wrong request or option",
    "policy": "held by a policy",
    "spool": "input being spooled",
    "grid": "compute element, or the batch system behind it",
    "mpi": "MPI start or communication",
    "gpu": "GPU, driver or CUDA",
    "network": "network, download or server",
    "credentials": "login, token or certificate",
    "licence": "no licence",
    "container": "container or image",
    "filesystem": "file system, locks or open files",
    "data": "wrong or damaged input",
    "crash": "program crashed",
    "program": "error of the program",
    "killed": "killed from outside",
    "workflow": "a step of a workflow failed",
    "unknown": "cause not recorded",
}
"""Kinds of causes, by which jobs are grouped, and what each is called."""


@dataclass(frozen=True)
class Cause:
    """What made a job fail.

    Attributes:
        name: of the cause, unique among all.
        kind: of `KINDS`.
        text: the cause, in a sentence without its period.
        fix: what to do, in a sentence without its period.
        whose: who can fix it: user, site, either, network (it may pass by itself) or person
            (nothing is wrong).
        sure: it cannot be anything else.
    """

    name: str
    kind: str
    text: str
    fix: str
    whose: str = "user"
    sure: bool = True

    @property
    def words(self) -> str:
        """The cause, and whether it may be another."""
        return self.text if self.sure else f"most likely: {self.text}"
