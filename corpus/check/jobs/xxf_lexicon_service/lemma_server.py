import sys
from socketserver import StreamRequestHandler, ThreadingTCPServer

table = dict(l.rstrip("\n").split("\t") for l in open(sys.argv[1], encoding="utf-8"))


class H(StreamRequestHandler):
    def handle(self):
        for raw in self.rfile:
            form = raw.decode("utf-8").strip()
            self.wfile.write((table.get(form, "?" + form) + "\n").encode("utf-8"))


with ThreadingTCPServer(("127.0.0.1", 0), H) as srv:
    srv.daemon_threads = True
    with open(sys.argv[2], "w") as fh:
        fh.write(str(srv.server_address[1]))
    srv.serve_forever()
