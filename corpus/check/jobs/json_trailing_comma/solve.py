import json

with open("params.json") as source:
    params = json.load(source)
print(params["nu"] * params["dt"])
