import sys
from urllib.request import urlopen

print(urlopen("http://127.0.0.1:%s/" % sys.argv[1], timeout=5).read().decode().strip())
