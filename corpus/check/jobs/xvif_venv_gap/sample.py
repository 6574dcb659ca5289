"""Posterior of two line widths."""

import argparse
import math

import corner
import emcee
from tqdm import tqdm

parser = argparse.ArgumentParser()
parser.add_argument("--walkers", type=int, default=16)
parser.add_argument("--steps", type=int, default=1000)
parser.add_argument("--out", required=True)
args = parser.parse_args()


def log_posterior(theta):
    a, b = theta
    return -math.inf if a < 0 or b < 0 else -0.5 * ((a - 2.1) ** 2 + (b - 0.4) ** 2 / 0.01)


sampler = emcee.EnsembleSampler(args.walkers, 2, log_posterior)
with open(args.out, "w") as out:
    for theta in tqdm(sampler.run(args.steps)):
        print(*theta, file=out)
corner.save(sampler, args.out.replace(".txt", ".pdf"))
