"""Kinship by marker blocks (additive, centred)."""
import sys

import numpy as np

N_ANIMALS = 60000
BLOCK = 500

K = np.ones((N_ANIMALS, N_ANIMALS))
with open(sys.argv[1]) as fh:
    block = []
    for line in fh:
        freq, seed = line.split()
        rng = np.random.default_rng(int(seed))
        block.append(rng.binomial(2, float(freq), N_ANIMALS) - 2 * float(freq))
        if len(block) == BLOCK:
            Z = np.array(block)
            K += Z.T @ Z
            block = []
    if block:
        Z = np.array(block)
        K += Z.T @ Z
np.save(sys.argv[2], K)
print("trace", np.trace(K))
