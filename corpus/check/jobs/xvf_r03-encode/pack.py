"""Pack the table of runs with the group's awk tool."""
import argparse
import subprocess
from pathlib import Path


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--table", type=Path, required=True)
    ap.add_argument("--out", type=Path, required=True)
    args = ap.parse_args()
    tool = Path("tools") / "pack.awk.sh"
    res = subprocess.run(["./" + str(tool), str(args.table)], check=True, stdout=subprocess.PIPE, text=True)
    args.out.write_text(res.stdout)


if __name__ == "__main__":
    main()
