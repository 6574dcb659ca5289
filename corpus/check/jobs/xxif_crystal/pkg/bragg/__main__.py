import json
import sys

from . import reflections

with open(sys.argv[1]) as fh:
    cell = json.load(fh)
for hkl, theta in reflections(cell["a"], cell["wavelength"], cell["hmax"]):
    print(*hkl, f"{theta:.3f}")
