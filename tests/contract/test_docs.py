"""What the README and the guides show is what happens: each console block is run, and prints what it says.

In a block, `$ ` begins a command, `> ` goes on with it, other lines are what it prints; `…` stands for any text.
A block runs as one shell script in a folder with nothing but the page's own files (YAML blocks that begin with
`# NAME.yaml`), with perfq and kubectl on its PATH; what it leaves in the background is ended with it. One that ends
with exit code 4 is run again: the machine was too busy for it to prove anything.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

pytestmark = pytest.mark.contract

TOP = Path(__file__).resolve().parents[2]
SEPARATOR = "\x1e"
TRIES = 3


@dataclass(frozen=True)
class Example:
    """A console block: where it stands, its commands, and what each prints."""

    place: str
    commands: tuple[str, ...]
    printed: tuple[str, ...]
    #: Name and text of the files that the page shows.
    files: tuple[tuple[str, str], ...]


def examples() -> list[Example]:
    """Every console block of the README and of docs/."""
    found = []
    for path in [TOP / "README.md", *sorted((TOP / "docs").rglob("*.md"))]:
        text = path.read_text()
        files = tuple(re.findall(r"^```yaml\n# (\S+\.yaml)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
        for match in re.finditer(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
            commands: list[str] = []
            printed: list[str] = []
            for line in match[1].splitlines():
                if line.startswith("$ "):
                    commands.append(line[2:])
                    printed.append("")
                elif line.startswith("> "):
                    commands[-1] += "\n" + line[2:]
                else:
                    printed[-1] += line + "\n"
            place = f"{path.relative_to(TOP)}:{text[: match.start()].count(chr(10)) + 1}"
            found.append(Example(place, tuple(commands), tuple(printed), files))
    return found


@pytest.fixture(scope="session")
def path_with_kubectl(need_program: Callable[[str], str]) -> str:
    """PATH with this environment's programs and the pinned kubectl."""
    need_program("go")
    build = [str(TOP / "scripts" / "testbed"), "build", "kubectl"]
    kubectl = subprocess.run(build, capture_output=True, text=True, check=True).stdout.strip()
    return f"{Path(sys.executable).parent}:{Path(kubectl).parent}:{os.environ['PATH']}"


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.place)
def test_an_example_prints_what_it_says(example: Example, path_with_kubectl: str, tmp_path: Path) -> None:
    for attempt in range(TRIES):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        for name, text in example.files:
            (folder / name).write_text(text)
        code, out, err = run(example, path_with_kubectl, folder)
        if code != 4:
            break
    assert code == 0, err
    outputs = out.split(SEPARATOR)
    assert len(outputs) == len(example.commands)
    for command, expected, seen in zip(example.commands, example.printed, outputs, strict=True):
        pattern = ".*".join(re.escape(part) for part in expected.split("…"))
        if "…" in expected:
            assert re.match(pattern, seen, re.DOTALL), f"{command}\nprinted\n{seen}"
        else:
            assert seen == expected, command


def run(example: Example, path: str, folder: Path) -> tuple[int, str, str]:
    """Runs a block; its exit code and what it wrote."""
    script = f"\necho -n {SEPARATOR}\n".join(example.commands)
    with subprocess.Popen(
        ["bash", "-e", "-o", "pipefail", "-c", script],
        cwd=folder,
        env={**os.environ, "PATH": path, "HOME": str(folder)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            out, err = process.communicate(timeout=120)
        finally:
            if process.poll() is None or example.commands[0].endswith("&"):
                os.killpg(process.pid, signal.SIGTERM)
    return process.returncode, out, err


def test_there_are_examples() -> None:
    assert len(examples()) >= 6


def test_the_client_definition_in_the_guide_is_one(tmp_path: Path) -> None:
    from perfq.profile.client_files import load_client_file

    text = (TOP / "docs" / "guides" / "qualify-your-client.md").read_text()
    (block,) = re.findall(r"^```yaml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    path = tmp_path / "my-client.yaml"
    path.write_text(block)
    assert load_client_file(path).name == "my-client"


def links() -> list[tuple[str, str]]:
    """(file, target) of each relative link of the README and of docs/."""
    found = []
    for path in [*TOP.glob("*.md"), *sorted((TOP / "docs").rglob("*.md"))]:
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", path.read_text()):
            if "://" not in target:
                found.append((str(path.relative_to(TOP)), target))
    return found


@pytest.mark.parametrize(("file", "target"), links())
def test_a_link_leads_somewhere(file: str, target: str) -> None:
    assert ((TOP / file).parent / target).exists()
