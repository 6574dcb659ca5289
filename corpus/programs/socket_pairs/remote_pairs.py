import selectors
import socket
import sys
import zlib

host, port, pairs, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
selector = selectors.DefaultSelector()
for n in range(pairs):
    s = socket.create_connection((host, port))
    s.sendall(b"GET %d\n" % (size + n))
    s.setblocking(False)
    selector.register(s, selectors.EVENT_READ, [0, size + n])
open_ = pairs
while open_:
    for key, _ in selector.select(timeout=30):
        state = key.data
        piece = key.fileobj.recv(1 << 16)
        state[0] = zlib.crc32(piece, state[0])
        state[1] -= len(piece)
        if not piece or state[1] <= 0:
            selector.unregister(key.fileobj)
            key.fileobj.close()
            print(f"{state[0]:08x}")
            open_ -= 1
