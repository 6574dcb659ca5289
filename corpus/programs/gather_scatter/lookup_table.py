"""Re-colour a large label image: every label is looked up in a shuffled table."""
import sys

import numpy as np

labels = int(sys.argv[1])
rounds = int(sys.argv[2])
rng = np.random.default_rng(9)
table = rng.permutation(labels)
image = np.arange(labels)
for _ in range(rounds):
    image = table[image]
print("fixed points:", int((image == np.arange(labels)).sum()))
