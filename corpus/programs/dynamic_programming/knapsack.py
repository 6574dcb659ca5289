import argparse
import random

parser = argparse.ArgumentParser(description="0/1 knapsack")
parser.add_argument("items", type=int)
parser.add_argument("capacity", type=int)
args = parser.parse_args()

random.seed(args.items)
weights = [random.randint(5, 100) for _ in range(args.items)]
values = [w + random.randint(-4, 20) for w in weights]
best = [0] * (args.capacity + 1)
for weight, value in zip(weights, values):
    for c in range(args.capacity, weight - 1, -1):
        with_item = best[c - weight] + value
        if with_item > best[c]:
            best[c] = with_item
print(best[-1])
