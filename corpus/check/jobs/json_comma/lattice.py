import argparse
import json

parser = argparse.ArgumentParser()
parser.add_argument("--config", required=True)
options = parser.parse_args()
with open(options.config) as handle:
    config = json.load(handle)
print(config["size"] ** 2)
