"""The lab: the simulator in a browser page, served to this machine only or written as static files."""

from __future__ import annotations

import shutil
import sys
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tailback.errors import OutputError

__all__ = ["USUAL_PORT", "Server", "page", "serve_at", "write"]

# Browsers store the page for offline use by its address, so a fixed port avoids a new copy each time.
USUAL_PORT = 8017

# Published wheels contain it; in a checkout `make lab` builds it from web/lab and crates/wasm.
_FOLDER = Path(__file__).parents[1] / "_web" / "lab"


def page() -> Path:
    """The directory of the page; raises `OutputError` if this copy of Tailback was built without it."""
    if not (_FOLDER / "index.html").is_file():
        raise OutputError(
            f"the page of the lab is not built: {_FOLDER} is missing; in a checkout run `make lab`, which builds and opens it"
        )
    return _FOLDER


def write(folder: Path) -> None:
    """Write the page as static files to a new directory."""
    built = page()
    try:
        shutil.copytree(built, folder)
    except FileExistsError:
        raise OutputError(f"{folder}: already exists; choose another directory, or remove it") from None
    except OSError as error:
        raise OutputError(f"{folder}: {error.strerror or error}") from error


class _Handler(SimpleHTTPRequestHandler):
    """Serves the files of the page to this machine, without logging."""

    extensions_map = {**SimpleHTTPRequestHandler.extensions_map, ".wasm": "application/wasm", ".js": "text/javascript"}  # noqa: RUF012
    protocol_version = "HTTP/1.1"

    def parse_request(self) -> bool:
        if not super().parse_request():
            return False
        # Rejects DNS rebinding: another host name that resolves to this machine would be another origin with access to the page.
        host = (self.headers.get("Host") or "").rpartition(":")[0] or self.headers.get("Host")
        if host not in ("127.0.0.1", "localhost"):
            self.send_error(HTTPStatus.MISDIRECTED_REQUEST, "this server only serves 127.0.0.1")
            return False
        return True

    def list_directory(self, path: Any) -> None:
        self.send_error(HTTPStatus.NOT_FOUND, "no such file")

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "no-cache")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Content-Security-Policy", "frame-ancestors 'none'")
        super().end_headers()

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


class _HttpServer(ThreadingHTTPServer):
    """Reports errors, except that a browser has closed a page during a download."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def serve_at(port: int | None) -> Server:
    """A server on `port`, or by default on the usual port, or on any free port if the usual one is taken."""
    if port is not None:
        return Server(port)
    try:
        return Server(USUAL_PORT)
    except OutputError:
        return Server(0)


class Server:
    """HTTP server of the page on the loopback interface.

    Attributes
    ----------
    port : int
    address : str
        URL of the page.
    """

    def __init__(self, port: int) -> None:
        handler = partial(_Handler, directory=str(page()))
        try:
            self._server = _HttpServer(("127.0.0.1", port), handler)
        except OSError as error:
            raise OutputError(f"cannot listen on port {port}: {error.strerror}; choose another with `--port`") from error
        self.port = int(self._server.server_address[1])
        self.address = f"http://127.0.0.1:{self.port}/"

    def serve(self) -> None:
        """Serve until interrupted or closed."""
        try:
            self._server.serve_forever(poll_interval=0.2)
        finally:
            self._server.server_close()

    def close(self) -> None:
        """Stop the server; `serve` returns."""
        self._server.shutdown()
