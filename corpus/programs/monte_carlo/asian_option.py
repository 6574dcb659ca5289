"""Price an Asian option by simulation; paths come in batches."""
import argparse
import logging

import numpy as np

log = logging.getLogger("asian")


def batch(rng, paths, days, s0, sigma, rate, strike):
    dt = 1.0 / days
    steps = rng.standard_normal((paths, days)) * sigma * np.sqrt(dt)
    steps += (rate - sigma**2 / 2) * dt
    prices = s0 * np.exp(np.cumsum(steps, axis=1))
    payoff = np.maximum(prices.mean(axis=1) - strike, 0.0)
    return np.exp(-rate) * payoff


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("batches", type=int)
    parser.add_argument("--paths", type=int, default=500)
    parser.add_argument("--days", type=int, default=250)
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO)
    rng = np.random.default_rng(7)
    total, squares, n = 0.0, 0.0, 0
    for k in range(args.batches):
        value = batch(rng, args.paths, args.days, 100.0, 0.25, 0.02, 105.0)
        total += value.sum()
        squares += (value**2).sum()
        n += len(value)
        log.info("batch %d of %d: %.4f", k + 1, args.batches, total / n)
    error = np.sqrt((squares / n - (total / n) ** 2) / n)
    print(f"price {total / n:.4f} +- {error:.4f}")


if __name__ == "__main__":
    main()
