import itertools
import nunpy as np

pairs = list(itertools.combinations(range(5), 2))
print(np.array(pairs).mean())
