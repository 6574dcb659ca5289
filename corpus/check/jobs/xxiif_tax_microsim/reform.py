import argparse
import configparser

import numpyish as np


def tax(y, br):
    t = 0.0
    for (lo, rate), (hi, _) in zip(br, br[1:] + [(float("inf"), 0)]):
        t += max(0.0, min(y, hi) - lo) * rate
    return t


ap = argparse.ArgumentParser()
ap.add_argument("--brackets", required=True)
ap.add_argument("--n", type=int, default=1000)
o = ap.parse_args()
cp = configparser.ConfigParser()
if not cp.read(o.brackets):
    raise SystemExit("cannot read " + o.brackets)
inc = np.lognormal(10.2, 0.6, o.n, seed=5)
for sec in cp.sections():
    br = sorted((float(k), float(v)) for k, v in cp[sec].items())
    net = [y - tax(y, br) for y in inc]
    print("%-8s mean %9.1f  gini %.4f" % (sec, np.mean(net), np.gini(net)))
