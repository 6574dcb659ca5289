import os
import sys

with open("/proc/loadavg") as f:
    print(sys.argv[1], f.read().split()[0], os.getpid())
