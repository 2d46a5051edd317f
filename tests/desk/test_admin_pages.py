"""The ordinary admin pages: read by who may, written by no hand, except a new policy version by a lead."""

from __future__ import annotations

import re
import uuid
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.utils import timezone

from agent.models import Decision, Switch, SwitchThrow
from desk.groups import GROUPS
from intake.models import PolicySection, PolicyVersion
from intake.policy_in_force import policy_in_force
from payments.models import Charge, ProviderEvent, Refund
from tests.desk.rows import card_for, ended_run, kettle_request, minutes_ago, step_of
from tests.factories import CustomerFactory, RefundFactory, RunFactory

LISTS = [
    "payments/order",
    "payments/charge",
    "payments/refund",
    "payments/providerevent",
    "intake/policyversion",
    "agent/run",
    "agent/approval",
    "agent/decision",
    "agent/switchthrow",
    "intake/step",
    "auth/user",
    "auth/group",
]
WRITTEN_BY_CODE = [page for page in LISTS if page not in ("intake/policyversion", "auth/user", "auth/group")]


def event(event_id: str, kind: str) -> ProviderEvent:
    return ProviderEvent.objects.create(
        provider="stripe", event_id=event_id, kind=kind, said_at=timezone.now(), effect="A refund failed."
    )


@pytest.fixture
def rows(daniel: User) -> dict[str, Any]:
    """One row of each kind, by the address of its list."""
    request = kettle_request("refunded")
    run = ended_run(request, minutes_ago(5), verdicts=[{"rule": "limit", "outcome": "allow"}])
    step = step_of(request, "Looked up the order", run_uuid=run.pk, arguments={"topic": "<x>"}, result={})
    card = card_for(request, closed_at=timezone.now())
    decision = Decision.objects.create(
        approval=card, choice="approve", amount_minor=1, decided_by=daniel, source="desk"
    )
    throw = SwitchThrow.objects.create(switch=Switch.objects.create(name="x"), paused=True, thrown_by=daniel)
    order = request.line.order
    refund = RefundFactory(charge=order.charges.get(), request_uuid=request.uuid, status="succeeded")
    refund.outcomes.create(status="succeeded", source="run")
    return {
        "payments/order": order,
        "payments/charge": order.charges.get(),
        "payments/refund": refund,
        "payments/providerevent": event("evt_1", "refund.updated"),
        "intake/policyversion": policy_in_force(),
        "agent/run": run,
        "agent/approval": card,
        "agent/decision": decision,
        "agent/switchthrow": throw,
        "intake/step": step,
        "auth/user": daniel,
        "auth/group": Group.objects.get(name="lead"),
    }


@pytest.fixture
def root(db: None) -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("root@example.com", "root@example.com"))
    return client


def test_a_lead_opens_every_list_and_every_row(lead: Client, rows: dict[str, Any]) -> None:
    for page, row in rows.items():
        assert lead.get(f"/desk/{page}/?q=x").status_code == 200, page
        assert lead.get(f"/desk/{page}/").status_code == 200, page
        shown = lead.get(f"/desk/{page}/{row.pk}/change/")
        assert shown.status_code == 200, page
        assert 'name="_save"' not in shown.content.decode(), page


def test_no_hand_writes_what_code_wrote_not_even_a_superusers(root: Client, rows: dict[str, Any]) -> None:
    for page in WRITTEN_BY_CODE:
        one = f"/desk/{page}/{rows[page].pk}"
        assert root.get(f"/desk/{page}/add/").status_code == 403, page
        assert root.post(f"{one}/change/", {"status": "failed", "amount_minor": "1"}).status_code == 403, page
        assert root.post(f"{one}/delete/", {"post": "yes"}).status_code == 403, page
        bulk = {"action": "delete_selected", "_selected_action": rows[page].pk, "post": "yes"}
        root.post(f"/desk/{page}/", bulk)
        rows[page].refresh_from_db()
    assert (Refund.objects.count(), Charge.objects.count(), Decision.objects.get().amount_minor) == (1, 1, 1)


def test_an_existing_policy_is_never_changed(root: Client, rows: dict[str, Any]) -> None:
    one = f"/desk/intake/policyversion/{rows['intake/policyversion'].pk}"
    assert root.post(f"{one}/change/", {"refund_window_days": "99"}).status_code == 403
    assert root.post(f"{one}/delete/", {"post": "yes"}).status_code == 403
    assert policy_in_force().refund_window_days == 30


def test_the_ledger_is_for_leads(support: Client, rows: dict[str, Any]) -> None:
    for page in ("payments/refund", "payments/charge", "payments/providerevent", "auth/user"):
        assert support.get(f"/desk/{page}/").status_code == 403
        assert f"/desk/{page}/" not in support.get("/desk/queue/all/").content.decode()
    assert support.get("/desk/payments/order/").status_code == 200
    assert (
        rows["payments/refund"].reference
        not in support.get(f"/desk/payments/order/{rows['payments/order'].pk}/change/").content.decode()
    )


def test_a_providers_messages_are_found_by_id_and_by_kind(lead: Client, rows: dict[str, Any]) -> None:
    event("evt_2", "charge.refunded")
    assert '<a href="/desk/payments/providerevent/">' in lead.get("/desk/payments/refund/").content.decode()
    for words, found in (("evt_2", {"evt_2"}), ("refund.upd", {"evt_1"}), ("refund", {"evt_1", "evt_2"})):
        page = lead.get("/desk/payments/providerevent/", {"q": words}).content.decode()
        assert {name for name in ("evt_1", "evt_2") if f">{name}</a>" in page} == found


def test_the_list_of_refunds_says_who_had_the_say(lead: Client, rows: dict[str, Any]) -> None:
    charge = rows["payments/charge"]
    RefundFactory(charge=charge, request_uuid=None, key="elsewhere", amount_minor=100)
    RefundFactory(charge=charge, automatic=True, amount_minor=100)
    page = lead.get("/desk/payments/refund/").content.decode()
    for words in ("a person", "the agent", "someone elsewhere"):
        assert page.count(f'<td class="field-paid_by">{words}</td>') == 1


def test_a_refund_leads_to_its_request(lead: Client, rows: dict[str, Any]) -> None:
    refund = rows["payments/refund"]
    page = lead.get(f"/desk/payments/refund/{refund.pk}/change/").content.decode()
    assert f'href="/desk/requests/{refund.request_uuid}/"' in page
    assert "The run that asked" in page
    moved = lead.get(f"/desk/requests/{refund.request_uuid}/")
    assert moved.headers["Location"] == f"/desk/queue/resolved/{refund.request_uuid}/"


def test_a_lead_reads_people_and_changes_nobody(lead: Client, daniel: User) -> None:
    page = lead.get(f"/desk/auth/user/{daniel.pk}/change/").content.decode()
    assert daniel.username in page
    assert lead.post(f"/desk/auth/user/{daniel.pk}/change/", {"is_superuser": "on"}).status_code == 403
    assert lead.get("/desk/auth/user/add/").status_code == 403
    daniel.refresh_from_db()
    assert not daniel.is_superuser


def test_a_superuser_adds_a_person_with_the_email_in_lower_case(root: Client) -> None:
    given = {
        "username": "New.Person@Example.com",
        "usable_password": "true",
        "password1": "a-good-long-one",
        "password2": "a-good-long-one",
    }
    assert root.post("/desk/auth/user/add/", given).status_code == 302
    user = User.objects.get(username="new.person@example.com")
    assert user.email == "new.person@example.com"


def policy_fields(**changes: str) -> dict[str, str]:
    newest = policy_in_force()
    texts = list(newest.sections.all())
    given = {
        "currency": "usd",
        "auto_refund_limit_minor": "75.50",
        "daily_budget_minor": "500",
        "return_above_minor": "150",
        "wrong_item_return_above_minor": "50",
        "refund_window_days": "45",
        "history_days": "90",
        "warranty_days": "365",
        "ship_within_days": "7",
        "return_check_minutes": "10080",
        "reply_days": "14",
        "sections-TOTAL_FORMS": str(len(texts)),
        "sections-INITIAL_FORMS": "0",
    }
    for n, text in enumerate(texts):
        for name in ("topic", "title", "position", "body"):
            given[f"sections-{n}-{name}"] = str(getattr(text, name))
    return {**given, **changes}


def test_a_lead_puts_a_new_policy_in_force(lead: Client) -> None:
    old = policy_in_force()
    page = lead.get("/desk/intake/policyversion/add/").content.decode()
    assert 'value="50.00"' in page
    assert "How refunds work" in page
    assert lead.post("/desk/intake/policyversion/add/", policy_fields()).status_code == 302
    new = policy_in_force()
    assert (new.number, new.auto_refund_limit_minor, new.refund_window_days, new.currency) == (2, 7550, 45, "USD")
    assert new.sections.count() == old.sections.count() == len(PolicySection.Topic.values)
    assert "$75.50" in lead.get(f"/desk/intake/policyversion/{new.pk}/change/").content.decode()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"auto_refund_limit_minor": "a lot"}, "is not an amount"),
        ({"currency": "dollars"}, "at most 3 characters"),
        ({"history_days": "1000000"}, "Write a number from 0 to 3,650."),
        ({"refund_window_days": "3651"}, "Write a number from 0 to 3,650."),
        ({"return_check_minutes": "0"}, "Write a number from 1 to 5,256,000."),
        ({"reply_days": "0"}, "Write a number from 1 to 3,650."),
        ({"sections-0-body": "Up to {limt}."}, "There is no number called {limt}"),
        ({"sections-TOTAL_FORMS": "6"}, "Every topic needs its text. Missing: Returns."),
        ({"sections-1-topic": "overview"}, "Please correct the duplicate"),
    ],
)
def test_a_policy_that_is_not_whole_is_refused(lead: Client, changes: dict[str, str], sentence: str) -> None:
    answer = lead.post("/desk/intake/policyversion/add/", policy_fields(**changes))
    assert (answer.status_code, sentence in answer.content.decode()) == (200, True)
    assert PolicyVersion.objects.count() == 1


def test_what_an_account_may_not_see_is_said_inside_the_desk(support: Client) -> None:
    answer = support.get("/desk/payments/refund/")
    page = answer.content.decode()
    assert (answer.status_code, "Your account may not see this" in page) == (403, True)
    assert '<a class="button primary" href="/desk/">Back to the queues</a>' in page
    assert "Go to your orders" not in page


def test_who_may_only_read_an_account_sees_nothing_of_its_password(lead: Client, root: Client, daniel: User) -> None:
    daniel.set_password("a-good-long-one")
    daniel.save()
    address = f"/desk/auth/user/{daniel.pk}/change/"
    page = lead.get(address).content.decode()
    assert ("daniel" in page.lower(), "pbkdf2" in page, "Reset password" in page) == (True, False, False)
    assert "Reset password" in root.get(address).content.decode()


def test_refunds_are_filtered_by_who_paid(lead: Client) -> None:
    kinds: dict[str, dict[str, Any]] = {
        "agent": {"automatic": True},
        "person": {"automatic": False},
        "elsewhere": {"request_uuid": None},
    }
    made = {
        who: RefundFactory(key=who, reference=f"re_{who}", **{"request_uuid": uuid.uuid4(), **kind})
        for who, kind in kinds.items()
    }
    for who, refund in made.items():
        found = lead.get("/desk/payments/refund/", {"paid_by": who}).context["cl"].result_list
        assert list(found) == [refund], who


def test_support_adds_no_policy(support: Client) -> None:
    assert support.get("/desk/intake/policyversion/add/").status_code == 403
    assert support.post("/desk/intake/policyversion/add/", policy_fields()).status_code == 403
    assert PolicyVersion.objects.count() == 1


def test_the_groups_hold_what_each_may_do(db: None) -> None:
    for name, codes in GROUPS.items():
        held = Group.objects.get(name=name).permissions.values_list("content_type__app_label", "codename")
        assert {f"{app}.{code}" for app, code in held} == set(codes)
    assert not [
        code for codes in GROUPS.values() for code in codes if ".change_" in code and code != "agent.change_switch"
    ]
    assert not [code for codes in GROUPS.values() for code in codes if ".delete_" in code]


def test_people_are_told_apart_in_words(lead: Client, daniel: User) -> None:
    CustomerFactory(username="gone@example.com", is_active=False)
    CustomerFactory(username="priya@example.com")
    page = lead.get("/desk/auth/user/").content.decode()
    assert [page.count(f'class="field-signs_in">{word}<') for word in ("Staff", "Customer", "Switched off")] == [
        2,
        1,
        1,
    ]
    assert "icon-no" not in page


def test_a_run_tells_each_rules_answer_in_a_line(lead: Client) -> None:
    limit = {"rule": "limit", "outcome": "ask", "sentence": "<Too> much.", "inputs": {"limit_minor": 5000}}
    run = RunFactory(verdicts=[limit], result="handed over: refund_after_return")
    assert "handed over: refund after return<" in lead.get("/desk/agent/run/").content.decode()
    page = lead.get(f"/desk/agent/run/{run.pk}/change/").content.decode()
    assert '<span class="chip plain person">ask</span> <b>limit</b><p>&lt;Too&gt; much.</p>' in page
    assert '<p class="mono">limit_minor 5000</p>' in page


def test_the_desks_sign_in_lists_its_staff_in_the_demo_alone(client: Client, daniel: User, settings: Any) -> None:
    settings.DEMO = True
    CustomerFactory(username="priya@example.com")
    demo = client.get("/desk/login/").content.decode()
    assert re.findall(r'data-demo-account="(.*?)"', demo) == [daniel.username]
    assert settings.DEMO_PASSWORD in demo
    settings.DEMO = False
    assert "data-demo" not in client.get("/desk/login/").content.decode()
