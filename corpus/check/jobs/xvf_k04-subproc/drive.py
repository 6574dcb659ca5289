"""Run the steps named in a JSON file, one after the other."""
import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main() -> int:
    steps = json.loads(Path(sys.argv[1]).read_text())
    for step in steps:
        tool = HERE / "tools" / step["tool"]
        runner = [sys.executable] if tool.suffix == ".py" else ["sh"]
        subprocess.run([*runner, str(tool), *step["args"]], check=True, timeout=60)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
