"""A link to set a password: who gets one, how long it works, and that nobody learns who has an account."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.core import mail
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from rest_framework.authtoken.models import Token

from intake.password_forms import ENTER_AGAIN, ENTER_EMAIL, ENTER_PASSWORD, NOT_THE_SAME
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
from intake.sign_in_guard import MAX_FAILURES
from intake.tasks import MAIL_TRIES_AGAIN, mail_password_link

pytestmark = pytest.mark.django_db
PRIYA = "priya.raman@example.com"
NEW = "a wholly new long one"
OFFER = "Forgotten your password, or never had one?"
OLD_LINK = "It was used before, is too old, or did not come over whole. Your password is what it was."
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


@pytest.fixture
def imported(priya: User) -> User:
    priya.set_unusable_password()
    priya.save()
    return priya


def words(answer: Any) -> str:
    return unescape(answer.content.decode())


def mailed_link() -> str:
    found = re.search(r"^http://testserver(/password/set/\S+)$", str(mail.outbox[-1].body), re.MULTILINE)
    assert found
    return found[1]


def set_password(client: Client, link: str, password: str = NEW) -> Any:
    form = client.get(link)["Location"]
    return client.post(form, {"new_password1": password, "new_password2": password})


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


def test_a_link_works_once(client: Client, imported: User) -> None:
    mail_link(imported.pk, "http://testserver")
    set_password(client, mailed_link())
    again = client.get(mailed_link())
    assert (again.status_code, OLD_LINK in words(again)) == (410, True)
    assert 'href="/password">Ask for a new link' in words(again)


def test_a_link_that_is_too_old_is_refused_with_a_sentence(
    client: Client, imported: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    mail_link(imported.pk, "http://testserver")
    later = datetime.now() + timedelta(days=3, seconds=2)  # noqa: DTZ005 - as Django's generator counts
    monkeypatch.setattr(PasswordResetTokenGenerator, "_now", lambda self: later)
    old = client.get(mailed_link())
    assert (old.status_code, OLD_LINK in words(old)) == (410, True)


@pytest.mark.parametrize(
    "end", ["set/MQ/nonsense", "set/MQ/set-password", "set/AAAA/x", "set/%F0/x", "set/OTk5OTk5OTk5OTk5OTk5OTk5OTk/x"]
)
def test_a_link_that_did_not_come_over_whole_is_refused(client: Client, imported: User, end: str) -> None:
    answer = client.get(f"/password/{end}")
    assert (answer.status_code, OLD_LINK in words(answer)) == (410, True)


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


def test_a_new_password_ends_other_sessions_and_the_token(client: Client, imported: User) -> None:
    elsewhere, token = Client(), Token.objects.create(user=imported)
    elsewhere.force_login(imported)
    mail_link(imported.pk, "http://testserver")
    assert elsewhere.get("/").status_code == 200
    set_password(client, mailed_link())
    assert (elsewhere.get("/").status_code, Token.objects.filter(pk=token.pk).exists()) == (302, False)


def test_wrong_passwords_before_it_do_not_keep_the_customer_out(client: Client, imported: User) -> None:
    for _ in range(MAX_FAILURES):
        client.post("/sign-in", {"username": PRIYA, "password": "wrong"})
    mail_link(imported.pk, "http://testserver")
    set_password(client, mailed_link())
    assert client.post("/sign-in", {"username": PRIYA, "password": NEW}).status_code == 302


@pytest.mark.parametrize(
    ("first", "again", "sentences"),
    [
        ("", "", [ENTER_PASSWORD, ENTER_AGAIN]),
        (NEW, "another one", [NOT_THE_SAME]),
        ("short", "short", ["This password is too short. It must contain at least 8 characters."]),
        (PRIYA, PRIYA, ["The password is too similar to the username."]),
    ],
)
def test_a_password_that_cannot_be_is_refused_beside_its_field(
    client: Client, imported: User, first: str, again: str, sentences: list[str]
) -> None:
    mail_link(imported.pk, "http://testserver")
    form = client.get(mailed_link())["Location"]
    page = words(client.post(form, {"new_password1": first, "new_password2": again}))
    assert re.findall(r'class="field-error" id="\w+">(.*?)</p>', page) == sentences
    assert "Your password must contain at least 8 characters." in page
    imported.refresh_from_db()
    assert not imported.has_usable_password()


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


def test_no_page_is_kept_and_no_address_gives_the_secret_away(client: Client, imported: User, settings: Any) -> None:
    mail_link(imported.pk, "http://testserver")
    link = mailed_link()
    secret = link.rsplit("/", 1)[1]
    form = client.get(link)["Location"]
    for path in (link, form, "/password", "/password/sent", "/password/done", "/password/set/MQ/nonsense"):
        answer = client.get(path)
        assert "no-store" in answer["Cache-Control"], path
        assert answer["Referrer-Policy"] == "same-origin", path
        page = answer.content.decode()
        assert (secret in page, secret in answer.get("Location", "")) == (False, False), path
        assert page.count("<script") == page.count("<script src="), path
        assert "http" not in re.sub(r'xmlns="[^"]*"', "", page), path


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
