import sys
from .grid import levels
print(levels(int(sys.argv[sys.argv.index("--depth") + 1])))
