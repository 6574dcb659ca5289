import argparse
import json
import os

from . import __version__
from .model import Linear
from .util import coerce


def fit(a):
    cfg = json.load(open(a.config))
    for kv in a.set or []:
        k, v = kv.split("=", 1)
        cfg[k] = coerce(v)
    m = Linear(cfg["lr"])
    for _ in range(cfg["epochs"]):
        loss = m.epoch(cfg["data"])
        if a.v:
            print("loss", loss)
    os.makedirs(cfg["outdir"], exist_ok=True)
    json.dump({"loss": loss, "version": __version__}, open(os.path.join(cfg["outdir"], "metrics.json"), "w"))


def main():
    p = argparse.ArgumentParser(prog="toyml")
    sub = p.add_subparsers(dest="cmd", required=True)
    f = sub.add_parser("fit")
    f.add_argument("--config", required=True)
    f.add_argument("--set", action="append", metavar="K=V")
    f.add_argument("-v", action="count", default=0)
    f.set_defaults(func=fit)
    a = p.parse_args()
    a.func(a)


if __name__ == "__main__":
    main()
