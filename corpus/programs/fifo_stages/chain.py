"""source | filter | count, with the ends in our hands"""
import os
import subprocess
import sys

here = os.path.dirname(os.path.realpath(__file__))
source = subprocess.Popen(["bash", f"{here}/slow_source.sh", sys.argv[1]], stdout=subprocess.PIPE)
odd = subprocess.Popen(["grep", "--line-buffered", "[13579]$"], stdin=source.stdout, stdout=subprocess.PIPE, text=True)
source.stdout.close()
for n, line in enumerate(odd.stdout, 1):
    print(n, line.strip(), flush=True)
odd.wait()
