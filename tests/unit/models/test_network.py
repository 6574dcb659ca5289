"""The networks read frames without one-hot tensors; they answer as those with them would."""

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from torch.nn import functional  # noqa: E402

from jobsight.models.network import NETWORKS, NetworkShape  # noqa: E402
from jobsight.settings import LstmSettings  # noqa: E402


def one_hot_forward(network: Any, frames: Any, rest: Any, states: int) -> Any:
    """The same network on one-hot floats, as its docstring has it."""
    cells = functional.one_hot(frames, states).float()  # (batch, m, j, states)
    if hasattr(network, "mix"):
        mixed = torch.einsum("bmjs,pj->bmps", cells[:, :, 1:], network.mix)
        vectors = torch.cat([cells[:, :, 0], mixed.flatten(2)], dim=2)
    else:
        vectors = cells.flatten(2)
    last = network.lstm(torch.relu(network.embed(vectors)))[0][:, -1]
    if network.rest is not None:
        last = torch.cat([last, torch.relu(network.rest(rest))], dim=1)
    return network.answer(network.drop(last)).squeeze(1)


@pytest.mark.parametrize("name", sorted(NETWORKS))
@pytest.mark.parametrize(
    ("batch", "m", "j", "states", "rest"),
    [(5, 7, 4, 6, 3), (1, 1, 1, 2, 0), (3, 2, 1, 256, 1), (40, 30, 25, 16, 5), (2, 3, 2, 200, 0)],
)
def test_as_on_one_hot_floats(
    name: str, batch: int, m: int, j: int, states: int, rest: int
) -> None:
    torch.manual_seed(batch)
    settings = LstmSettings(hidden_size=8, lstm_layers=2)
    network: Any = NETWORKS[name](NetworkShape(m, j, states, rest), settings).eval()
    frames = torch.randint(0, states, (batch, m, j))
    columns = torch.randn(batch, rest)
    wanted = one_hot_forward(network, frames, columns, states)
    wanted.square().sum().backward()
    gradients = {name: one.grad.clone() for name, one in network.named_parameters()}
    network.zero_grad()
    given = network(frames, columns)
    given.square().sum().backward()
    assert torch.allclose(given, wanted, atol=1e-5)
    for parameter, one in network.named_parameters():
        assert torch.allclose(one.grad, gradients[parameter], atol=1e-4), parameter
