import json

with open("config/params.yml") as stream:
    params = json.load(stream)
print(params["period"])
