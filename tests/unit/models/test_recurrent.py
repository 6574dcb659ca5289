import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jobsight.errors import ModelError, SettingsError, TrainingError
from jobsight.models.logistic import log_odds
from jobsight.models.rates import START_CAP, rate_as_known
from jobsight.models.recurrent import Recurrent
from jobsight.settings import LstmSettings
from jobsight.testing import made_examples

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

SMALL = LstmSettings(hidden_size=8, epochs=4)
TRAIN, SELECT, LATER = (made_examples(rows, seed=rows) for rows in (200, 80, 100))


def fitted(settings: LstmSettings = SMALL) -> Recurrent:
    model = Recurrent(settings)
    model.fit_resumably(TRAIN, SELECT, seed=0)
    return model


def test_it_reads_the_frames() -> None:
    random = np.random.default_rng(0)
    frames = random.integers(0, 6, (400, 6, 4)).astype(np.uint8)
    examples = made_examples(400, seed=1)
    inputs = replace(
        examples.inputs, frames=frames, features=np.zeros((400, 4), dtype=np.float32), causes={}
    )
    learned = replace(examples, inputs=inputs, values=frames[:, 2, 0] >= 3)
    model = Recurrent(LstmSettings(hidden_size=16, epochs=60, learning_rate=0.01, dropout=0.0))
    model.fit_resumably(learned.take(np.arange(300)), learned.take(np.arange(300, 350)), seed=0)
    later = learned.take(np.arange(350, 400))
    assert np.mean((model.predict(later.inputs) > 0.5) == later.success) > 0.9


def test_it_starts_from_the_rate_that_goes_on_learning() -> None:
    """What a rate knows of another pool moves the answers as far as it moves itself."""
    number = np.arange(len(TRAIN), dtype=np.int64)
    facts = {"good all": number, "bad all": number[::-1].copy()}
    known = replace(TRAIN.inputs, facts=facts, learned=("all",))
    model = Recurrent(SMALL)
    model.fit_resumably(replace(TRAIN, inputs=known), SELECT.take(np.zeros(0, int)), seed=0)
    moved = replace(known, facts={**facts, "bad all": 0 * number})
    design = model.fitted.design
    same_rest = replace(design, cause_spread=np.zeros(1), spread=np.zeros(len(design.features)))
    model._fitted = replace(model.fitted, design=same_rest)
    odds = [log_odds(model.predict(asked)) for asked in (known, moved)]
    rates = [
        log_odds(rate_as_known(asked, design.causes.table, START_CAP)) for asked in (known, moved)
    ]
    assert odds[1] - odds[0] == pytest.approx(rates[1] - rates[0], abs=1e-5)


def test_the_order_of_frames_matters() -> None:
    model = fitted()
    assert LATER.inputs.frames is not None
    turned = replace(LATER.inputs, frames=LATER.inputs.frames[:, ::-1].copy())
    assert not np.allclose(model.predict(turned), model.predict(LATER.inputs))


def test_early_stopping_keeps_the_best_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    from jobsight.models.fitting import Fitting

    losses = iter([3.0, 1.0, 2.0, 2.0, 2.0])
    states: list[dict[str, Any]] = []

    def scripted(self: Fitting, number: int) -> tuple[float, Any]:
        states.append({name: value.clone() for name, value in self.network.state_dict().items()})
        return next(losses), np.zeros(0)

    monkeypatch.setattr(Fitting, "_judge", scripted)
    model = fitted(SMALL.model_copy(update={"patience": 2, "epochs": 50}))
    assert len(states) == 4
    kept = model.fitted.network.state_dict()
    assert all(torch.equal(kept[name], states[1][name]) for name in kept)


def test_torch_is_left_as_it_was() -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    threads = torch.get_num_threads()
    fitted()
    assert torch.equal(torch.rand(3), expected)
    assert torch.get_num_threads() == threads
    assert not torch.are_deterministic_algorithms_enabled()


def test_frames_must_be_there_and_fit() -> None:
    bare = replace(TRAIN, inputs=replace(TRAIN.inputs, frames=None))
    with pytest.raises(TrainingError, match="without frames"):
        Recurrent(SMALL).fit_resumably(bare, SELECT, seed=0)
    model = fitted()
    with pytest.raises(ModelError, match="given none"):
        model.predict(bare.inputs)
    with pytest.raises(ModelError, match=r"\(6, 4\), given \(5, 4\)"):
        assert LATER.inputs.frames is not None
        model.predict(replace(LATER.inputs, frames=LATER.inputs.frames[:, 1:]))
    with pytest.raises(ModelError, match="5 state events"):
        model.predict(replace(LATER.inputs, state_events=9))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gru", "known are lstm, lstm-flat"),
        ("no_such_module:Net", "cannot import"),
        ("json:dumps", "no torch.nn.Module"),
        ("json:nothing", "cannot import"),
    ],
)
def test_a_network_that_is_none(name: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        fitted(SMALL.model_copy(update={"network": name}))


OWN = """
import torch

class Own(torch.nn.Module):
    def __init__(self, shape, settings):
        super().__init__()
        self.answer = torch.nn.Linear(shape.rest, 1)

    def forward(self, frames, rest):
        return self.answer(rest).squeeze(1)
"""


def test_a_users_own_network_is_imported_only_if_the_settings_name_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_networks.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    folder = tmp_path / "model"
    folder.mkdir()
    model = fitted(SMALL.model_copy(update={"network": "my_networks:Own"}))
    model.save(folder)
    monkeypatch.delitem(sys.modules, "my_networks")
    for named in (None, "lstm", "my_networks:Other"):
        with pytest.raises(ModelError, match="my_networks:Own"):
            Recurrent.load(folder, network=named)
        assert "my_networks" not in sys.modules
    again = Recurrent.load(folder, network="my_networks:Own")
    assert np.array_equal(again.predict(LATER.inputs), model.predict(LATER.inputs))


def test_weights_of_another_network_are_refused(tmp_path: Path) -> None:
    fitted().save(tmp_path)
    path = tmp_path / "model.json"
    body = json.loads(path.read_text())
    body["settings"]["network"] = "lstm-flat"
    path.write_text(json.dumps(body))
    with pytest.raises(ModelError, match="another network"):
        Recurrent.load(tmp_path)


def test_without_torch_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(TrainingError, match=r"jobsight\[lstm\]"):
        Recurrent(SMALL).fit_resumably(TRAIN, SELECT, seed=0)
    with pytest.raises(ModelError, match=r"jobsight\[lstm\]"):
        Recurrent.load(tmp_path)


def test_a_faulty_network_of_the_users_own_gives_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "faulty_nets.py").write_text(
        "import torch\n"
        "class NoArguments(torch.nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "class WrongShape(torch.nn.Module):\n"
        "    def __init__(self, shape, settings):\n"
        "        super().__init__()\n"
        "        self.scale = torch.nn.Parameter(torch.ones(3))\n"
        "    def forward(self, frames, rest):\n"
        "        return self.scale\n"
    )
    monkeypatch.chdir(tmp_path)  # the current folder is searched for it
    for name in ("NoArguments", "WrongShape"):
        with pytest.raises(SettingsError, match=f"faulty_nets:{name}' failed"):
            fitted(replace_network(f"faulty_nets:{name}"))
    assert str(tmp_path) not in sys.path


def replace_network(name: str) -> LstmSettings:
    return SMALL.model_copy(update={"network": name})
