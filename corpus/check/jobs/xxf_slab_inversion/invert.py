import math
import random
import sys


def forward(depth, v):
    return depth / v * (1 + 0.05 * math.sin(depth / 40.0))


def main(obsfile, modfile):
    obs = [float(x) for x in open(obsfile) if x.strip()]
    rng = random.Random(obsfile)
    best, model = 1e9, None
    for it in range(200000):
        m = (rng.uniform(20, 120), rng.uniform(5.5, 8.5))
        misfit = sum((o - forward(*m)) ** 2 for o in obs)
        if misfit < best:
            best, model = misfit, m
    if best > 5.0 * len(obs):
        raise SystemExit("misfit %.2f too high" % best)
    with open(modfile, "w") as fh:
        fh.write("%.2f %.3f %.4f\n" % (model + (best,)))


main(sys.argv[1], sys.argv[2])
