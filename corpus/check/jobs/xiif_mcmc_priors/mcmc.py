import json
import math
import random
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
n_iter = int(sys.argv[1])

with open(HERE / "params" / "priors.json") as fh:
    prior = json.load(fh)
obs = [float(x) for x in (HERE / "obs.txt").read_text().split()]


def logpost(mu):
    lp = -0.5 * ((mu - prior["mean"]) / prior["sd"]) ** 2
    return lp - 0.5 * sum((x - mu) ** 2 for x in obs)


rng = random.Random(1)
mu, cur = prior["mean"], logpost(prior["mean"])
acc = 0
with open("chain.txt", "w") as out:
    for i in range(n_iter):
        new = mu + rng.gauss(0, 0.4)
        lp = logpost(new)
        if math.log(rng.random()) < lp - cur:
            mu, cur = new, lp
            acc += 1
        out.write(f"{i}\t{mu:.5f}\n")
print("acceptance", acc / n_iter)
