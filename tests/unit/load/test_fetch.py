"""A replay profile from a URL: bounded in size, time and redirects, each failure one sentence."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from perfq.errors import UsageError
from perfq.load.fetch import fetch, shown_url

ENDED = threading.Event()


class Answers(BaseHTTPRequestHandler):
    """A server that is well, or not, as its path says."""

    def do_GET(self) -> None:
        match self.path.partition("?")[0]:
            case "/good":
                self._answer(200, b"version: 1\n")
            case "/moved":
                self._redirect("/good")
            case "/circle":
                self._redirect("/circle")
            case "/endless":
                self.send_response(200)
                self.end_headers()
                piece = b"x" * 65536
                try:
                    for _ in range(1 << 20):
                        self.wfile.write(piece)
                except OSError:
                    return
            case "/short":
                self.send_response(200)
                self.send_header("Content-Length", "100")
                self.end_headers()
                self.wfile.write(b"only this")
            case "/silent":
                ENDED.wait(60)
            case _:
                self._answer(500, b"no")

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _redirect(self, to: str) -> None:
        self.send_response(302)
        self.send_header("Location", to)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    ENDED.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_address[1]}"
        ENDED.set()
        running.shutdown()


def test_a_file_is_fetched_also_where_it_was_moved(server: str, tmp_path: Path) -> None:
    for name in ("good", "moved"):
        fetch(f"{server}/{name}", tmp_path / name)
        assert (tmp_path / name).read_bytes() == b"version: 1\n"


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("missing", "the server answered 500"),
        ("circle", "more than 5 redirects; does it redirect in a circle"),
        ("endless", "more than 1MiB, expected at most that"),
        ("short", "the connection ended before the file was whole"),
        ("silent", "no answer for 0.5 s"),
    ],
)
def test_what_does_not_come_is_one_sentence(server: str, path: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=said) as error:
        fetch(f"{server}/{path}", tmp_path / "file", largest=1 << 20, silence_s=0.5)
    assert str(error.value).startswith(f"{server}/{path}: ")
    assert "\n" not in str(error.value)


def test_a_server_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot be fetched: .*refused"):
        fetch("http://127.0.0.1:1/replay.yaml", tmp_path / "file")


def test_no_user_and_no_signature_is_shown() -> None:
    assert shown_url("https://me:secret@host.test/a.yaml?sig=abc#x") == "https://host.test/a.yaml?…"
    assert shown_url("https://host.test:8443/a.yaml") == "https://host.test:8443/a.yaml"
