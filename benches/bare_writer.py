"""A program that answers any request with the first N bytes of a file and closes: what a socket itself can carry.

`python -m benches.bare_writer FILE` prints its port. `GET /N` is the request. The kind of socket is the one that
the server under test has: TCP on loopback, TCP_NODELAY, one write call for what is ready.
"""

from __future__ import annotations

import socket
import sys
from pathlib import Path


def main() -> None:
    """Serves one connection after another until it is ended."""
    body = memoryview(Path(sys.argv[1]).read_bytes())
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(listener.getsockname()[1], flush=True)
        while True:
            connection, _ = listener.accept()
            with connection:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                request = connection.recv(65536)
                count = int(request.split()[1][1:])
                head = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\nconnection: close\r\n\r\n" % count
                connection.sendall(head)
                connection.sendall(body[:count])


if __name__ == "__main__":
    main()
