"""The link that was mailed to Priya, and what she does with it."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

from django.core import mail
from django.test import Client

PRIYA = "priya.raman@example.com"
NEW = "a wholly new long one"


def words(answer: Any) -> str:
    return unescape(answer.content.decode())


def mailed_link() -> str:
    found = re.search(r"^http://testserver(/password/set/\S+)$", str(mail.outbox[-1].body), re.MULTILINE)
    assert found
    return found[1]


def set_password(client: Client, link: str, password: str = NEW) -> Any:
    form = client.get(link)["Location"]
    return client.post(form, {"new_password1": password, "new_password2": password})
