"""A page of the desk takes the same number of queries whether the shop has 20 requests or 2,000."""

from __future__ import annotations

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from agent.models import Approval
from intake.models import RefundRequest
from payments.models import OrderLine
from tests.desk.rows import card_for, ended_run, kettle_request, minutes_ago, step_of
from tests.factories import LineFactory, PolicyFactory


def many_requests(count: int) -> None:
    """Requests with open cards on one order's lines, in few statements."""
    line, policy = LineFactory(), PolicyFactory()
    lines = OrderLine.objects.bulk_create(
        OrderLine(
            order=line.order, sku=f"S-{count}-{n}", name="Carafe", quantity=1, unit_price_minor=3400, paid_minor=3400
        )
        for n in range(count)
    )
    requests = RefundRequest.objects.bulk_create(
        RefundRequest(
            line=one,
            customer=line.order.customer,
            policy=policy,
            units=1,
            amount_minor=3400,
            currency="USD",
            reason="damaged",
            details="Broken.",
            source="api",
            status="needs_approval",
        )
        for one in lines
    )
    Approval.objects.bulk_create(
        Approval(
            request=one, recommendation="refund", amount_minor=3400, failed_rules=[{"rule": "limit", "sentence": ""}]
        )
        for one in requests
    )


def queries_of(client: Client, address: str, **headers: str) -> int:
    client.get(address, headers=headers)
    with CaptureQueriesContext(
        connection,
    ) as captured:
        assert client.get(address, headers=headers).status_code == 200
    return len(captured)


def test_the_queue_takes_as_many_queries_with_20_requests_as_with_2000(lead: Client) -> None:
    many_requests(20)
    few = queries_of(lead, "/desk/queue/needs-approval/")
    many_requests(1980)
    assert queries_of(lead, "/desk/queue/needs-approval/") == few <= 12


def test_search_and_list_take_as_many_queries_with_20_as_with_2000(lead: Client) -> None:
    many_requests(20)
    few = queries_of(lead, "/desk/queue/all/?q=carafe", **{"HX-Request": "true", "HX-Target": "rows"})
    many_requests(1980)
    assert queries_of(lead, "/desk/queue/all/?q=carafe", **{"HX-Request": "true", "HX-Target": "rows"}) == few <= 6


def test_an_open_case_takes_as_many_queries_with_3_steps_as_with_60(lead: Client) -> None:
    request = kettle_request()
    card_for(request)
    run = ended_run(request, minutes_ago(5))
    for n in range(3):
        step_of(request, f"step {n}", run_uuid=run.pk)
    address = f"/desk/queue/needs-approval/{request.uuid}/"
    few = queries_of(lead, address)
    for n in range(57):
        step_of(request, f"more {n}", run_uuid=run.pk)
    assert queries_of(lead, address) == few <= 25


def test_admin_lists_take_as_many_queries_with_20_rows_as_with_80(lead: Client) -> None:
    def rows(count: int) -> None:
        for n in range(count):
            request = kettle_request("refunded")
            run = ended_run(request, minutes_ago(n))
            step_of(request, "looked", run_uuid=run.pk)

    pages = [
        "payments/order",
        "payments/charge",
        "payments/refund",
        "agent/run",
        "agent/approval",
        "intake/step",
        "auth/user",
    ]
    rows(20)
    few = {page: queries_of(lead, f"/desk/{page}/") for page in pages}
    rows(60)
    assert {page: queries_of(lead, f"/desk/{page}/") for page in pages} == few
