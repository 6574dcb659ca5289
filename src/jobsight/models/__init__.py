"""The models, one file each, behind one protocol.

`create` and `load` find a model by its name. Importing this package imports neither PyTorch nor
LightGBM nor scikit-learn: a model's libraries are imported when it is used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from jobsight.errors import UsageError
from jobsight.models.base import BINARY, Inputs, Labelled, Loadable, Model, Output
from jobsight.models.column import Column
from jobsight.models.constant import Constant
from jobsight.models.rates import Rates
from jobsight.models.rules import Rules, RuleSet
from jobsight.models.stack import Stack
from jobsight.settings import BoostedSettings, LstmSettings

__all__ = ["LEARNED", "NAMES", "SEVERAL", "Inputs", "Labelled", "Model", "create", "is_baseline",
           "load", "predicts"]  # fmt: skip

OF_PROGRAMS = ("text", "svm", "forest", "dense", "recurrent", "tree")
"""Models of kinds and shares that read programs, or features of them."""
NAMES = ("constant", "rates", "linear", "boosted", "lstm", "stack", *OF_PROGRAMS)
"""Every model but rule sets (``rules:…``) and `Column`s, whose names a question gives."""
LEARNED = (
    "linear", "boosted", "lstm", "mixture", "stack", "svm", "forest", "dense", "recurrent", "tree",
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

    Args:
        name: one of `NAMES`, or ``rules:SET`` with SET a key of `rule_sets`, or a key of `columns`.
        output: what it is to predict; see `predicts`.
        rule_sets: the question's rule sets.
        columns: the question's baselines that answer a feature, and these features.
        lstm: settings of the model ``lstm``.
        boosted: settings of the model ``boosted``.
        members: models that ``stack`` joins.

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
    if name == "lstm":
        from jobsight.models.recurrent import Recurrent

        return Recurrent(lstm)
    if name == "boosted":
        made: Any = _class_of(name, output)
        return made(boosted)  # type: ignore[no-any-return]
    if name == Stack.name:
        make = partial(create, columns=columns, boosted=boosted, output=output)
        return Stack(members, make, columns)
    if name in NAMES:
        return _class_of(name, output)()
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

    Args:
        name: what it was created by.
        folder: what it was saved to.
        columns: see `create`.
        network: the network class that the settings or a flag name, see `Recurrent.load`.
        output: what it was fitted to predict.

    Raises:
        UsageError: there is no such model.
        ModelError: a file is missing, damaged or of another schema.
    """
    if columns and name in columns:
        return Column.load(folder)
    if name == "lstm":
        from jobsight.models.recurrent import Recurrent

        return Recurrent.load(folder, network=network)
    if name.startswith(RULES):
        return Rules.load(folder)
    if name in NAMES:
        return _class_of(name, output).load(folder)
    raise UsageError(f"no model is named {name!r}; known are {', '.join(NAMES)} and {RULES}SET")


def _class_of(name: str, output: Output) -> type[Loadable]:
    """Class of a model that needs no settings."""
    if name == "boosted" and output.kind != "binary":
        from jobsight.models.forests import BoostedColumns

        return BoostedColumns
    if name == "boosted":
        from jobsight.models.boosted import Boosted

        return Boosted
    if name == "linear":
        from jobsight.models.linear import Linear

        return Linear
    if name in OF_PROGRAMS:
        from jobsight.models import forest, networks, svm, words

        known: dict[str, type[Loadable]] = {
            one.name: one
            for one in (words.Words, svm.Svm, forest.Forest, networks.Dense, networks.NodeSequence,
                        networks.NodeTree)
        }  # fmt: skip
        return known[name]
    if name == Stack.name:
        return Stack
    return Rates if name == Rates.name else Constant
