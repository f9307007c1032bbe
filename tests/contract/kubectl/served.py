"""`perfq serve` as a process of its own, and the real kubectl on it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: Only a command that hangs takes as long.
SECONDS = 120


@contextmanager
def served(*arguments: str) -> Iterator[Path]:
    """The kubeconfig of a server that runs as long as the block; it must end well on SIGINT."""
    command = [sys.executable, "-m", "perfq", "serve", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        path = Path(server.stdout.readline().rstrip("\n"))
        try:
            assert path.is_absolute(), f"the first line is no path: {path}; {server.communicate(timeout=SECONDS)[1]}"
            yield path
        finally:
            server.send_signal(signal.SIGINT)
            _, stderr = server.communicate(timeout=SECONDS)
        assert server.returncode == 0, stderr


@dataclass(frozen=True)
class Kubectl:
    """The real kubectl with one kubeconfig and a home of its own."""

    program: str
    kubeconfig: Path
    home: Path

    def command(self, *arguments: str) -> tuple[list[str], dict[str, str]]:
        """argv and environment."""
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), "KUBECONFIG": str(self.kubeconfig)}
        return [self.program, *arguments], environment

    def run(self, *arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
        """Runs it to its end, with `text` on its standard input."""
        argv, environment = self.command(*arguments)
        return subprocess.run(
            argv, env=environment, input=text, capture_output=True, text=True, timeout=SECONDS, check=False
        )

    def out(self, *arguments: str, text: str = "") -> str:
        """What it prints; it must succeed."""
        ended = self.run(*arguments, text=text)
        assert ended.returncode == 0, f"kubectl {' '.join(arguments)}: {ended.stderr}"
        return ended.stdout

    def json(self, *arguments: str, text: str = "") -> Any:
        """What it prints with `-o json`."""
        return json.loads(self.out(*arguments, "-o", "json", text=text))

    def refusal(self, *arguments: str, text: str = "") -> str:
        """What it says on stderr; it must fail."""
        ended = self.run(*arguments, text=text)
        assert ended.returncode != 0, f"kubectl {' '.join(arguments)} succeeded: {ended.stdout}"
        return ended.stderr


def rows(text: str) -> list[list[str]]:
    """The cells of a table, line by line."""
    return [line.split() for line in text.splitlines()]
