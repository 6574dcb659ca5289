"""The models, one file each, behind one protocol.

`create` and `load` find a model by its name. Importing this package imports neither PyTorch nor
LightGBM nor scikit-learn: a model's libraries are imported when it is used.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from jobsight.errors import ModelError, UsageError
from jobsight.models.base import BINARY, Inputs, Labelled, Loadable, Model, Output
from jobsight.models.column import Column
from jobsight.models.determinism import require_torch
from jobsight.models.rules import Rules, RuleSet
from jobsight.models.stack import Stack
from jobsight.settings import BoostedSettings, LstmSettings

__all__ = ["LEARNED", "NAMES", "SEVERAL", "Inputs", "Labelled", "Model", "create", "is_baseline",
           "load", "predicts"]  # fmt: skip

OF_PROGRAMS = ("text", "svm", "forest", "dense", "recurrent", "tree")
"""Models of kinds and shares that read programs, or features of them."""
_CLASSES = {
    "constant": "constant:Constant", "rates": "rates:Rates",
    "rates:learning": "rates:LearningRates", "rates:learning:0": "rates:LearningRates0",
    "rates:learning:20": "rates:LearningRates20", "rates:learning:all": "rates:LearningRatesAll",
    "linear": "linear:Linear", "boosted": "boosted:Boosted", "lstm": "recurrent:Recurrent",
    "stack": "stack:Stack",
    "text": "ofprograms:Words", "svm": "ofprograms:Svm", "forest": "ofprograms:Forest",
    "dense": "networks:Dense",
    "recurrent": "networks:NodeSequence", "tree": "networks:NodeTree",
}  # fmt: skip
NAMES = tuple(_CLASSES)
"""Every model but rule sets (``rules:…``) and `Column`s, whose names a question gives."""
LEARNED = (
    "rates:learning:0", "rates:learning:20", "rates:learning:all", "linear", "boosted", "lstm",
    "mixture", "stack", "svm", "forest", "dense", "recurrent", "tree",
)  # fmt: skip
"""Models that must beat every other; all others are baselines."""
SEVERAL = ("constant", "boosted", "stack", *OF_PROGRAMS)
"""Models that also predict kinds, quantiles and shares; see `predicts`."""
RULES = "rules:"


def is_baseline(name: str) -> bool:
    """Whether a model must be beaten by those that want to be chosen."""
    return name not in LEARNED


def predicts(name: str, output: Output, columns: Mapping[str, str] | None = None) -> bool:
    """Whether a model of this name can predict such an output; `columns` as of `create`."""
    if output.kind == "binary":
        return name not in ("stack", *OF_PROGRAMS)
    if output.kind == "quantiles":
        return name in ("constant", "boosted", "mixture", *(columns or ()))
    return name in (*SEVERAL, *(columns or ()))


def create(
    name: str,
    *,
    rule_sets: Mapping[str, RuleSet] | None = None,
    columns: Mapping[str, str] | None = None,
    lstm: LstmSettings | None = None,
    boosted: BoostedSettings | None = None,
    members: Sequence[str] = (),
    output: Output = BINARY,
) -> Loadable:
    """A new, unfitted model.

    `name` is one of `NAMES`, or ``rules:SET`` with SET a key of `rule_sets`, or a key of `columns`,
    the baselines that answer a feature, with these features. `members` are what ``stack`` joins.

    Raises:
        UsageError: there is no such model, or none that predicts this.
    """
    if not predicts(name, output, columns):
        raise UsageError(f"the model {name!r} does not predict {output.kind}")
    if columns and name in columns:
        return Column(name, columns[name])
    known = rule_sets or {}
    if name.startswith(RULES) and name.removeprefix(RULES) in known:
        return Rules(known[name.removeprefix(RULES)])
    if name == Stack.name:
        make = partial(create, columns=columns, boosted=boosted, output=output)
        return Stack(members, make, columns)
    if name in NAMES:
        own = {"lstm": (lstm,), "boosted": (boosted,)}.get(name, ())
        made: Loadable = _class_of(name, output)(*own)
        return made
    names = (*NAMES, *(columns or ()), *(RULES + rule for rule in sorted(known)))
    raise UsageError(f"no model is named {name!r}; known are {', '.join(names)}")


def load(
    name: str,
    folder: Path,
    *,
    columns: Mapping[str, str] | None = None,
    network: str | None = None,
    output: Output = BINARY,
) -> Loadable:
    """The model that was saved in `folder`.

    Raises:
        UsageError: there is no such model.
        ModelError: a file is missing, damaged or of another schema.
    """
    if columns and name in columns:
        return Column.load(folder)
    if name.startswith(RULES):
        return Rules.load(folder)
    if name in NAMES:
        own: dict[str, Any] = {"network": network} if name == "lstm" else {}
        if name == Stack.name:
            own = {"known": NAMES, "read": load}
        loaded: Loadable = _class_of(name, output).load(folder, **own)
        return loaded
    raise UsageError(f"no model is named {name!r}; known are {', '.join(NAMES)} and {RULES}SET")


def _class_of(name: str, output: Output) -> Any:
    """Class of one of `NAMES`."""
    several = name == "boosted" and output.kind != "binary"
    module, _, kind = ("forests:BoostedColumns" if several else _CLASSES[name]).partition(":")
    if module == "networks":
        require_torch(ModelError)
    return getattr(importlib.import_module(f"{__name__}.{module}"), kind)
