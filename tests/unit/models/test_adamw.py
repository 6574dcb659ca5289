"""AdamW moves weights as PyTorch's class does, to the bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from torch import Tensor, nn

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from jobsight.models.adamw import AdamW  # noqa: E402

RATE, DECAY = 0.05, 0.1


def network() -> nn.Sequential:
    torch.manual_seed(4)
    parts = torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1), torch.nn.Linear(1, 1)
    parts[2].bias.requires_grad_(False)
    built: nn.Sequential = torch.nn.Sequential(*parts)
    return built


def moved(net: nn.Sequential, step: Callable[[], object], steps: range) -> list[Tensor]:
    """The weights after some steps, of which the first give the last layer no gradient."""
    for number in steps:
        net.zero_grad()
        rows = torch.linspace(-1.0, number + 1.0, 12).reshape(4, 3)
        (net[:3] if number < 2 else net)(rows).square().sum().backward()
        step()
    return [one.detach().clone() for one in net.parameters()]


def same(one: list[Tensor], other: list[Tensor]) -> bool:
    return all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


def test_its_steps_are_pytorchs() -> None:
    theirs, ours = network(), network()
    optimizer = torch.optim.AdamW(theirs.parameters(), lr=RATE, weight_decay=DECAY)
    wanted = moved(theirs, optimizer.step, range(6))
    assert not same(wanted, list(network().parameters()))
    assert same(moved(ours, AdamW(ours.parameters(), RATE, DECAY).step, range(6)), wanted)


def test_restored_it_goes_on_and_leaves_what_it_was_given() -> None:
    net = network()
    first = AdamW(net.parameters(), RATE, DECAY)
    moved(net, first.step, range(3))
    weights, kept = net.state_dict(), {k: {**one} for k, one in first.state.items()}
    other = network()
    other.load_state_dict(weights)
    second = AdamW(other.parameters(), RATE, DECAY)
    second.restore(kept)
    ended = moved(other, second.step, range(3, 6))
    assert all(float(one["step"]) <= 3.0 for one in kept.values())
    assert same(moved(net, first.step, range(3, 6)), ended)
