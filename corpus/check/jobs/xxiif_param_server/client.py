import sys
import time
import urllib.error
import urllib.parse
import urllib.request

port, path = sys.argv[1:]


def ask(s, tries=20):
    url = "http://127.0.0.1:%s/?%s" % (port, urllib.parse.urlencode({"s": s}))
    for k in range(tries):
        try:
            return urllib.request.urlopen(url, timeout=10).read().decode()
        except urllib.error.URLError:
            time.sleep(0.5)
    sys.exit("no scorer")


with open(path) as fh:
    for line in fh:
        print(ask(line.strip()), flush=True)
