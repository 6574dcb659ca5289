"""As much of a W&B server as its SDK needs: remembers what arrives, answers what is asked."""

from __future__ import annotations

import contextlib
import gzip
import json
import re
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "f4ke" * 10


class Server(ThreadingHTTPServer):
    """What arrived: `queries` (operation, variables), `streamed` (path, body), `files` by path."""

    daemon_threads = True

    def __init__(self, *, refuse_key: bool = False):
        super().__init__(("127.0.0.1", 0), Handler)
        self.refuse_key = refuse_key
        self.queries: list[tuple[str, dict[str, Any]]] = []
        self.streamed: list[tuple[str, dict[str, Any]]] = []
        self.files: dict[str, bytes] = {}
        self.keys: set[str] = set()
        self.telemetry = 0
        self.runs: dict[str, dict[str, Any]] = {}

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is none of our troubles; others end as missing answers."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def rows(self, run: str) -> list[dict[str, Any]]:
        """History of a run as it lies there: each chunk put at the offset that it names."""
        kept: dict[int, str] = {}
        for path, body in self.streamed:
            chunk = body.get("files", {}).get("wandb-history.jsonl")
            if chunk and f"/{run}/" in path:
                kept |= {chunk["offset"] + n: line for n, line in enumerate(chunk["content"])}
        return [json.loads(kept[place]) for place in sorted(kept)]

    def of(self, operation: str) -> list[dict[str, Any]]:
        return [variables for name, variables in self.queries if name == operation]

    def answer(self, operation: str, variables: dict[str, Any]) -> dict[str, Any]:
        entity = {"name": "me"}
        project = {"id": "1", "name": "proj", "entity": entity}
        if operation == "Viewer":
            return {"viewer": {"id": "1", "entity": "me", "username": "me", "flags": "{}",
                               "teams": {"edges": []}}}  # fmt: skip
        if operation == "UpsertBucket":
            name = variables["name"]
            inserted = name not in self.runs
            self.runs.setdefault(name, {}).update(variables)
            bucket = {"id": name, "name": name, "displayName": variables.get("displayName"),
                      "project": project, "sweepName": variables.get("sweep"),
                      "description": None, "config": "{}", "historyLineCount": 0}  # fmt: skip
            return {"upsertBucket": {"bucket": bucket, "inserted": inserted}}
        if operation == "RunResumeStatus":
            return {"model": {"id": "1", "name": "proj", "entity": entity,
                              "bucket": self.resumed(variables["name"])}}  # fmt: skip
        if operation == "CreateRunFiles":
            files = [
                {"name": name, "uploadUrl": f"{self.url}/upload/{name}"}
                for name in variables["files"]
            ]
            made = {"runID": "1", "uploadHeaders": [], "files": files}
            return {"createRunFiles": made}
        return {}

    def resumed(self, name: str) -> dict[str, Any] | None:
        if name not in self.runs:
            return None
        rows = self.rows(name)
        tail = json.dumps([json.dumps(row) for row in rows[-1:]])
        return {"id": name, "name": name, "displayName": name, "summaryMetrics": "{}",
                "logLineCount": 0, "historyLineCount": len(rows), "eventsLineCount": 0,
                "historyTail": tail, "eventsTail": "[]", "config": "{}", "notes": None,
                "tags": [], "wandbConfig": json.dumps({"t": {"5": "0.31.0"}})}  # fmt: skip


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def log_message(self, *_: Any) -> None:
        pass

    def body(self) -> bytes:
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        return gzip.decompress(data) if self.headers.get("Content-Encoding") == "gzip" else data

    def reply(self, answer: Any, status: int = 200) -> None:
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_POST(self) -> None:
        body = self.body()
        if self.path.startswith("/sdk/"):  # what the SDK measures of itself, in no JSON
            self.server.telemetry += 1
            self.reply({})
            return
        told = json.loads(body)
        self.server.keys.add(self.headers.get("Authorization", ""))
        if self.server.refuse_key:
            self.reply({"errors": [{"message": "user is not logged in"}]}, 401)
        elif self.path == "/graphql":
            found = re.search(r"(?:query|mutation)\s+(\w+)", told["query"])
            operation = found[1] if found else ""
            self.server.queries.append((operation, told.get("variables") or {}))
            self.reply({"data": self.server.answer(operation, told.get("variables") or {})})
        else:
            self.server.streamed.append((self.path, told))
            self.reply({})

    def do_PUT(self) -> None:
        self.server.files[self.path] = self.body()
        self.reply({})

    def do_GET(self) -> None:
        self.reply({})


@contextlib.contextmanager
def serving(**how: Any) -> Iterator[Server]:
    server = Server(**how)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextlib.contextmanager
def black_hole() -> Iterator[str]:
    """The address of a server that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        # The system accepts what nobody takes from the queue.
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
