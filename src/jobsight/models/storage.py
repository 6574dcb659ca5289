"""Models on disk: one JSON file with a schema and a kind, and arrays in safetensors next to it.

Everything wrong with a file becomes one `ModelError` that names it.
"""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from jobsight.errors import ModelError
from jobsight.files import new_file, read_json, write_json

if TYPE_CHECKING:
    from jobsight.models.base import Inputs

__all__ = [
    "SCHEMA",
    "Stored",
    "load_arrays",
    "load_body",
    "require_names",
    "save_arrays",
    "save_body",
]

SCHEMA = 1
"""Raised whenever a saved model of before could be misread."""


def save_body(folder: Path, kind: str, body: Mapping[str, Any]) -> None:
    """Write ``model.json`` with the model's kind and everything in `body`."""
    write_json(folder / "model.json", {"schema": SCHEMA, "kind": kind, **body})


@contextlib.contextmanager
def load_body(folder: Path, kind: str) -> Iterator[dict[str, Any]]:
    """Yield the body of ``model.json``; what goes wrong while it is taken apart is a ModelError.

    Raises:
        ModelError: the file is missing, damaged, of another schema, or of another kind of model.
    """
    path = folder / "model.json"
    try:
        body = read_json(path)
        if not isinstance(body, dict) or "schema" not in body:
            raise ModelError(f"{path} is no saved model")
        if body["schema"] != SCHEMA:
            raise ModelError(
                f"{path} has schema {body['schema']!r}, this version reads {SCHEMA}; train again"
            )
        if body.get("kind") != kind:
            raise ModelError(f"{path} holds the model {body.get('kind')!r}, not {kind!r}")
        yield body
    except OSError as error:
        raise ModelError(f"cannot read {path}: {error.strerror or error}") from None
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise ModelError(f"{path} is damaged ({type(error).__name__}: {error})") from None


class Stored(ABC):
    """A model that is made empty and then read from its folder."""

    name: ClassVar[str]

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read what `save` wrote."""
        model = cls()
        with load_body(folder, cls.name) as body:
            model._read(folder, body)
        return model

    @abstractmethod
    def _read(self, folder: Path, body: dict[str, Any]) -> None:
        """Take the model from its folder and the body of its ``model.json``."""


def save_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays as one safetensors file (https://github.com/huggingface/safetensors)."""
    from safetensors.numpy import save

    data = save({name: np.ascontiguousarray(array) for name, array in sorted(arrays.items())})
    with new_file(path) as temporary:
        temporary.write_bytes(data)


def load_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Read what `save_arrays` wrote; `ModelError`: the file is missing or damaged."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        return dict(load(path.read_bytes()))
    except OSError as error:
        raise ModelError(f"cannot read {path}: {error.strerror or error}") from None
    except (SafetensorError, ValueError, KeyError) as error:
        raise ModelError(f"{path} is damaged ({error})") from None


def require_names(inputs: Inputs, names: tuple[str, ...]) -> None:
    """Check that the features are the ones a model was fitted with, in the same order.

    Raises:
        ModelError: they are not; names the first difference.
    """
    if inputs.names != names:
        pairs = zip(inputs.names, names, strict=False)
        first = next(
            (
                f"{given!r} stands where {wanted!r} is expected"
                for given, wanted in pairs
                if given != wanted
            ),
            f"{len(inputs.names)} features where {len(names)} are expected",
        )
        raise ModelError(f"the model was fitted on other features: {first}; train again")
