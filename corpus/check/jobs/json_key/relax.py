import json
with open("relax.json") as source:
    options = json.load(source)
for step in range(options["steps"]):
    pass
print(options["tol"])
