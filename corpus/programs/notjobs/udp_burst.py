import collections
import socket
import sys

sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.bind(("0.0.0.0", int(sys.argv[1])))
sock.settimeout(5.0)
sizes = collections.Counter()
while True:
    try:
        data, address = sock.recvfrom(65535)
    except socket.timeout:
        break
    sizes[address[0]] += len(data)
for host, size in sizes.most_common():
    print(host, size)
