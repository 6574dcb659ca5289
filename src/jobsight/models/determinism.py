"""PyTorch made to give the same bits again: threads, seeds, algorithms, devices."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from jobsight.errors import TrainingError
from jobsight.runtime import install_command
from jobsight.settings import LstmSettings

if TYPE_CHECKING:
    import torch

__all__ = ["deterministic", "device_of", "require_torch"]

THREADS = 1
"""One: sums are then made in one order on every machine, and small networks are faster so."""


def require_torch(kind: type[Exception]) -> None:
    """Check that PyTorch is there.

    Raises:
        kind: it is not; says what to install.
    """
    try:
        import torch  # noqa: F401
    except ImportError:
        raise kind(f"this model needs PyTorch: {install_command('lstm')}") from None


def device_of(settings: LstmSettings) -> torch.device:
    """Where a network is trained, by the setting ``lstm.device``.

    Raises:
        TrainingError: a GPU is asked for, and PyTorch sees none, or is not installed.
    """
    require_torch(TrainingError)
    import torch

    there = settings.device != "cpu" and torch.cuda.is_available()
    if settings.device == "cuda" and not there:
        built = "" if torch.version.cuda else "; this PyTorch was built without CUDA"
        raise TrainingError(
            f"lstm.device is cuda, but PyTorch {torch.__version__} sees no GPU here{built}; ask "
            "for a GPU where this runs, or set lstm.device to auto or cpu"
        )
    return torch.device("cuda", torch.cuda.current_device()) if there else torch.device("cpu")


@contextlib.contextmanager
def deterministic(seed: int, device: torch.device) -> Iterator[None]:
    """Fixed threads, seeded random numbers, deterministic algorithms; all put back at the end."""
    import torch

    if device.type == "cuda":
        # Read when cuBLAS is first used; without it PyTorch refuses deterministic sums.
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    threads: int = torch.get_num_threads()
    # `torch.use_deterministic_algorithms` would import PyTorch's compiler too, which takes as long
    # as all the rest of PyTorch.
    strict: int = torch.get_deterministic_debug_mode()
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(seed)
        torch.set_num_threads(THREADS)
        torch.set_deterministic_debug_mode("error")
        try:
            yield
        finally:
            torch.set_num_threads(threads)
            torch.set_deterministic_debug_mode(strict)
