#!/usr/bin/env python3
import argparse
import json

parser = argparse.ArgumentParser()
parser.add_argument("--run", type=int)
parser.add_argument("--scale", type=float)
options = parser.parse_args()
with open("calib.json") as source:
    print(options.run, options.scale * json.load(source)["gain"])
