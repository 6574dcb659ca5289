import socket

sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.bind(("0.0.0.0", 5140))
with open("syslog.txt", "ab") as out:
    while True:
        data, (host, _) = sock.recvfrom(65535)
        out.write(host.encode() + b" " + data.rstrip(b"\n") + b"\n")
        out.flush()
