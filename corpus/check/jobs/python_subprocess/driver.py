import json
import pathlib
import subprocess
import sys

config = json.loads(pathlib.Path(sys.argv[1]).read_text())
for name in config["names"]:
    out = pathlib.Path("out") / f"{name}.txt"
    out.parent.mkdir(exist_ok=True)
    with out.open("w") as stream:
        subprocess.run([sys.executable, "worker.py", name], stdout=stream, check=True)
print(len(list(pathlib.Path("out").iterdir())))
