import argparse
import random

p = argparse.ArgumentParser(description="toy")
p.add_argument("--seed", type=int, default=0)
a = p.parse_args()
random.seed(a.seed)
print(random.random())
