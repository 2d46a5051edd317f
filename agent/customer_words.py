"""What may stand in a text a customer reads: no markup, no links, no names of staff, whoever wrote it."""

from __future__ import annotations

import re

from django.contrib.auth.models import User
from django.db.models import Q

MOST_STAFF = 500
OUR_TEAM = "our team"
# The underscore is markup, and part of every tool's name.
MARKUP = re.compile(r"[<>\[\]{}`*_#|]|https?:|www\.")


def has_markup(text: str) -> bool:
    return bool(MARKUP.search(text))


def staff_names(request_id: int) -> frozenset[str]:
    """First and last names of the staff and of everyone who decided here: a note may name a colleague who did not."""
    people = User.objects.filter(Q(is_staff=True) | Q(decisions__approval__request_id=request_id))
    rows = people.values_list("first_name", "last_name").distinct()[:MOST_STAFF]
    return frozenset(part for row in rows for name in row for part in name.split())


def without_names(text: str, names: frozenset[str]) -> str:
    if not names:
        return text
    name = rf"\b(?:{'|'.join(re.escape(name) for name in sorted(names))})\b"
    return re.sub(rf"{name}(?:\s+{name})*", OUR_TEAM, text)


def names_one_of(text: str, names: frozenset[str]) -> bool:
    """Also in capitals; not in small letters, since `will` and `may` are words too."""
    folded = {name.casefold() for name in names}
    return any(word.casefold() in folded and not word.islower() for word in re.findall(r"\w+", text))
