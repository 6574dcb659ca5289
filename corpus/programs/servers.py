"""Servers that programs of the corpus talk to, each behind a slow link as if it was remote."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import socket
import socketserver
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

__all__ = ["SERVERS", "serve"]

DELAY = 0.02
"""Seconds from one end of a link to the other."""
RATE = 4_000_000
"""Bytes per second and direction of a connection."""
_PIECE = 1 << 14
_START_SECONDS = 20.0
_BLOCK = bytes(range(32, 127)) * 700
_WORDS = ("river", "stone", "amber", "quiet", "copper", "lantern", "orbit", "meadow", "signal")


class _Site(BaseHTTPRequestHandler):
    """Pages, data and an API; README.md here lists the paths."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer as the path says."""
        parts = urlsplit(self.path)
        name, _, rest = parts.path.lstrip("/").partition("/")
        number = int("".join(c for c in rest if c.isdigit()) or 0)
        if name == "bytes":
            self._reply(number, "application/octet-stream", _repeated(_BLOCK, number))
        elif name == "idle":
            time.sleep(min(number, 60))
            self._text("{}\n")
        elif name == "table":
            self._text("id,key,value\n" + "".join(map(_line, range(number))), "text/csv")
        elif name == "words":
            words = (_WORDS[(i * i + number) % len(_WORDS)] for i in range(number))
            self._text(" ".join(words), "text/plain")
        elif name == "page":
            links = "".join(f'<li><a href="/page/{number * 3 + i}">{i}</a>' for i in (1, 2, 3))
            self._text(f"<html><title>Page {number}</title><ul>{links}</ul></html>", "text/html")
        elif name == "item":
            found = {
                "id": number,
                "name": _WORDS[number % len(_WORDS)],
                "query": parse_qs(parts.query),
            }
            self._text(json.dumps(found), "application/json")
        else:
            self.send_error(404)

    def do_POST(self) -> None:
        """Take the body and return its size."""
        left = size = int(self.headers.get("Content-Length", 0))
        while left and (piece := self.rfile.read(min(left, _PIECE))):
            left -= len(piece)
        self._text(json.dumps({"received": size - left}), "application/json")

    do_PUT = do_POST  # noqa: N815

    def _text(self, text: str, kind: str = "application/json") -> None:
        body = text.encode()
        self._reply(len(body), kind, [body])

    def _reply(self, size: int, kind: str, pieces: Iterator[bytes] | list[bytes]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(size))
        self.end_headers()
        for piece in pieces:
            self.wfile.write(piece)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Write no log."""


def _line(number: int) -> str:
    return f"{number},{_WORDS[number % len(_WORDS)]},{number * 7919 % 10007 / 7:.3f}\n"


def _repeated(block: bytes, size: int) -> Iterator[bytes]:
    while size > 0:
        yield block[:size]
        size -= len(block)


class _Lines(socketserver.StreamRequestHandler):
    """Answers lines: ``ECHO text``, ``GET bytes``, ``PUT bytes``, ``WAIT seconds``, ``TICK n``."""

    def handle(self) -> None:
        """Answer until the other side ends."""
        for line in self.rfile:
            verb, _, rest = line.decode(errors="replace").strip().partition(" ")
            number = int(rest) if rest.isdigit() else 0
            if verb == "GET":
                for piece in _repeated(_BLOCK, number):
                    self.wfile.write(piece)
            elif verb == "PUT":
                left = number
                while left and (got := self.rfile.read(min(left, _PIECE))):
                    left -= len(got)
                self.wfile.write(b"OK\n")
            elif verb == "WAIT":
                time.sleep(min(number, 60))
                self.wfile.write(b"OK\n")
            elif verb == "TICK":
                for tick in range(number):
                    self.wfile.write(b"%d\n" % tick)
                    time.sleep(1)
            else:
                self.wfile.write(rest.encode() + b"\n")


class _LineServer(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True

    def handle_error(self, request: object, client_address: object) -> None:
        """A program may leave at any time."""


class _WebServer(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """As of `_LineServer`."""


@contextlib.contextmanager
def _in_thread(server: socketserver.TCPServer) -> Iterator[int]:
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


def _http(_folder: Path) -> contextlib.AbstractContextManager[int]:
    return _in_thread(_WebServer(("127.0.0.1", 0), _Site))


def _tcp(_folder: Path) -> contextlib.AbstractContextManager[int]:
    return _in_thread(_LineServer(("127.0.0.1", 0), _Lines))


@contextlib.contextmanager
def _process(command: Sequence[str], port: int, user: str | None = None) -> Iterator[int]:
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet, user=user)
    try:
        until = time.monotonic() + _START_SECONDS
        while not _answers(port):
            if process.poll() is not None or time.monotonic() > until:
                raise OSError(f"{command[0]} does not start")
            time.sleep(0.05)
        yield port
    finally:
        process.terminate()
        process.wait()


def _answers(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as one:
        return int(one.getsockname()[1])


def _redis(folder: Path) -> contextlib.AbstractContextManager[int]:
    port = _free_port()
    command = ["redis-server", "--port", str(port), "--save", "", "--dir", str(folder)]
    return _process(command, port)


def _postgres(folder: Path) -> contextlib.AbstractContextManager[int]:
    """PostgreSQL, which refuses to run as root, with the user ``postgres`` and no password."""
    user = "postgres" if os.geteuid() == 0 else None
    data, port = folder / "data", _free_port()
    if user:
        shutil.chown(folder, user)
    tools = max(Path("/usr/lib/postgresql").glob("*/bin"), default=Path("/usr/bin"))
    create = [str(tools / "initdb"), "-D", str(data), "-A", "trust", "-U", "postgres"]
    subprocess.run(create, check=True, user=user, cwd=folder, capture_output=True)
    command = [str(tools / "postgres"), "-D", str(data), "-p", str(port), "-k", str(folder)]
    return _process(command, port, user)


SERVERS: dict[str, Callable[[Path], contextlib.AbstractContextManager[int]]] = {
    "http": _http,
    "postgres": _postgres,
    "redis": _redis,
    "tcp": _tcp,
}
"""By name: starts a server that uses a folder, and yields its port."""


async def _forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Hand on what one side sends, later and no faster than the link."""
    queue: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(
        maxsize=int(DELAY * RATE / _PIECE) + 2
    )

    async def receive() -> None:
        while True:
            piece = await reader.read(_PIECE)
            await queue.put((time.monotonic() + DELAY, piece))
            if not piece:
                return

    receiving = asyncio.create_task(receive())
    free = 0.0
    try:
        while True:
            due, piece = await queue.get()
            await asyncio.sleep(max(due, free) - time.monotonic())
            free = max(due, free, time.monotonic() - DELAY) + len(piece) / RATE
            if not piece:
                break
            writer.write(piece)
            await writer.drain()
        writer.write_eof()
    except OSError:
        writer.close()
    finally:
        receiving.cancel()


async def _connected(
    target: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    there, back = await asyncio.open_connection("127.0.0.1", target)
    with contextlib.suppress(OSError):
        await asyncio.gather(_forward(reader, back), _forward(there, writer))
    back.close()
    writer.close()


@contextlib.contextmanager
def _link(target: int) -> Iterator[int]:
    """A port from which the target is reached over a slow link."""
    loop = asyncio.new_event_loop()
    start = asyncio.start_server(
        lambda reader, writer: _connected(target, reader, writer), "127.0.0.1", 0
    )
    server = loop.run_until_complete(start)
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        server.close()
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


@contextlib.contextmanager
def serve(names: Sequence[str], folder: Path) -> Iterator[dict[str, str]]:
    """Run servers; yields their ports by name.

    Raises:
        OSError: one does not start.
    """
    with contextlib.ExitStack() as stack:
        ports = {}
        for name in names:
            place = folder / name
            place.mkdir()
            ports[name] = str(stack.enter_context(_link(stack.enter_context(SERVERS[name](place)))))
        yield ports
