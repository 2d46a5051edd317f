"""Whose names may stand in a case's texts: the customer's, the team's, and those of others the shop knows."""

from __future__ import annotations

import re
from collections.abc import Iterable

from django.contrib.auth.models import User

from agent.evaluation.neutral_text import Person, a_colleague, somebody_else, the_customer
from agent.models import Decision
from intake.models import RefundRequest, Reply
from payments.models import Order, OrderLine

MOST_STAFF = 500
MOST_TEXTS = 200
MOST_ORDERS = 200
MOST_WORDS = 500
CAPITALISED = re.compile(r"(?<!\w)[^\W\d_a-z][\w'’-]+")


def texts_of(request: RefundRequest) -> list[str]:
    """Everything people wrote that a scenario keeps, in three queries."""
    replies = Reply.objects.filter(question__request=request).values_list("message", flat=True)
    notes = Decision.objects.filter(approval__request=request).values_list("note", flat=True)
    names = OrderLine.objects.filter(order=request.line.order_id).values_list("name", flat=True)
    return [request.details, *replies[:MOST_TEXTS], *notes[:MOST_TEXTS], *names[:MOST_TEXTS]]


def those_named(request: RefundRequest, texts: Iterable[str]) -> tuple[list[Person], list[str]]:
    """The people and the order numbers to look for, the case's own first, in three queries."""
    customer = request.customer
    staff = User.objects.filter(is_staff=True).exclude(pk=customer.pk).order_by("pk")[:MOST_STAFF]
    words = sorted({word for text in texts for word in CAPITALISED.findall(text)})[:MOST_WORDS]
    others = User.objects.filter(is_staff=False, first_name__in=words, last_name__in=words).exclude(pk=customer.pk)
    people = [
        the_customer(customer.first_name, customer.last_name),
        *(somebody_else(user.first_name, user.last_name) for user in others.order_by("pk")[:MOST_STAFF]),
        *(a_colleague(user.first_name, user.last_name) for user in staff),
    ]
    numbers = Order.objects.filter(customer=customer).exclude(pk=request.line.order_id).order_by("-pk")
    own = request.line.order.number
    return people, [own, *numbers.values_list("number", flat=True)[:MOST_ORDERS]]
