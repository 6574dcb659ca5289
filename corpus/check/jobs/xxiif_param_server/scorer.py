import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlparse


class H(BaseHTTPRequestHandler):
    def do_GET(self):
        s = parse_qs(urlparse(self.path).query).get("s", [""])[0]
        body = ("%.3f" % (len(set(s.split())) / max(1, len(s.split())))).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *a):
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), H).serve_forever()
