import json

with open("cfg.json") as f:
    cfg = dict(sorted(json.load(f).items())
for k, v in cfg.items():
    print(k, v)
