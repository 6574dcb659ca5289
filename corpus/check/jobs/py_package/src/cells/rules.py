from dataclasses import dataclass, field


@dataclass(frozen=True)
class Rule:
    number: int = 30
    bits: tuple[int, ...] = field(init=False)

    def __post_init__(self):
        object.__setattr__(self, "bits", tuple(self.number >> k & 1 for k in range(8)))

    def __call__(self, row):
        n = len(row)
        return [self.bits[row[i - 1] << 2 | row[i] << 1 | row[(i + 1) % n]] for i in range(n)]
