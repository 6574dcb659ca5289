"""OPLS torsion for a first look before the real DFT scan."""
import math

import yaml


def settings(path):
    with open(path) as fh:
        return yaml.safe_load(fh)


def energy(phi, v1, v2, v3):
    return (0.5 * v1 * (1 + math.cos(phi))
            + 0.5 * v2 * (1 - math.cos(2 * phi))
            + 0.5 * v3 * (1 + math.cos(3 * phi)))
