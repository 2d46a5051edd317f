"""Who is mailed a link to set a password, how often, and that nobody learns who has an account."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from intake.password_forms import ENTER_EMAIL
from intake.password_links import (
    MAIL_TASK,
    MAX_LINKS,
    MAX_LINKS_OF_A_PLACE,
    NOBODY,
    NOT_SENT,
    TOO_MANY,
    TOO_MANY_FROM_HERE,
    mail_link,
    valid_for,
)
from intake.tasks import MAIL_TRIES_AGAIN, mail_password_link
from tests.intake.password_mail import NEW, PRIYA, mailed_link, set_password, words

pytestmark = pytest.mark.django_db
OFFER = "Forgotten your password, or never had one?"
Ask = Callable[..., Any]


class Worker:
    """Takes what is handed to the broker and does it when asked."""

    def __init__(self) -> None:
        self.handed: list[tuple[Any, ...]] = []
        self.away = False

    def send_task(self, name: str, *, args: list[Any], **options: Any) -> None:
        if self.away:
            raise ConnectionError("away")
        assert (name, options["expires"]) == (mail_password_link.name, 3600)
        self.handed.append(tuple(args))

    def work(self) -> None:
        for args in self.handed:
            mail_password_link(*args)


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> Worker:
    worker = Worker()
    monkeypatch.setattr("intake.password_links.current_app", worker)
    return worker


@pytest.fixture
def ask(client: Client, worker: Worker, django_capture_on_commit_callbacks: Any) -> Ask:
    def ask(email: str = PRIYA, **extra: Any) -> Any:
        with django_capture_on_commit_callbacks(execute=True):
            return client.post("/password", {"email": email}, **extra)

    return ask


def test_a_customer_without_a_password_gets_in(client: Client, imported: User, ask: Ask, worker: Worker) -> None:
    assert (OFFER in words(client.get("/sign-in")), 'href="/password"' in words(client.get("/sign-in"))) == (True, True)
    assert "Send me the link" in words(client.get("/password"))
    assert ask(" Priya.Raman@Example.com ")["Location"] == "/password/sent"
    assert "It works once, within 3 days." in words(client.get("/password/sent"))
    worker.work()
    link = mailed_link()
    form = client.get(link, follow=True)
    assert form.redirect_chain == [(re.sub(r"/[^/]+$", "/set-password", link), 302)]
    assert f"For {PRIYA}. Wherever else you are signed in, you are signed out." in words(form)
    done = set_password(client, link)
    assert (done.status_code, done["Location"]) == (302, "/password/done")
    assert "Your password is set" in words(client.get("/password/done"))
    assert client.post("/sign-in", {"username": PRIYA, "password": NEW})["Location"] == "/"


def test_the_mail_says_what_it_is_for_and_how_long_it_works(imported: User) -> None:
    imported.first_name = "Priya & <b>"
    imported.save()
    assert mail_link(imported.pk, "http://testserver")
    sent = mail.outbox[0]
    assert (sent.subject, sent.to, sent.from_email) == (
        "Set your password at Pourhaven",
        [PRIYA],
        "refunds@example.com",
    )
    assert sent.extra_headers == {"Auto-Submitted": "auto-generated"}
    assert str(sent.body).replace(mailed_link(), "/LINK") == (
        "Hello Priya & <b>,\n\n"
        "somebody, we hope you, asked for a link to set a password for\n"
        "priya.raman@example.com at Pourhaven. Open it and choose one:\n\n"
        "http://testserver/LINK\n\n"
        "The link works once, within 3 days. Then you are signed out\n"
        "wherever you were signed in before.\n\n"
        "If you did not ask for it, do nothing: your password stays as it is,\n"
        "and nobody but you has this link.\n\n"
        "Pourhaven\n\n"
    )


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(259_200, "3 days"), (86_400, "1 day"), (90_000, "25 hours"), (5400, "90 minutes"), (3600, "1 hour")],
)
def test_how_long_a_link_works_is_never_said_longer(settings: Any, seconds: int, said: str) -> None:
    settings.PASSWORD_RESET_TIMEOUT = seconds
    assert valid_for() == said


def test_an_unknown_address_gets_the_same_answer_and_no_mail(imported: User, ask: Ask, worker: Worker) -> None:
    ask("warm@example.com")
    seen = {}
    for email in (PRIYA, "nobody@example.com"):
        with CaptureQueriesContext(connection) as queries:
            answer = ask(email)
        seen[email] = (answer.status_code, answer["Location"], answer.content, len(queries))
    assert seen[PRIYA] == seen["nobody@example.com"]
    assert worker.handed[1:] == [(imported.pk, "http://testserver"), (NOBODY, "http://testserver")]
    worker.work()
    assert [message.to for message in mail.outbox] == [[PRIYA]]


def test_an_account_that_is_switched_off_gets_no_mail_and_its_link_opens_nothing(
    client: Client, imported: User, ask: Ask, worker: Worker
) -> None:
    mail_link(imported.pk, "http://testserver")
    User.objects.update(is_active=False)
    ask()
    worker.work()
    assert not mail_link(imported.pk, "http://testserver")
    assert (worker.handed, len(mail.outbox)) == ([(NOBODY, "http://testserver")], 1)
    assert client.get(mailed_link()).status_code == 410


def test_an_account_is_sent_so_many_links_and_no_more(imported: User, ask: Ask, worker: Worker) -> None:
    for email in (PRIYA, "nobody@example.com"):
        worker.handed.clear()
        for number in range(MAX_LINKS):
            assert ask(email, REMOTE_ADDR=f"198.51.100.{number}").status_code == 302
        refused = ask(email.upper(), REMOTE_ADDR="203.0.113.9")
        assert (refused.status_code, TOO_MANY in words(refused), len(worker.handed)) == (429, True, MAX_LINKS)


def test_a_place_asks_for_so_many_links_and_no_more(imported: User, ask: Ask, worker: Worker) -> None:
    for number in range(MAX_LINKS_OF_A_PLACE):
        ask(f"nobody{number}@example.com", REMOTE_ADDR="198.51.100.7")
    refused = ask(REMOTE_ADDR="198.51.100.7")
    assert (refused.status_code, TOO_MANY_FROM_HERE in words(refused)) == (429, True)
    assert ask(REMOTE_ADDR="203.0.113.9").status_code == 302


def test_a_cache_that_is_away_keeps_nobody_from_a_link(
    imported: User, ask: Ask, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise ConnectionError("away")

    for name in ("get_many", "add", "incr", "set", "delete"):
        monkeypatch.setattr(cache, name, broken)
    assert ask().status_code == 302
    assert worker.handed == [(imported.pk, "http://testserver")]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("email", [PRIYA, "nobody@example.com"])
def test_a_broker_that_is_away_is_said_to_everybody(client: Client, imported: User, worker: Worker, email: str) -> None:
    worker.away = True
    answer = client.post("/password", {"email": email})
    assert (answer.status_code, NOT_SENT in words(answer), f'value="{email}"' in words(answer)) == (503, True, True)


def test_a_link_is_made_only_under_a_host_of_the_shop(imported: User, ask: Ask, worker: Worker) -> None:
    assert ask(HTTP_HOST="evil.example").status_code == 400
    assert worker.handed == []
    ask(HTTP_HOST="localhost:8000")
    assert worker.handed == [(imported.pk, "http://localhost:8000")]


@pytest.mark.parametrize("email", ["", "priya", "priya\x00@example.com", f"{'p' * 250}@example.com"])
def test_what_is_no_email_is_said(ask: Ask, worker: Worker, email: str) -> None:
    answer = ask(email)
    assert (answer.status_code, 'class="field-error"' in words(answer), worker.handed) == (200, True, [])
    assert email != "priya" or ENTER_EMAIL in words(answer)


def test_without_mail_no_link_is_offered_and_its_address_says_why(
    client: Client, imported: User, ask: Ask, worker: Worker, settings: Any
) -> None:
    assert all(OFFER in words(client.get(page)) for page in ("/sign-in", "/desk/login/"))
    settings.EMAIL_URL = ""
    assert not any(OFFER in words(client.get(page)) for page in ("/sign-in", "/desk/login/"))
    for answer in (client.get("/password"), ask()):
        assert (answer.status_code, "This shop sends no mail from here." in words(answer)) == (404, True)
    assert worker.handed == []
    assert "Ask for a new link" not in words(client.get("/password/set/MQ/nonsense"))


def test_a_mail_server_that_is_away_is_asked_again(imported: User, monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[int] = []

    def away(self: Any, messages: Any) -> int:
        tries.append(1)
        if len(tries) <= MAIL_TRIES_AGAIN:
            raise ConnectionRefusedError("away")
        return 1

    monkeypatch.setattr("django.core.mail.backends.locmem.EmailBackend.send_messages", away)
    assert mail_password_link.name == MAIL_TASK
    assert mail_password_link.apply(args=(imported.pk, "http://testserver")).get() is True
    assert len(tries) == MAIL_TRIES_AGAIN + 1
