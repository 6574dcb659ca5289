import http.server
import os
import sys


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"42\n")


srv = http.server.HTTPServer(("127.0.0.1", 0), Handler)
with open(sys.argv[1] + ".tmp", "w") as fh:
    fh.write(str(srv.server_port))
os.rename(sys.argv[1] + ".tmp", sys.argv[1])
srv.serve_forever()
