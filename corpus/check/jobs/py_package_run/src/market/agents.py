import random
from dataclasses import dataclass, field


@dataclass
class Trader:
    cash: float = 100.0
    history: list[float] = field(default_factory=list)

    def trade(self, rng: random.Random) -> None:
        self.cash += rng.gauss(0, 1)
        self.history.append(self.cash)
