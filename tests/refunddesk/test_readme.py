"""What the README tells a newcomer is there."""

from __future__ import annotations

import re
from pathlib import Path

from django.conf import settings
from django.core.management import get_commands
from django.urls import reverse

from payments.stripe_events import CHARGE_REFUNDED, REFUND_KINDS
from refunddesk.demo_shop.cases import CASES
from refunddesk.demo_shop.people import CUSTOMERS, STAFF
from refunddesk.demo_shop.pictures import PHOTO_FOLDER
from refunddesk.tour.stories import STORIES

ROOT = Path(settings.BASE_DIR)
README = (ROOT / "README.md").read_text()


def test_the_demo_accounts_and_their_password_are_named() -> None:
    assert f"`{settings.DEMO_PASSWORD}`" in README
    for person in STAFF:
        assert f"{person.full_name}, {'lead' if person.group == 'lead' else 'support'} | `{person.email}`" in README
    for person in CUSTOMERS:
        assert person.full_name in " ".join(README.split())


def test_every_story_has_its_row() -> None:
    rows = re.findall(r"^\| (\d+) \|", README, re.MULTILINE)
    assert [int(row) for row in rows] == [story.number for story in STORIES]


def test_each_story_names_its_order_and_a_photo_that_is_free() -> None:
    rows = {int(row[1]): row[0] for row in re.finditer(r"^\| (\d+) \|.*$", README, re.MULTILINE)}
    for story in STORIES:
        if story.line is not None:
            assert f"| {story.line[1]}, " in rows[story.number]
    named = set(re.findall(r"`([a-z]+(?:-[a-z]+)+)`", "\n".join(rows.values())))
    there = {file.stem for file in PHOTO_FOLDER.glob("*.jpg")}
    sent_before = {case.look.photo for case in CASES if case.look}
    assert (named, len(sent_before)) == (there - sent_before, 7)


def test_every_target_of_make_and_every_command_that_is_named_exists() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"(?:`|^)make ([a-z-]+)", README, re.MULTILINE))
    assert targets >= {"demo", "test", "check"}
    assert not [target for target in targets if not re.search(rf"^{target}:", makefile, re.MULTILINE)]
    commands = set(re.findall(r"manage\.py ([a-z_]+)", README))
    assert commands >= {"tour", "reset", "doctor", "import_orders"}
    assert commands <= set(get_commands())


def test_every_setting_that_is_named_is_in_the_example() -> None:
    example = (ROOT / ".env.example").read_text()
    named = set(
        re.findall(
            r"\b(LLM_[A-Z_]+|STRIPE_[A-Z_]+|EMAIL_URL|SHOP_EMAIL|PHOTO_BUCKET|DATA_DIR|PORT|SECRET_KEY|ALLOWED_HOSTS)\b",
            README,
        )
    )
    assert not [name for name in named if f"#{name}=" not in example]


def test_the_webhooks_address_and_the_messages_it_wants_are_named() -> None:
    assert f"https://desk.example.com{reverse('stripe-webhook')}" in README
    for kind in (*REFUND_KINDS, CHARGE_REFUNDED):
        assert f"`{kind}`" in README


def test_every_file_that_is_named_exists() -> None:
    for name in ("fixtures/photos", "intake/rules.py", "tests/stories", "docker-compose.yml", ".env.example"):
        assert name in README
        assert (ROOT / name).exists()
