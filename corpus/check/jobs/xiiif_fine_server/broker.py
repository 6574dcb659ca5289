"""Hands out numbers over HTTP, one per request; 204 when none are left."""
import os
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

numbers = open(sys.argv[1]).read().split()


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        if numbers:
            body = numbers.pop(0).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        else:
            self.send_response(204)
            self.end_headers()

    def log_message(self, *args):
        pass


srv = HTTPServer(("127.0.0.1", 0), Handler)
with open(sys.argv[2] + ".tmp", "w") as fh:
    fh.write(str(srv.server_port))
os.rename(sys.argv[2] + ".tmp", sys.argv[2])
srv.serve_forever()
