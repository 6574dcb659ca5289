import argparse

import numpy as np

ap = argparse.ArgumentParser()
ap.add_argument("--genes", type=int, default=60000)
ap.add_argument("--block", type=int, default=500)
ap.add_argument("target")
a = ap.parse_args()

rng = np.random.default_rng(8)
expr = rng.standard_normal((a.genes, 40), dtype=np.float32)
expr -= expr.mean(axis=1, keepdims=True)
expr /= np.linalg.norm(expr, axis=1, keepdims=True)

out = np.memmap(a.target, dtype=np.float32, mode="w+", shape=(a.genes, a.genes))
for i in range(0, a.genes, a.block):
    out[i:i + a.block] = expr[i:i + a.block] @ expr.T
    out.flush()
print("done", out.shape)
