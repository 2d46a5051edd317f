"""Whose names may stand in a case's texts: the customer's, the team's, and those of others the shop knows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from django.contrib.auth.models import User

from agent.evaluation.neutral_names import may_be_named, words_in
from agent.evaluation.neutral_text import Known, NeutralText, Person, a_colleague, somebody_else, the_customer
from agent.models import Decision
from intake.models import RefundRequest, Reply
from payments.models import Order, OrderLine

MOST_STAFF = 500
MOST_TEXTS = 200
MOST_ORDERS = 200
MOST_CODES = 50
MOST_CUSTOMERS = 20_000


def texts_of(request: RefundRequest) -> list[str]:
    """Everything people wrote that a scenario keeps, in three queries."""
    replies = Reply.objects.filter(question__request=request).values_list("message", flat=True)
    notes = Decision.objects.filter(approval__request=request).values_list("note", flat=True)
    names = OrderLine.objects.filter(order=request.line.order_id).values_list("name", flat=True)
    return [request.details, *replies[:MOST_TEXTS], *notes[:MOST_TEXTS], *names[:MOST_TEXTS]]


def neutral_text_of(request: RefundRequest) -> NeutralText:
    """Knows the people, numbers and codes that may stand in the case's texts, in at most ten queries."""
    texts = texts_of(request)
    order, customer = request.line.order, request.customer
    numbers = Order.objects.filter(customer=customer).exclude(pk=order.pk).order_by("-pk")
    codes = request.returns.order_by("-created_at").values_list("code", flat=True)
    articles = OrderLine.objects.filter(order=order).values_list("sku", flat=True)
    known = Known(
        order_numbers=(order.number, *numbers.values_list("number", flat=True)[:MOST_ORDERS]),
        return_codes=tuple(codes[:MOST_CODES]),
        harmless=tuple(articles[:MOST_TEXTS]),
        asked_in=request.created_at.year,
    )
    return NeutralText(_people(customer, texts), known)


def _people(customer: User, texts: Iterable[str]) -> list[Person]:
    """The customer first, so that whoever shares a name with them is taken for them."""
    staff = User.objects.filter(is_staff=True).exclude(pk=customer.pk).order_by("pk")[:MOST_STAFF]
    return [
        the_customer(customer.first_name, customer.last_name),
        *(somebody_else(first, last) for first, last in _others(customer, texts)),
        *(a_colleague(user.first_name, user.last_name) for user in staff),
    ]


def _others(customer: User, texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Of the newest customers, those of whose names some word stands in the texts."""
    said = words_in("\n".join(texts))
    others = User.objects.filter(is_staff=False).exclude(pk=customer.pk).exclude(first_name="").exclude(last_name="")
    for first, last in others.order_by("-pk").values_list("first_name", "last_name")[:MOST_CUSTOMERS]:
        if may_be_named(f"{first} {last}", said):
            yield first, last
