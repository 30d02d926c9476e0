"""A small MCP server of both eras, for tests: `stdio LOG` or `http LOG`. Writes what it gets to LOG, one JSON a line."""
import http.server
import json
import os
import sys
import threading

LOG = open(sys.argv[2], "a", buffering=1)
LOCK = threading.Lock()
HELD = {}  # requests that are not answered until they are cancelled
TOOL = {"type": "object", "properties": {"text": {"type": "string"}}}
REGION = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}
TOOLS = [
    {"name": "echo", "description": "Says it again.", "inputSchema": TOOL},
    {"name": "hold", "description": "Never ends by itself.", "inputSchema": TOOL},
    {"name": "drop", "description": "Drops a table.", "inputSchema": TOOL},
    {"name": "place", "description": "Names a region.", "inputSchema": REGION},
    {"name": "resume", "description": "Ends its stream early.", "inputSchema": TOOL},
]


def log(kind, value):
    with LOCK:
        LOG.write(json.dumps({kind: value}) + "\n")


def result(message):
    method, params = message["method"], message.get("params", {})
    if method == "initialize":
        about = {"name": "t", "version": "1"}
        return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": about}
    if method == "server/discover":
        return {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
    if method == "tools/list":
        return {"resultType": "complete", "tools": TOOLS, "ttlMs": 60000, "cacheScope": "public"}
    if method == "prompts/list":
        return {"resultType": "complete", "prompts": []}
    if method == "tools/call":
        text = params.get("arguments", {}).get("text", "")
        return {"resultType": "complete", "content": [{"type": "text", "text": "said " + text}], "x-vendor": 7}
    return {}


def progress(message):
    token = message.get("params", {}).get("_meta", {}).get("progressToken")
    params = {"progressToken": token, "progress": 1}
    return {"jsonrpc": "2.0", "method": "notifications/progress", "params": params} if token is not None else None


def is_call(message, name):
    return message.get("method") == "tools/call" and message["params"].get("name") == name


def stdio():
    log("started", os.getpid())
    for line in sys.stdin:
        message = json.loads(line)
        log("got", message)
        if "id" not in message or "method" not in message:
            continue
        if is_call(message, "hold"):
            if progress(message):
                print(json.dumps(progress(message)), flush=True)
            continue
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result(message)}), flush=True)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def answer(self, kind, body, status=200, more=()):
        self.send_response(status)
        for name, value in (("Content-Type", kind), ("Content-Length", str(len(body)))) + tuple(more):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        message = json.loads(body)
        log("headers", {name.lower(): value for name, value in self.headers.items()})
        log("got", message)
        if "id" not in message or "method" not in message:
            return self.answer("application/json", b"", 202)
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": result(message)}
        if is_call(message, "hold"):
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            self.close_connection = True
            self.wfile.write(b"id: 1\ndata: " + json.dumps(progress(message)).encode() + b"\n\n")
            self.wfile.flush()
            try:
                while True:  # Ends when the other side has closed.
                    if not self.connection.recv(1):
                        break
            except OSError:
                pass
            return log("closed", message["id"])
        if is_call(message, "resume"):
            HELD["resume"] = answer
            return self.answer("text/event-stream", b"id: 41\nretry: 1\ndata:\n\n")
        more = (("Mcp-Session-Id", "upstream-1"),) if message["method"] == "initialize" else ()
        return self.answer("application/json", json.dumps(answer).encode(), 200, more)

    def do_GET(self):
        log("resumed", self.headers.get("Last-Event-ID"))
        if self.headers.get("Last-Event-ID") != "41":
            return self.answer("application/json", b"{}", 405)
        return self.answer("text/event-stream", b"id: 42\ndata: " + json.dumps(HELD["resume"]).encode() + b"\n\n")

    def do_DELETE(self):
        log("deleted", self.headers.get("Mcp-Session-Id"))
        self.answer("application/json", b"")


def serve():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    print(server.server_address[1], flush=True)
    server.serve_forever()


if sys.argv[1] == "stdio":
    stdio()
else:
    serve()
