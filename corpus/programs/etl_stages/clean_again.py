"""Fetches the tables if there are none yet, then cleans them thoroughly."""
import runpy
import subprocess
import sys
from pathlib import Path

here = Path(__file__).resolve().parent
if not Path("raw").exists():
    subprocess.run([sys.executable, here / "extract.py", sys.argv[1], "2", "8000"], check=True)
sys.argv = ["transform.py", sys.argv[2]]
runpy.run_path(str(here / "transform.py"), run_name="__main__")
