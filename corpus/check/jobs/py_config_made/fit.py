import configparser
import pathlib
import sys

settings = configparser.ConfigParser()
if not settings.read(sys.argv[1]):
    sys.exit(f"cannot read {sys.argv[1]}")
model = settings["model"]
target = pathlib.Path("weights") / f"{model['name']}.txt"
target.parent.mkdir(exist_ok=True)
target.write_text("0 " * model.getint("width"))
with target.open() as again:
    assert len(again.read().split()) == int(model["width"])
