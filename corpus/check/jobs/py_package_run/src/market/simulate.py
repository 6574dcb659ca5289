import argparse
import random

from market import Trader

try:
    import numba
except ImportError:
    numba = None


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--agents", type=int, required=True)
    parser.add_argument("--ticks", type=int, default=10)
    parser.add_argument("--seed", type=int)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    traders = [Trader() for _ in range(options.agents)]
    for tick in range(options.ticks):
        for trader in traders:
            trader.trade(rng)
        if tick % 5 == 0:
            print(tick, sum(one.cash for one in traders) / len(traders))
    print("jit" if numba else "plain", max(one.cash for one in traders))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
