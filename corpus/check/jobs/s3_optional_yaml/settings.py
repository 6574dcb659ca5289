import json
try:
    import tomlkit_not_installed as toml
except ImportError:
    toml = None
with open("settings.json") as source:
    settings = json.load(source)
print(settings.get("tolerance", 1e-6), toml is None)
