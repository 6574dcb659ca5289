"""Most likely weather for long diaries; numpy, states are few."""
import sys

import numpy as np

days, diaries = int(sys.argv[1]), int(sys.argv[2])
rng = np.random.default_rng(6)
states, symbols = 24, 12
move = np.log(rng.dirichlet(np.ones(states), states))
emit = np.log(rng.dirichlet(np.ones(symbols), states))
for d in range(diaries):
    seen = rng.integers(0, symbols, days)
    score = np.zeros(states)
    back = np.empty((days, states), dtype=np.int8)
    for t, symbol in enumerate(seen):
        options = score[:, None] + move
        back[t] = options.argmax(axis=0)
        score = options.max(axis=0) + emit[:, symbol]
    path = [int(score.argmax())]
    for t in range(days - 1, 0, -1):
        path.append(int(back[t, path[-1]]))
    print(d, np.bincount(path).argmax(), round(score.max() / days, 4))
