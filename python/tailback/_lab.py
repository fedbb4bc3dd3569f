"""The lab: a page in which the core runs. Served to this machine alone, or written as files for any web space."""

from __future__ import annotations

import shutil
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tailback.errors import OutputError

__all__ = ["USUAL_PORT", "Server", "page", "serve_at", "write"]

# Browsers keep the page, for working offline, by its address: another port each time would be another copy each time.
USUAL_PORT = 8017

# What `make web` builds from web/lab and crates/wasm; the wheel has it.
_FOLDER = Path(__file__).parent / "_web" / "lab"


def page() -> Path:
    """The folder of the page; raises `OutputError` in a checkout in which it has not been built."""
    if not (_FOLDER / "index.html").is_file():
        raise OutputError(f"the page of the lab is not there: {_FOLDER}; `make web` builds it")
    return _FOLDER


def write(folder: Path) -> None:
    """The page as static files, in a new folder."""
    built = page()
    try:
        shutil.copytree(built, folder)
    except FileExistsError:
        raise OutputError(f"{folder}: is already there; choose another folder, or remove it") from None
    except OSError as error:
        raise OutputError(f"{folder}: {error.strerror or error}") from error


class _Handler(SimpleHTTPRequestHandler):
    """Gives the files of the page to this machine, and says nothing."""

    extensions_map = {**SimpleHTTPRequestHandler.extensions_map, ".wasm": "application/wasm", ".js": "text/javascript"}  # noqa: RUF012
    protocol_version = "HTTP/1.1"

    def parse_request(self) -> bool:
        if not super().parse_request():
            return False
        # A name that somebody else's server resolves to this machine would be another origin with our files.
        host = (self.headers.get("Host") or "").rpartition(":")[0] or self.headers.get("Host")
        if host not in ("127.0.0.1", "localhost"):
            self.send_error(HTTPStatus.MISDIRECTED_REQUEST, "this server answers to 127.0.0.1")
            return False
        return True

    def list_directory(self, path: Any) -> None:
        self.send_error(HTTPStatus.NOT_FOUND, "there is no such file")

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "no-cache")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Content-Security-Policy", "frame-ancestors 'none'")
        super().end_headers()

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


def serve_at(port: int | None) -> Server:
    """A server at this port, or if none is given at the usual one; at any that is free if that is taken."""
    if port is not None:
        return Server(port)
    try:
        return Server(USUAL_PORT)
    except OutputError:
        return Server(0)


class Server:
    """A server of the page, on the loopback interface.

    Attributes
    ----------
    port : int
    address : str
        Where the page is.
    """

    def __init__(self, port: int) -> None:
        handler = partial(_Handler, directory=str(page()))
        try:
            self._server = ThreadingHTTPServer(("127.0.0.1", port), handler)
        except OSError as error:
            raise OutputError(f"port {port} of this machine: {error.strerror}; choose another with `--port`") from error
        self._server.daemon_threads = True
        self.port = int(self._server.server_address[1])
        self.address = f"http://127.0.0.1:{self.port}/"

    def serve(self) -> None:
        """Until interrupted, or closed."""
        try:
            self._server.serve_forever(poll_interval=0.2)
        finally:
            self._server.server_close()

    def close(self) -> None:
        """Ends it; what serves returns."""
        self._server.shutdown()
