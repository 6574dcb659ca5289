import argparse

import numpy as np

ap = argparse.ArgumentParser()
ap.add_argument("pages", type=int)
ap.add_argument("--links", type=int, default=6)
ap.add_argument("--iterations", type=int, default=10)
opt = ap.parse_args()

rng = np.random.default_rng(1)
source = np.repeat(np.arange(opt.pages), opt.links)
target = rng.integers(0, opt.pages, size=opt.pages * opt.links)
rank = np.full(opt.pages, 1 / opt.pages)
for it in range(opt.iterations):
    flow = rank[source] / opt.links
    rank = 0.15 / opt.pages + 0.85 * np.bincount(target, weights=flow, minlength=opt.pages)
    print(it, rank.max())
