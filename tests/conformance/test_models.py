"""Every model keeps the contract of `jobsight.models.base.Model`."""

from dataclasses import replace

import pytest

from jobsight.models import NAMES, create, predicts
from jobsight.models.base import BINARY, Labelled, Loadable
from jobsight.models.rules import Among, Arm, Between, RuleSet
from jobsight.settings import LstmSettings
from jobsight.testing import ModelContract

RULE_SETS = {
    "some": RuleSet(
        "some",
        (
            Arm("known", True, (Among(("code", "subcode"), ((1, 2), (3, None))),)),
            Arm("few", True, (Between("num_holds", high=4), Among(("code",), ((4,),), True))),
            Arm("rest", False),
        ),
    ),
    "timed": RuleSet("timed", (Arm("remove", False),)),
}
SMALL = LstmSettings(hidden_size=8, epochs=3, batch_size=64)


COLUMNS = {"rates:5": "load", "last": "same"}


ASKED = [name for name in NAMES if predicts(name, BINARY)]


def with_counts(rows: Labelled) -> Labelled:
    """Examples that count what was known of like decisions."""
    code, subcode, number = rows.inputs.facts.values()
    counts = {"good all": number, "bad all": code, "good subcode": subcode, "bad subcode": number}
    inputs = replace(rows.inputs, facts={**rows.inputs.facts, **counts}, learned=("all", "subcode"))
    return replace(rows, inputs=inputs)


@pytest.fixture(params=[*ASKED, "lstm-flat", *COLUMNS, *(f"rules:{name}" for name in RULE_SETS)])
def model_name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class TestModels(ModelContract):
    @pytest.fixture(autouse=True)
    def _named(self, model_name: str) -> None:
        if model_name.startswith("lstm"):
            pytest.importorskip("torch", reason="PyTorch is not installed")
        self.name = model_name
        self.counts = model_name.startswith("rates:learning")

    def new_model(self) -> Loadable:
        if self.name == "lstm-flat":
            return create("lstm", lstm=SMALL.model_copy(update={"network": "lstm-flat"}))
        return create(self.name, rule_sets=RULE_SETS, columns=COLUMNS, lstm=SMALL)

    def examples(self) -> tuple[Labelled, Labelled]:
        first, later = super().examples()
        return (with_counts(first), with_counts(later)) if self.counts else (first, later)
