"""What the card says for and against its recommendation, and where each sentence comes from."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from agent.models import Decision
from intake.models import RefundRequest
from tests.desk.rows import card_for, kettle_request, member_of, step_of

FROM_STEP_2 = '<a href="#step-2" data-step="2" title="Inspected &lt;b&gt;">step 2</a>'


def with_two_steps() -> RefundRequest:
    request = kettle_request()
    step_of(request, "Looked up order")
    step_of(request, "Inspected <b>")
    return request


def page_of(client: Client, request: RefundRequest, **card: Any) -> str:
    card_for(request, **card)
    answer = client.get(f"/desk/queue/all/{request.uuid}/")
    assert answer.status_code == 200
    return answer.content.decode()


def signs(page: str) -> list[str]:
    """What stands behind each sentence of the card, in its order."""
    return re.findall(r'<span class="source">(.*?)</span>', page)


def test_each_sentence_says_what_it_rests_on(lead: Client) -> None:
    page = page_of(lead, with_two_steps())
    against, finding, rule, opinion = signs(page)
    assert (against, finding) == (FROM_STEP_2, FROM_STEP_2)
    assert rule == "<em>shop’s rule</em>"
    assert opinion == "<em>the agent’s opinion</em>"


def test_what_the_shop_says_is_marked_as_its_own_beside_the_step(lead: Client) -> None:
    concerns = [
        {"text": "Above the limit.", "step": 2, "source": "rule"},
        {"text": "The review stopped.", "step": 2, "source": "code"},
        {"text": "The bank refused.", "step": None, "source": "code"},
    ]
    page = page_of(lead, with_two_steps(), findings=[], concerns=concerns, counter_case=None)
    assert signs(page) == [
        f"<em>shop’s rule</em>{FROM_STEP_2}",
        f"<em>shop’s record</em>{FROM_STEP_2}",
        "<em>shop’s record</em>",
    ]


def test_the_link_is_an_anchor_of_a_step_that_can_take_the_focus(lead: Client) -> None:
    page = page_of(lead, with_two_steps())
    assert re.search(r'<li id="step-2" tabindex="-1" class="step', page)
    assert "desk/js/points" in page


def test_a_step_that_is_not_on_the_page_is_no_link(lead: Client) -> None:
    page = page_of(lead, kettle_request())
    assert 'href="#step-2"' not in page
    assert signs(page)[0] == "<em>step 2</em>"


def test_beside_the_recommendation_stands_what_speaks_against_it(lead: Client) -> None:
    page = page_of(lead, with_two_steps(), counter_case={"text": "<i>Late.</i>", "step": None, "source": "model"})
    recommends = page.index("The agent recommends: refund")
    against = page.index("Strongest reason against")
    change = page.index("What would change this")
    assert recommends < against < page.index("&lt;i&gt;Late.&lt;/i&gt;") < change < page.index('<ul class="points">')
    assert change < page.index("A picture of it whole.")


def test_a_card_with_nothing_against_it_shows_no_empty_heading(lead: Client) -> None:
    page = page_of(lead, with_two_steps(), counter_case=None, would_change="")
    assert "Strongest reason against" not in page
    assert "What would change this" not in page
    assert 'class="against"' not in page


def test_where_nothing_is_recommended_the_rule_speaks_against_paying(lead: Client) -> None:
    rule = {"text": "$129.00 is above the $50.00 limit.", "step": None, "source": "rule"}
    page = page_of(lead, with_two_steps(), recommendation="manual_review", counter_case=rule, would_change="")
    assert "Strongest reason against paying" in page
    assert page.count("$129.00 is above the $50.00 limit.") == 1  # not once more among the concerns


@pytest.mark.parametrize("shown", [True, False])
def test_an_earlier_card_can_be_opened_at_its_decision(lead: Client, shown: bool) -> None:
    request = kettle_request("declined")
    step_of(request, "Looked up order")
    bare: dict[str, Any] = {"findings": [], "concerns": [], "reasoning": "", "counter_case": None, "would_change": ""}
    card = card_for(request, closed_at=timezone.now(), **({} if shown else bare))
    Decision.objects.create(approval=card, choice="decline", note="No.", decided_by=member_of("lead"), source="desk")
    page = lead.get(f"/desk/queue/all/{request.uuid}/").content.decode()
    assert "The agent had recommended: refund" in page
    assert ('<details class="card-then">' in page) is shown
    assert ("It could have happened in use." in page) is shown
