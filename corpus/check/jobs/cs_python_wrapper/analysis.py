import json
import os
import sys

print(json.load(open(sys.argv[1])), os.environ.get("_CONDOR_SLOT", "no slot"))
