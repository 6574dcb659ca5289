"""Elo ratings of simulated players, stored in Redis with one pipeline at the end."""
import math
import random
import sys

import redis

store = redis.Redis(host="localhost", port=int(sys.argv[1]))
rounds = int(sys.argv[2])
rng = random.Random(8)
skill = [rng.gauss(0, 200) for _ in range(3000)]
rating = [1500.0] * len(skill)
order = list(range(len(skill)))
for _ in range(rounds):
    rng.shuffle(order)
    for a, b in zip(order[::2], order[1::2]):
        wins = rng.random() < 1 / (1 + math.pow(10, (skill[b] - skill[a]) / 400))
        change = 12 * (wins - 1 / (1 + math.pow(10, (rating[b] - rating[a]) / 400)))
        rating[a] += change
        rating[b] -= change
with store.pipeline() as pipe:
    pipe.zadd("board", {f"player{k}": value for k, value in enumerate(rating)})
    pipe.expire("board", 60)
    pipe.execute()
print(store.zrevrange("board", 0, 2, withscores=True))
