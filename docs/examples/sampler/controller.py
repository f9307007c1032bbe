"""A small controller of its own: shells on asyncio, stopped while they wait, measured by `perfq.Sampler`.

    python controller.py resources.ndjson

Each session is a shell that is given one command after another. Between two commands it is stopped (SIGSTOP), and its
sampler before it: STOP, acknowledged, pause … resume, CONT. Nothing here waits for a read except where it says so.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from pathlib import Path

from perfq import Sampler

COMMANDS = ["head -c 20000000 /dev/zero | sha256sum", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done", "true"]
WAIT_S = 0.1
SESSIONS = 8


async def command(shell: asyncio.subprocess.Process, script: str) -> None:
    """Gives the shell one command and awaits its end."""
    assert shell.stdin is not None
    assert shell.stdout is not None
    shell.stdin.write(f"{{ {script}; }} >/dev/null; echo done\n".encode())
    await shell.stdout.readline()


async def paused(sampler: Sampler, number: int, shell: asyncio.subprocess.Process, seconds: float) -> None:
    """Waits with the shell stopped; it and its sampler go on whatever ends the wait."""
    while not (said := sampler.pause(number, wait_ms=0))["acknowledged"]:
        if said["leaked"]:
            break  # the read hangs; the session's outcome will say so
        await asyncio.sleep(0.002)
    shell.send_signal(signal.SIGSTOP)
    try:
        await asyncio.sleep(seconds)
    finally:
        shell.send_signal(signal.SIGCONT)
        sampler.resume(number)


async def session(sampler: Sampler, number: int) -> str:
    """Lives one session; whatever ends it, it is drained before its shell is gone."""
    shell = await asyncio.create_subprocess_exec("sh", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
    try:
        sampler.attach(number, pid=shell.pid)
        for script in COMMANDS:
            await command(shell, script)
            await paused(sampler, number, shell, WAIT_S)
        while (end := sampler.drain(number, wait_ms=0))["outcome"] is None:
            await asyncio.sleep(0.002)
        return f"session {number}: {end['outcome']}"
    finally:
        shell.kill()
        await shell.wait()


async def run(path: str) -> None:
    """All sessions at once, then what was seen of each."""
    with Sampler.start({"path": path, "delay_after_ms": 10, "sources": ["proc"]}) as sampler:
        for line in await asyncio.gather(*(session(sampler, number) for number in range(SESSIONS))):
            print(line)
        figures = sampler.close()
    samples = [line for line in map(json.loads, Path(path).read_text().splitlines()) if line["k"] == "resource"]
    peak = max(sample["proc"]["rss"] for sample in samples)
    print(f"{figures['taken']} samples of {figures['due']} that were due")
    if figures["cpu_ns"] is not None:  # it is None where the sampler has no threads
        print(f"largest shell: {peak >> 10} KiB; the sampler's threads used {figures['cpu_ns'] / 1e6:.1f} ms of CPU")


if __name__ == "__main__":
    asyncio.run(run(sys.argv[1]))
