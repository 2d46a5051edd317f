"""Makes the code a customer writes on a parcel."""

from __future__ import annotations

import secrets

from intake.models import Return

# A-Z and 2-9 without letters that are read for one another or for a digit.
LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"


def new_return_code() -> str:
    """`RMA-` and six letters that no return has yet."""
    while True:
        code = "RMA-" + "".join(secrets.choice(LETTERS) for _ in range(6))
        if not Return.objects.filter(code=code).exists():
            return code
