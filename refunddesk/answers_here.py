"""`python -m refunddesk.answers_here`: ends 0 when the web server on this machine answers. For containers.

Web is well as long as it answers and reaches its database; what else `/healthz` complains of is not mended by
starting web again.
"""

from __future__ import annotations

import http.client
import json
import os
import sys


def main() -> int:
    try:
        parts = _ask()
    except (OSError, ValueError, http.client.HTTPException) as error:
        print(f"no answer: {error}", file=sys.stderr)  # noqa: T201 - for who reads the container's state
        return 1
    return 0 if parts.get("web") == parts.get("database") == "ok" else 1


def _ask() -> dict[str, str]:
    host = os.environ.get("ALLOWED_HOSTS", "").split(",")[0].strip().lstrip(".") or "localhost"
    connection = http.client.HTTPConnection("127.0.0.1", int(os.environ.get("PORT") or 8000), timeout=4)
    connection.request("GET", "/healthz", headers={"Host": host})
    return dict(json.loads(connection.getresponse().read()))


if __name__ == "__main__":
    sys.exit(main())
