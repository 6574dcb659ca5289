from dataclasses import dataclass

import yaml


@dataclass
class Target:
    name: str
    period: float
    walkers: int = 16
    steps: int = 500


def load(path):
    with open(path) as fh:
        return Target(**yaml.safe_load(fh))
