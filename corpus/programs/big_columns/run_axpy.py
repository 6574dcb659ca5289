"""Build and run the column kernel for some sizes."""
import os
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
n, rounds = int(sys.argv[1]), sys.argv[2]
with tempfile.TemporaryDirectory(dir=".") as build:
    kernel = os.path.join(build, "axpy")
    subprocess.check_call(["gcc", "-O2", "-o", kernel, os.path.join(here, "axpy.c")])
    for size in (n, n + n // 2):
        out = subprocess.run([kernel, str(size), rounds], stdout=subprocess.PIPE, text=True, check=True)
        print(out.stdout.strip())
