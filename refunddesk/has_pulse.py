"""`python -m refunddesk.has_pulse worker` (or `clock`, `beat`): ends 0 when it gave a pulse lately. For containers."""

from __future__ import annotations

import os
import sys

from redis import RedisError

from refunddesk import pulse


def main(part: str) -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "refunddesk.settings")
    try:
        with pulse.connect() as client:
            ages = [pulse.age_seconds(client, proof) for proof in pulse.PROOFS[part]]
    except RedisError as error:
        print(f"the broker does not answer: {error}", file=sys.stderr)  # noqa: T201 - for who reads the container's state
        return 1
    return 0 if any(map(pulse.fresh, ages)) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
