import argparse
import random


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--n-steps", type=int, required=True)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


args = parse()
random.seed(args.seed)
print(sum(random.choice((-1, 1)) for _ in range(args.n_steps)))
