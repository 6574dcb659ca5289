"""The optimizer AdamW, as PyTorch computes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import torch
from torch import Tensor
from torch.optim.adamw import adamw

__all__ = ["AdamW"]


class AdamW:
    """AdamW with PyTorch's defaults (Loshchilov and Hutter, ICLR 2019), to the same bits.

    The class `torch.optim.AdamW` imports PyTorch's compiler, which takes as long as all the rest
    of PyTorch, in each run of a sweep; the function does not.

    Attributes:
        state: by the parameter's number, once it had a gradient: `step` float32 (), `exp_avg` and
            `exp_avg_sq` of the parameter's shape.
    """

    def __init__(self, parameters: Iterable[Tensor], rate: float, decay: float) -> None:
        self._parameters = tuple(parameters)
        self._rate, self._decay = rate, decay
        self.state: dict[int, dict[str, Tensor]] = {}

    def zero_grad(self) -> None:
        """Forget all gradients."""
        for parameter in self._parameters:
            parameter.grad = None

    def step(self) -> None:
        """Move the parameters by their gradients; those without any stay."""
        moved = {k: one for k, one in enumerate(self._parameters) if one.grad is not None}
        for number, one in moved.items():
            if number not in self.state:
                first, second = torch.zeros_like(one), torch.zeros_like(one)
                step = torch.tensor(0.0, dtype=torch.float32)
                self.state[number] = {"step": step, "exp_avg": first, "exp_avg_sq": second}
        states = [self.state[number] for number in moved]
        with torch.no_grad():
            adamw(
                list(moved.values()),
                [one.grad for one in moved.values() if one.grad is not None],
                [one["exp_avg"] for one in states],
                [one["exp_avg_sq"] for one in states],
                max_exp_avg_sqs=[],
                state_steps=[one["step"] for one in states],
                amsgrad=False,
                beta1=0.9,
                beta2=0.999,
                lr=self._rate,
                weight_decay=self._decay,
                eps=1e-8,
                maximize=False,
            )

    def restore(self, state: Mapping[int, Mapping[str, Tensor]]) -> None:
        """Go on from a state, with copies of its tensors where the parameters are."""
        self.state = {
            number: {
                name: tensor.to(
                    "cpu" if name == "step" else self._parameters[number].device
                ).clone()
                for name, tensor in one.items()
            }
            for number, one in state.items()
        }
