import sys
from . import tools
sys.exit(tools.main(sys.argv[1:]))
