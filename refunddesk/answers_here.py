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
    host = os.environ.get("ALLOWED_HOSTS", "").split(",")[0].strip().lstrip(".") or "localhost"
    port = int(os.environ.get("PORT", "8000"))
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=4)
    connection.request("GET", "/healthz", headers={"Host": host})
    parts = json.loads(connection.getresponse().read())
    return 0 if parts.get("web") == parts.get("database") == "ok" else 1


if __name__ == "__main__":
    sys.exit(main())
