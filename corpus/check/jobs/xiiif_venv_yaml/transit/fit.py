import argparse

import emcee
import numpy as np

from . import config


def lnprob(theta, t, f):
    depth, width = theta
    if not (0 < depth < 0.1 and 0 < width < 0.2):
        return -np.inf
    model = np.where(np.abs(t) < width / 2, 1 - depth, 1.0)
    return -0.5 * np.sum(((f - model) / 0.001) ** 2)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--config", required=True)
    ap.add_argument("--out", required=True)
    a = ap.parse_args()
    cfg = config.load(a.config)
    rng = np.random.default_rng(0)
    t = np.linspace(-0.2, 0.2, 400)
    f = np.where(np.abs(t) < 0.05, 0.985, 1.0) + rng.normal(0, 0.001, t.size)
    p0 = np.array([0.01, 0.08]) + rng.normal(0, 1e-4, (cfg.walkers, 2))
    s = emcee.EnsembleSampler(cfg.walkers, 2, lnprob, args=(t, f))
    s.run_mcmc(p0, cfg.steps)
    np.savetxt(a.out, s.get_chain(flat=True))


if __name__ == "__main__":
    main()
