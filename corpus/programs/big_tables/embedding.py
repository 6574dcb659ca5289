import numpy as np
import sys

# Average the vectors of the words of each sentence; the table is as large as the vocabulary.
vocabulary, sentences = int(sys.argv[1]), int(sys.argv[2])
table = np.ones((vocabulary, 32), dtype=np.float32)
rng = np.random.default_rng(0)
total = np.zeros(32, dtype=np.float64)
for batch in range(0, sentences, 20000):
    words = rng.integers(0, vocabulary, size=(20000, 12))
    total += table[words].sum(axis=1).mean(axis=0)
print(total[:4])
