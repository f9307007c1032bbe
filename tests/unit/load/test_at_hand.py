"""An input is had once and keeps its name: from a URL, standard input or a pipe, as from a file."""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.unit.load.test_reading import PROFILE, given
from tests.unit.load.test_requests import REPLAY

from perfq.cli import cli
from perfq.errors import UsageError
from perfq.load.at_hand import at_hand
from perfq.load.reading import read_input

TRACE = '{"schema":"perfq.trace/v1","source":{},"counts":{},"losses":[]}\n{"t_us":0,"verb":"GETS","path":"/a"}\n'


@pytest.fixture
def site() -> Iterator[dict[str, str]]:
    """Paths → what is served there; `url` is where."""
    pages: dict[str, str] = {}

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = pages[self.path.partition("?")[0]].encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Page)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    pages["url"] = f"http://127.0.0.1:{server.server_port}"
    yield pages
    server.shutdown()
    thread.join()
    server.server_close()


def refused(argument: str) -> str:
    with pytest.raises(UsageError) as error, at_hand(argument, fetching=True) as found:
        read_input(found, given())
    return str(error.value)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (PROFILE.replace("conns: 6", "cons: 6"), ":7: specs.0.cons: got an unknown key"),
        (TRACE, ":2: "),
        (REPLAY.replace("verb: GET", "verb: GETS", 1), ":"),
        ('{"kind":"Event","apiVersion":"audit.k8s.io/v1","auditID":"a"}\n', ": an audit log"),
    ],
    ids=["load profile", "trace", "replay profile", "audit log"],
)
def test_what_is_wrong_with_a_url_is_said_of_the_url(site: dict[str, str], text: str, line: str) -> None:
    site["/input"] = text
    said = refused(site["url"] + "/input?signature=secret")
    assert f"{site['url']}/input?…{line}" in said
    assert "secret" not in said
    assert "perfq-load-" not in said


def test_what_is_wrong_with_a_fetched_replay_is_said_of_its_url(site: dict[str, str], tmp_path: Path) -> None:
    group = tmp_path / "group.yaml"
    group.write_text(f"count: 2\nreplayProfile: {site['url']}/replay\n")
    site["/replay"] = REPLAY.replace("verb: GET", "verb: GETS", 1)
    said = refused(str(group))
    assert f"{site['url']}/replay:" in said
    assert "perfq-load-" not in said


def test_a_group_behind_a_url_may_name_another_url(site: dict[str, str]) -> None:
    site["/group"] = f"count: 2\nreplayProfile: {site['url']}/replay\n"
    site["/replay"] = REPLAY
    with at_hand(site["url"] + "/group", fetching=True) as found:
        assert read_input(found, given()).facts.kind == "kperf replay"


@pytest.mark.parametrize(("text", "kind"), [(PROFILE, "load profile"), (REPLAY, "kperf replay")])
def test_standard_input_is_told_by_its_content_and_can_be_read_again(
    text: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    with at_hand("-", fetching=False) as found:
        for _ in range(2):
            facts = read_input(found, given()).facts
            assert (facts.kind, facts.name) == (kind, "<stdin>")


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(REPLAY,))
    writer.start()
    with at_hand(str(pipe), fetching=False) as found:
        assert read_input(found, given()).facts.name == str(pipe)
    writer.join()


def test_convert_and_plan_name_standard_input(tmp_path: Path) -> None:
    for command in (["plan", "-"], ["convert", "-", "--out", str(tmp_path / "trace")]):
        done = CliRunner().invoke(cli, ["load", *command], input=TRACE)
        assert isinstance(done.exception, UsageError)
        assert str(done.exception).startswith("<stdin>:2: "), command
