import argparse
import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock

ap = argparse.ArgumentParser()
ap.add_argument("--dim", type=int, default=16)
args = ap.parse_args()
w = [0.0] * args.dim
lock = Lock()


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        with lock:
            body = json.dumps(w).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        g = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with lock:
            for i, v in enumerate(g):
                w[i] -= 0.01 * v
        self.send_response(204)
        self.end_headers()

    def log_message(self, *a):
        pass


ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
