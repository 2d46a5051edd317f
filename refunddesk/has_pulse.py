"""`python -m refunddesk.has_pulse worker` (or `beat`): ends 0 when that part gave a pulse lately. For containers."""

from __future__ import annotations

import os
import sys

import django

from refunddesk import pulse


def main(part: str) -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "refunddesk.settings")
    django.setup(set_prefix=False)
    with pulse.connect() as client:
        ages = [pulse.age_seconds(client, known) for known in pulse.PROOFS[part]]
    return 0 if any(map(pulse.fresh, ages)) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
