import sys
import urllib2

for line in open(sys.argv[1]):
    code = line.strip()
    print(code, urllib2.quote(code))
