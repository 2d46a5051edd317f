from __future__ import annotations

import contextlib
import io
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.utils import timezone
from pytest_django.fixtures import Settings

from agent.llm.base import Usage
from agent.llm.provider import Provider
from agent.llm.token_ledger import count_call
from agent.models import ProviderState
from refunddesk import pulse
from refunddesk.demo_processes.local_redis import free_port
from refunddesk.demo_shop.write_people import write_people
from refunddesk.doctor.configured import without_password
from refunddesk.doctor.models import models
from tests.factories import ChargeFactory, CustomerFactory
from tests.processes import RedisServer

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def nobody_else(settings: Settings, tmp_path: Path) -> None:
    settings.PORT = free_port()


def told() -> list[str]:
    out = io.StringIO()
    with contextlib.suppress(SystemExit):
        call_command("doctor", stdout=out)
    return out.getvalue().splitlines()


def ask_doctor() -> tuple[int, dict[str, tuple[str, str]]]:
    """Exit code, and of each line: about -> (state, words)."""
    out = io.StringIO()
    code = 0
    try:
        call_command("doctor", stdout=out)
    except SystemExit as ended:
        code = int(str(ended.code))
    lines = [line.split(maxsplit=2) for line in out.getvalue().splitlines()]
    return code, {about: (state, words) for state, about, words in lines}


def test_without_a_broker_the_doctor_says_so_and_ends_with_one(settings: Settings) -> None:
    settings.REDIS_URL = f"redis://:hidden@127.0.0.1:{free_port()}/0"

    code, lines = ask_doctor()

    assert code == 1
    assert lines["broker"][0] == "missing"
    assert "REDIS_URL" in lines["broker"][1]
    assert "hidden" not in str(lines)
    assert lines["web"][0] == "missing"
    assert lines["database"][0] == lines["tables"][0] == lines["policy"][0] == lines["photos"][0] == "ok"
    assert lines["model"] == (
        "note",
        "no LLM_CHAIN and no LLM_API_KEY is set: the scripted demo model reviews, and pages say so",
    )


@pytest.mark.worker
def test_with_everything_there_the_doctor_ends_with_zero(real_broker: RedisServer, settings: Settings) -> None:
    settings.DEMO, settings.ALLOWED_HOSTS = False, ["desk.example.com"]
    pulse.give("beat")
    pulse.give("worker")
    pulse.give("clock")

    code, lines = ask_doctor()

    assert code == 0, lines
    assert lines["worker"][0] == lines["beat"][0] == lines["broker"][0] == "ok"
    assert lines["web"][0] == "note"


def test_each_provider_has_a_line_in_its_place_and_no_key_is_printed(settings: Settings) -> None:
    now = timezone.now()
    settings.LLM_CHAIN = (
        Provider("groq", "https://api.groq.com/openai/v1", "gsk-secret", "llama", tokens_per_day=1000),
        Provider("acme", "https://me:hidden@llm.acme.com/v1", "sk-secret", "big", "big", price_in=Decimal(1)),
        Provider("local", "http://127.0.0.1:11434/v1", "", "small", "small", tokens_per_day=100),
    )
    groq = settings.LLM_CHAIN[0]
    until = now + timedelta(minutes=4)
    ProviderState.objects.create(
        name="groq", key_refused_at=now, key_digest=groq.key_digest, last_trouble="The key is not accepted."
    )
    ProviderState.objects.create(name="acme", failures=6, left_alone_until=until, last_trouble="Busy.")
    count_call("acme", CustomerFactory().pk, Usage(700, 40))
    count_call("local", CustomerFactory().pk, Usage(90, 12, 0))

    lines = [line for line in told() if line.split()[1] == "model"]

    assert lines == [
        "missing  model     1. groq: llama at https://api.groq.com/openai/v1, with a key, takes no pictures; THE KEY "
        f"WAS REFUSED at {timezone.localtime(now):%H:%M}: The key is not accepted; today 0 tokens "
        "(1,000 left), cost $0",
        "note     model     2. acme: big at https://me:***@llm.acme.com/v1, with a key; left alone until "
        f"{timezone.localtime(until):%H:%M:%S} after 6 failed calls in a row; today 740 tokens "
        "(no limit), cost unknown",
        "note     model     3. local: small at http://127.0.0.1:11434/v1, without a key; its tokens of today are used; "
        "today 102 tokens (0 left), cost $0",
        "ok       model     when none of them answers, the scripted model stands in, and pages say so",
    ]
    assert "secret" not in "".join(lines)


def test_a_provider_that_fails_is_not_called_ok(settings: Settings) -> None:
    settings.LLM_API_KEY, settings.LLM_MODEL = "k", "m"
    ProviderState.objects.create(name="openrouter", failures=2, last_trouble="It could not be reached.")
    [line] = [finding for finding in models() if "openrouter" in finding.words]
    assert line.state == "note"
    assert "its last 2 calls failed: It could not be reached; today 0 tokens" in line.words


def test_a_key_that_was_refused_is_not_held_against_a_new_one(settings: Settings) -> None:
    settings.LLM_API_KEY, settings.SCRIPTED_MODEL = "sk-secret", "never"
    ProviderState.objects.create(name="openrouter", key_refused_at=timezone.now(), key_digest="of another")

    lines = [line for line in told() if line.split()[1] == "model"]

    assert lines == [
        "ok       model     1. openrouter: openai/gpt-6-luna at https://openrouter.ai/api/v1, with a key; "
        "today 0 tokens (no limit), cost $0",
        "ok       model     when none of them answers, a person gets the case",
    ]


def test_customers_over_and_near_their_limit_are_counted_and_the_largest_told(settings: Settings) -> None:
    settings.LLM_API_KEY, settings.LLM_CUSTOMER_TOKENS_PER_DAY = "sk-secret", 1000

    def line() -> list[str]:
        return [line for line in told() if line.split()[1] == "customers"]

    assert line() == ["ok       customers each has 1,000 tokens of a model a day; nobody used any today"]
    for used in (799, 800, 999):
        count_call("openrouter", CustomerFactory().pk, Usage(used, 0, 0))
    largest = CustomerFactory()
    count_call("openrouter", largest.pk, Usage(900, 0, 0))
    assert line()[0].startswith("ok       customers each has 1,000 tokens of a model a day; today 0 used them up, 3 ")
    count_call("another", largest.pk, Usage(90, 60, 0))
    count_call("openrouter", CustomerFactory().pk, Usage(1000, 0, 0))
    assert line() == [
        "note     customers each has 1,000 tokens of a model a day; today 2 used them up, 2 used 80% or more; "
        f"number {largest.pk} used most: 1,050 (0 left)"
    ]
    settings.LLM_CUSTOMER_TOKENS_PER_DAY = None
    assert line() == []


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://127.0.0.1:6379/0", "redis://127.0.0.1:6379/0"),
        ("redis://user:pass@host:1/0", "redis://user:***@host:1/0"),
        ("redis://:pass@host:1/0", "redis://:***@host:1/0"),
    ],
)
def test_passwords_in_addresses_are_hidden(url: str, shown: str) -> None:
    assert without_password(url) == shown


@pytest.mark.parametrize(
    ("provider", "key", "line"),
    [
        ("ledger", "", ("ok", "the provider of each can be asked for a refund")),
        ("stripe", "sk_test_1", ("ok", "the provider of each can be asked for a refund")),
        (
            "stripe",
            "",
            ("missing", "some were taken by Stripe, and without STRIPE_SECRET_KEY none of them can be refunded"),
        ),
        ("bitcoin", "", ("missing", "one was taken by “bitcoin”, a provider this installation does not know")),
    ],
)
def test_charges_whose_provider_cannot_be_asked_are_told(
    settings: Settings, provider: str, key: str, line: tuple[str, str]
) -> None:
    settings.STRIPE_SECRET_KEY = key
    ChargeFactory(provider=provider)
    assert ask_doctor()[1]["charges"] == line


def charge_lines() -> list[str]:
    return [line for line in told() if line.split()[1] == "charges"]


STRIPES_NAME = (
    "missing  charges   {} of order {} is named like a payment at Stripe, but stands in the shop's own book (provider "
    "ledger), where a refund moves no money: give such money back by hand at Stripe, and bring orders in with provider "
    "stripe; a demo's orders belong into a database of their own"
)
KEY_IS_SET = (
    "missing  charges   STRIPE_SECRET_KEY is set, but {} of order {} stands in the shop's own book (provider ledger), "
    "where a refund moves no money: pay such refunds out by hand, and bring orders that Stripe was paid for in with "
    "provider stripe"
)
ALL_WELL = "ok       charges   the provider of each can be asked for a refund"


@pytest.mark.parametrize("key", ["", "sk_live_1"])
@pytest.mark.parametrize("reference", ["pi_1", "ch_1", "py_1"])
def test_outside_the_demo_a_payment_of_stripe_in_the_shops_own_book_is_told(
    settings: Settings, reference: str, key: str
) -> None:
    settings.STRIPE_SECRET_KEY = key
    ChargeFactory(provider="stripe" if key else "ledger", reference="till-1")
    ChargeFactory(provider="ledger", reference=reference, order__number="A-7")
    assert not [line for line in charge_lines() if "named like" in line]
    settings.DEMO = False
    assert charge_lines() == [STRIPES_NAME.format(reference, "A-7")]


def test_outside_the_demo_a_charge_of_the_book_is_told_once_stripe_is_there(settings: Settings) -> None:
    settings.DEMO = False
    ChargeFactory(provider="ledger", reference="pill-1", order__number="A-7")
    assert charge_lines() == [ALL_WELL]
    settings.STRIPE_SECRET_KEY = "sk_live_1"
    assert charge_lines() == [KEY_IS_SET.format("pill-1", "A-7")]
    settings.DEMO = True
    assert charge_lines() == [ALL_WELL]


def account_lines() -> list[str]:
    return [line for line in told() if line.split()[1] == "accounts"]


def test_outside_the_demo_its_accounts_are_told_while_the_known_password_opens_one(settings: Settings) -> None:
    write_people()
    assert account_lines() == []
    settings.DEMO = False
    behind = (
        " can sign in with the demo's password, which everybody may read: make the account inactive on the desk, or "
        "run `manage.py changepassword` for it; the demo belongs into a database of its own"
    )
    assert account_lines() == [
        f"missing  accounts  daniel.reyes@example.com, staff, and 9 more of the demo shop{behind}"
    ]
    User.objects.exclude(username__in=["maya.okafor@example.com", "priya.raman@example.com"]).update(is_active=False)
    assert account_lines() == [
        f"missing  accounts  maya.okafor@example.com, staff, and 1 more of the demo shop{behind}"
    ]
    maya = User.objects.get(username="maya.okafor@example.com")
    maya.set_password("hers alone")
    maya.save()
    assert account_lines() == [f"missing  accounts  priya.raman@example.com, a customer,{behind}"]
    User.objects.filter(username="priya.raman@example.com").update(password="!none")
    assert account_lines() == ["ok       accounts  nobody of the demo shop can sign in with the demo's password"]


def test_a_limit_of_a_runs_cost_that_does_not_hold_is_told(settings: Settings) -> None:
    priced = Provider("groq", "https://api.groq.com/v1", "k", "m", price_in=Decimal(1), price_out=Decimal(2))
    half = Provider("acme", "https://llm.acme.com/v1", "k", "m", price_in=Decimal(1))
    free = Provider("local", "http://127.0.0.1:11434/v1", "", "m", price_in=Decimal(0), price_out=Decimal(0))

    def limits() -> list[str]:
        return [str(finding) for finding in models() if "LLM_RUN_COST" in finding.words]

    settings.LLM_CHAIN = (priced, half, free)
    assert limits() == []
    settings.LLM_RUN_COST = Decimal("0.25")
    assert limits() == [
        "note     model     LLM_RUN_COST ($0.25 a run) does not hold for acme, whose price is not known: set "
        "LLM_NAME_PRICE_IN and LLM_NAME_PRICE_OUT in an LLM_CHAIN, or trust in LLM_RUN_TOKENS"
    ]
    settings.LLM_CHAIN = (priced, free)
    assert limits() == []
    settings.LLM_CHAIN, settings.LLM_API_KEY = (), "sk-secret"
    assert "does not hold for openrouter, whose" in limits()[0]
