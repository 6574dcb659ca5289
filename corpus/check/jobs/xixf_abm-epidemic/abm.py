"""SIR on a random graph; from abm_explore.ipynb (cells 1-7)."""
# In[1]:
import argparse
import csv
import os
import random

# In[2]:
ap = argparse.ArgumentParser()
ap.add_argument("--beta", type=float)
ap.add_argument("--gamma", type=float)
ap.add_argument("--degree", type=int)
ap.add_argument("--runs", type=int, default=10)
ap.add_argument("--seed", type=int, default=0)
ap.add_argument("--outdir", default=".")
args = ap.parse_args()
random.seed(args.seed)

# In[4]:
def run(n=400):
    nb = [[random.randrange(n) for _ in range(args.degree)] for _ in range(n)]
    state = ["S"] * n
    state[0] = "I"
    peak, t = 0, 0
    while "I" in state:
        new = state[:]
        for i, s in enumerate(state):
            if s != "I":
                continue
            for j in nb[i]:
                if state[j] == "S" and random.random() < args.beta:
                    new[j] = "I"
            if random.random() < args.gamma:
                new[i] = "R"
        state = new
        t += 1
        peak = max(peak, state.count("I"))
    return t, peak, state.count("R")

# In[7]:
with open(os.path.join(args.outdir, "summary.csv"), "w", newline="") as fh:
    w = csv.writer(fh)
    w.writerow(["beta", "gamma", "degree", "run", "duration", "peak", "size"])
    for r in range(args.runs):
        w.writerow([args.beta, args.gamma, args.degree, r, *run()])
