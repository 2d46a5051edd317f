"""The page "Models", the notice about a refused key, and what the timeline tells of who answered."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from agent.llm.base import Usage
from agent.llm.provider import Provider
from agent.llm.token_ledger import count_call, today
from agent.models import Evaluation, ProviderState, TokenDay
from desk.case import find_request
from desk.model_cost import dollars, known_cost
from desk.news import case_news
from tests.desk.rows import ended_run, kettle_request, minutes_ago, step_of
from tests.desk.test_query_counts import queries_of
from tests.factories import CustomerFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def chain(settings: Any) -> tuple[Provider, ...]:
    settings.LLM_CHAIN = (
        Provider("groq", "https://api.groq.com/openai/v1", "gsk-secret", "llama-4", tokens_per_day=1000),
        Provider("acme", "https://llm.acme.com/v1", "sk-secret", "big", "big-eyes", price_in=Decimal(1)),
    )
    chain: tuple[Provider, ...] = settings.LLM_CHAIN
    return chain


def words(client: Client, address: str = "/desk/models/") -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    main = answer.content.decode().split("<main", 1)[1]
    return " ".join(re.sub(r"<[^>]+>", " ", main).split())


def refuse_key(provider: Provider) -> None:
    ProviderState.objects.create(
        name=provider.name, key_refused_at=timezone.now(), key_digest=provider.key_digest, last_trouble="Not accepted."
    )


def test_each_provider_stands_in_its_place_with_what_today_used(
    support: Client, chain: tuple[Provider, ...], settings: Any
) -> None:
    settings.LLM_CUSTOMER_TOKENS_PER_DAY = 500
    priya, noor = CustomerFactory(first_name="Priya", last_name="Raman"), CustomerFactory(first_name="Noor")
    count_call("groq", priya.pk, Usage(700, 50))
    count_call("acme", noor.pk, Usage(100, 20, 12_345))
    count_call("acme", noor.pk, Usage(None, None, None))
    ProviderState.objects.create(name="acme", failures=2)

    page = words(support)

    groq, acme = page.index("groq llama-4, which takes no pictures"), page.index("acme big; pictures: big-eyes")
    assert groq < acme < page.index("Scripted model")
    assert "Tokens today 750 of 1,000 Left today 250 Cost today unknown Calls today 1 Failed in a row 0" in page
    assert (
        "Tokens today 120 Left today no limit Cost today $0.01 and 1 call of unknown cost Calls today 2 "
        "Failed in a row 2" in page
    )
    assert page.index("Priya Raman limit reached 1 750 0 unknown") < page.index("2 120 380 at least $0.01")


def test_what_evaluations_used_counts_against_the_day(support: Client, chain: tuple[Provider, ...]) -> None:
    count_call("groq", CustomerFactory().pk, Usage(100, 50))
    numbers = {"calls": 2, "tokens_in": 700, "tokens_out": 150, "cost_micro": 20_000}
    for day in (today(), today() - timedelta(days=1)):
        used = {day.isoformat(): {"groq": numbers}}
        Evaluation.objects.create(kind="suite", status="running", scores={"used": used})
    Evaluation.objects.create(kind="suite", status="done", scores={"used": [1]})
    page = words(support)
    assert "Used up Its tokens of today are used" in page
    assert "Tokens today 1,000 of 1,000 Left today 0" in page
    assert "Of them by evaluations 850 tokens, $0.02" in page


def test_the_state_is_told_in_words(support: Client, chain: tuple[Provider, ...]) -> None:
    refuse_key(chain[0])
    ProviderState.objects.create(
        name="acme", failures=3, left_alone_until=timezone.now() + timedelta(minutes=2), last_trouble="Out of order."
    )
    page = words(support)
    assert "Key refused Not accepted. That was" in page
    assert re.search(r"Left alone Asked again from [A-Za-z0-9 ,:]+ on\. Out of order\.", page)
    ProviderState.objects.update(left_alone_until=None)
    assert "Failing Its last 3 calls failed. Out of order." in words(support)
    ProviderState.objects.all().delete()
    count_call("groq", CustomerFactory().pk, Usage(990, 10))
    assert "Used up Its tokens of today are used" in words(support)
    assert "gsk-secret" not in support.get("/desk/models/").content.decode()


def test_the_last_two_weeks_are_told_by_day_also_of_providers_that_are_gone(
    support: Client, chain: tuple[Provider, ...]
) -> None:
    customer = CustomerFactory()
    newest = timezone.localdate()
    for days, provider in ((0, "groq"), (13, "groq"), (14, "groq"), (3, "gone")):
        day = newest - timedelta(days=days)
        TokenDay.objects.create(day=day, provider=provider, customer=customer, calls=1, tokens_in=1000 + days)
    page = words(support)
    assert "1,000" in page
    assert "1,013" in page
    assert "1,014" not in page
    assert "gone, the last 14 days not asked any more" in page


def test_without_any_provider_the_page_says_who_works(support: Client, settings: Any) -> None:
    assert "so the scripted model does all the work" in words(support)
    settings.SCRIPTED_MODEL = "never"
    assert "so a person gets every case" in words(support)


def test_only_staff_who_may_see_requests_see_the_page(support: Client, client: Client) -> None:
    assert client.get("/desk/models/").status_code == 302
    stranger = Client()
    stranger.force_login(CustomerFactory(is_staff=True))
    assert stranger.get("/desk/models/").status_code == 403
    assert 'href="/desk/models/"' in support.get("/desk/models/").content.decode()


def test_the_page_takes_as_many_queries_however_much_there_is(lead: Client, chain: tuple[Provider, ...]) -> None:
    def use(customers: int) -> None:
        for number in range(customers):
            count_call(f"provider-{number % 5}", CustomerFactory().pk, Usage(10, 1, 5))

    use(2)
    few = queries_of(lead, "/desk/models/")
    use(40)
    assert queries_of(lead, "/desk/models/") == few <= 16
    assert lead.get("/desk/models/").content.decode().count('<tr><th scope="row">') == 20 + 5


def test_what_customers_have_left_is_told_only_where_there_is_a_limit(support: Client, settings: Any) -> None:
    settings.LLM_CUSTOMER_TOKENS_PER_DAY = None
    count_call("groq", CustomerFactory(first_name="Priya", last_name="Raman").pk, Usage(300, 20, 0))
    count_call("groq", CustomerFactory(first_name="Noor", last_name="Aziz").pk, Usage(319, 0, 0))
    assert "Customer Calls Tokens Cost Priya Raman 1 320 $0 Noor Aziz 1 319 $0" in words(support)
    settings.LLM_CUSTOMER_TOKENS_PER_DAY = 400
    assert "Customer Calls Tokens Left Cost Priya Raman near the limit 1 320 80 $0 Noor Aziz 1 319 81 $0" in words(
        support
    )


def test_all_who_work_on_requests_are_told_of_a_refused_key_until_it_changes(
    lead: Client, support: Client, chain: tuple[Provider, ...], settings: Any
) -> None:
    def notices(client: Client) -> int:
        return client.get("/desk/queue/all/").content.decode().count("Key refused: groq")

    assert notices(lead) == 0
    refuse_key(chain[0])
    assert (notices(lead), notices(support)) == (1, 1)
    settings.LLM_CHAIN = (Provider("groq", "https://api.groq.com/openai/v1", "a new key", "llama-4"),)
    assert notices(lead) == 0


def test_the_timeline_tells_who_answered_what_it_cost_and_who_was_passed_over(lead: Client) -> None:
    request = kettle_request()
    run = ended_run(request, minutes_ago(5), provider="acme", model="big", tokens_in=800, tokens_out=40, cost_micro=880)
    step_of(
        request,
        "Looked up the order",
        run_uuid=run.pk,
        tool="get_order",
        arguments={},
        result={},
        provider="acme",
        model="big",
        tokens_in=800,
        tokens_out=40,
        cost_micro=880,
        skipped=[{"provider": "groq", "why": "Its key was refused."}],
    )
    step_of(request, "Read policy", run_uuid=run.pk, result={}, provider="acme", model="big")
    page = words(lead, f"/desk/queue/needs-approval/{request.uuid}/")
    assert "acme · big · 800 tokens in, 40 out · $0.0009" in page
    assert "groq passed over: Its key was refused." in page
    assert "acme · big · tokens unknown · cost unknown" in page
    assert "800 in, 40 out · $0.0009" in page


@pytest.mark.parametrize(
    ("micro", "told"),
    [(0, "$0"), (1, "under $0.0001"), (880, "$0.0009"), (12_345, "$0.01"), (1_234_567_890, "$1,234.57")],
)
def test_dollars_are_told_as_finely_as_they_need(micro: int, told: str) -> None:
    assert dollars(micro) == told


def test_an_unknown_cost_is_never_told_as_nothing() -> None:
    assert known_cost(0, calls=3, calls_without_cost=3) == "unknown"
    assert known_cost(0, calls=3, calls_without_cost=0) == "$0"
    assert known_cost(880, calls=3, calls_without_cost=2) == "$0.0009 and 2 calls of unknown cost"
    assert known_cost(0, calls=0, calls_without_cost=0) == "$0"


def test_a_repeated_passing_over_is_folded_where_it_repeats(lead: Client) -> None:
    request = kettle_request()
    run = ended_run(request, minutes_ago(5))
    refused = {"provider": "groq", "why": "Its key was refused."}
    busy = {"provider": "acme", "why": "It is busy."}
    step_of(request, "Looked up the order", run_uuid=run.pk, result={}, skipped=[refused])
    step_of(request, "Read policy", run_uuid=run.pk, result={}, skipped=[refused, busy])
    page = lead.get(f"/desk/queue/needs-approval/{request.uuid}/").content.decode()
    folded = re.findall(r'<details class="passed-again".*?</details>', page, re.S)
    assert len(folded) == 1
    assert "groq passed over again" in folded[0]
    told_openly = page.replace(folded[0], "")
    assert told_openly.count("groq passed over: Its key was refused.") == 1
    assert told_openly.count("acme passed over: It is busy.") == 1
    pushed = [fragment.html for fragment in case_news(find_request(request.uuid), 1).fragments]
    assert any(folded[0] in html for html in pushed)
