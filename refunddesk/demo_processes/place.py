"""Where a demo lives: its port, its folder, its Redis."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from pathlib import Path

from refunddesk.demo_processes.refusal import DemoRefused


@dataclass(frozen=True)
class Place:
    """`redis_url` is one that runs already; empty: the demo starts its own and writes where into `redis_url_file`."""

    port: int
    data_dir: Path
    code: Path
    redis_url: str
    redis_url_file: Path

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    @property
    def logs(self) -> Path:
        return self.data_dir / "logs"

    def must_have_a_free_port(self) -> None:
        """Raises DemoRefused when something listens there already."""
        with socket.socket() as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listener.bind(("127.0.0.1", self.port))
            except (OSError, OverflowError) as error:
                raise DemoRefused(
                    f"Port {self.port} cannot be used on this machine ({error}). Stop what listens there, or choose "
                    f"another: make demo PORT={self.port + 1 if self.port < 65_535 else 8001}"
                ) from error
