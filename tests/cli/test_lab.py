"""`tailback lab`: its files and its server. The page itself is tested in tests/browser."""

from __future__ import annotations

import http.client
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import HANGS_S, Command
from tailback._lab.page import USUAL_PORT, Server, page, serve_at


@pytest.fixture
def port() -> Iterator[int]:
    """Address of the served page."""
    server = Server(0)
    threading.Thread(target=server.serve, daemon=True).start()
    yield int(server.address.rsplit(":", 1)[1].strip("/"))
    server.close()


def answer(port: int, path: str, host: str | None = None) -> tuple[int, str | None]:
    """Status and content type of a response."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=HANGS_S)
    connection.putrequest("GET", path, skip_host=True)
    connection.putheader("Host", host or f"127.0.0.1:{port}")
    connection.putheader("Connection", "close")
    connection.endheaders()
    response = connection.getresponse()
    response.read()
    connection.close()
    return response.status, response.headers["Content-Type"]


def test_another_port_is_used_if_the_usual_one_is_taken() -> None:
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind(("127.0.0.1", USUAL_PORT))
            taken.listen()
        except OSError:
            # Another process has the port, which is equivalent.
            pass
        server = serve_at(None)
        assert server.port not in (0, USUAL_PORT)
        threading.Thread(target=server.serve, daemon=True).start()
        assert answer(server.port, "/index.html")[0] == 200
        server.close()


def test_lab_writes_the_page_to_a_new_folder(command: Command, tmp_path: Path) -> None:
    done = command("lab", "--out", "page")
    assert (done.returncode, done.stdout) == (0, "")
    again = command("lab", "--out", "page")
    assert (again.returncode, again.stderr) == (2, "error: page: already exists; choose another directory, or remove it\n")


def test_server_options_are_rejected_with_out(command: Command, tmp_path: Path) -> None:
    done = command("lab", "--out", "page", "--port", "8000", "--no-open")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--port and --no-open cannot be combined with --out" in done.stderr
    assert not (tmp_path / "page").exists()


def test_the_page_consists_of_static_files() -> None:
    names = sorted(file.name for file in page().iterdir())
    assert names == [
        "core.wasm",
        "examples.json",
        "experiments.json",
        "icon.svg",
        "index.html",
        "lab.css",
        "lab.js",
        "offline.js",
        "worker.js",
    ]
    html = (page() / "index.html").read_text()
    # Nothing is loaded from elsewhere, and no text is evaluated as code.
    assert "default-src 'none'" in html
    assert "unsafe-eval'" not in html.replace("'wasm-unsafe-eval'", "")
    assert "unsafe-inline" not in html
    assert "http://" not in html
    assert "https://" not in html


def test_the_server_rejects_other_host_names(port: int) -> None:
    assert answer(port, "/core.wasm") == (200, "application/wasm")
    assert answer(port, "/", f"localhost:{port}")[0] == 200
    assert answer(port, "/", "attacker.example")[0] == 421
    assert answer(port, "/../../../../etc/passwd")[0] == 404


def test_a_taken_port_is_rejected(command: Command) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        number = taken.getsockname()[1]
        refused = command("lab", "--no-open", "--port", str(number))
    assert refused.returncode == 2
    assert refused.stderr == f"error: cannot listen on port {number}: Address already in use; choose another with `--port`\n"
