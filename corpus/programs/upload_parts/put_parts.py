"""Multipart upload of a generated measurement file."""
import hashlib
import http.client
import json
import os
import sys
from urllib.parse import urlsplit

site, parts = urlsplit(sys.argv[1]), int(sys.argv[2])
connection = http.client.HTTPConnection(site.hostname, site.port, timeout=60)
manifest = []
for number in range(parts):
    body = os.urandom(1 << 21)
    connection.request("PUT", f"/upload/{number}", body, {"Content-Type": "application/octet-stream"})
    reply = json.load(connection.getresponse())
    assert reply["received"] == len(body), reply
    manifest.append(hashlib.md5(body).hexdigest())
connection.request("POST", "/complete", json.dumps(manifest))
print(connection.getresponse().read())
