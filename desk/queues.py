"""The queues of the desk: which requests stand in each, how many, and one bounded page of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlencode

from django.db.models import Count, F, Prefetch, Q, QuerySet, Value
from django.db.models.functions import Concat

from agent.models import Approval
from desk.slow_refunds import slow_refunds
from intake.models import RefundRequest
from intake.models.request import FIRST_NUMBER
from intake.statuses import ENDS, OPEN, Status

PAGE_SIZE = 50
LAST_PAGE = 200
LONGEST_SEARCH = 80


@dataclass(frozen=True)
class Queue:
    """One queue. `oldest_first`: whoever waits longest stands on top. `empty`: why it is empty and what fills it.

    `slow_refunds`: only requests whose refund hangs; such a queue is named in the side only while something is in it.
    """

    slug: str
    title: str
    icon: str
    statuses: frozenset[Status]
    empty: str
    counted: bool = True
    oldest_first: bool = False
    slow_refunds: bool = False


QUEUES: tuple[Queue, ...] = (
    Queue(
        "needs-approval",
        "Needs approval",
        "hourglass",
        frozenset({Status.NEEDS_APPROVAL}),
        "Nothing waits for you. What the agent may not close by itself will stand here.",
        oldest_first=True,
    ),
    Queue(
        "agent-working",
        "Agent working",
        "sparkle",
        frozenset({Status.SUBMITTED, Status.WORKING, Status.REFUNDING}),
        "The agent has nothing to do. New requests pass through here, usually within seconds.",
    ),
    Queue(
        "waiting-on-customer",
        "Waiting on customer",
        "message-square",
        frozenset({Status.NEEDS_CUSTOMER}),
        "No question is out. When you ask a customer something, their request waits here.",
    ),
    Queue(
        "returns",
        "Returns",
        "package",
        frozenset({Status.AWAITING_RETURN}),
        "No parcel is on its way back. Requests approved with “require return first” wait here.",
    ),
    Queue(
        "resolved",
        "Resolved",
        "circle-check",
        ENDS,
        "Nothing is resolved yet. Refunded, declined and closed requests end here.",
        counted=False,
    ),
    Queue(
        "all",
        "All requests",
        "list",
        frozenset(Status),
        "No customer has asked for a refund yet.",
        counted=False,
    ),
)
SLOW_REFUNDS = Queue(
    "slow-refunds",
    "Refunds that hang",
    "clock-alert",
    frozenset({Status.REFUNDING}),
    "No refund hangs. One that the provider has not answered for a day, or not finished for ten, stands here.",
    counted=False,
    oldest_first=True,
    slow_refunds=True,
)
BY_SLUG = {queue.slug: queue for queue in (*QUEUES, SLOW_REFUNDS)}


@dataclass(frozen=True)
class QueuePage:
    """At most PAGE_SIZE requests, with `line.order`, `customer` and `open_approvals` already loaded."""

    queue: Queue
    requests: list[RefundRequest]
    number: int
    has_next: bool
    search: str

    @property
    def has_previous(self) -> bool:
        return self.number > 1

    @property
    def query(self) -> str:
        """What stands behind `?` to come back to this page; empty for the first one without a search."""
        return self._query(self.number)

    @property
    def next_query(self) -> str:
        return f"?{self._query(self.number + 1)}"

    @property
    def previous_query(self) -> str:
        return f"?{self._query(self.number - 1)}"

    def _query(self, number: int) -> str:
        given = {"q": self.search, "page": str(number) if number > 1 else ""}
        return urlencode({name: value for name, value in given.items() if value})


def counts() -> dict[str, int]:
    """How many requests stand in each counted queue, by slug, in one query over the open requests."""
    by_status = dict(
        RefundRequest.objects.filter(status__in=sorted(OPEN)).order_by().values_list("status").annotate(Count("pk"))
    )
    return {queue.slug: sum(by_status.get(status, 0) for status in queue.statuses) for queue in QUEUES if queue.counted}


def slow_refunds_count() -> int:
    """One query."""
    return _inside(SLOW_REFUNDS, RefundRequest.objects.all()).count()


def queue_of(status: str) -> Queue:
    """The queue in which a request of this status stands."""
    return next(queue for queue in QUEUES if status in queue.statuses)


def page_of(queue: Queue, *, search: str = "", number: int = 1) -> QueuePage:
    """One page of a queue in two queries; `number` is kept within 1 and LAST_PAGE."""
    number = min(max(number, 1), LAST_PAGE)
    search = search.strip()[:LONGEST_SEARCH]
    start = (number - 1) * PAGE_SIZE
    found = list(with_facts(_ordered(queue, matching(search)))[start : start + PAGE_SIZE + 1])
    has_next = len(found) > PAGE_SIZE and number < LAST_PAGE
    return QueuePage(queue, found[:PAGE_SIZE], number, has_next, search)


def with_facts(requests: QuerySet[RefundRequest]) -> QuerySet[RefundRequest]:
    """Loads what a row of a list says; `open_approvals` holds the open card or nothing."""
    open_cards = Prefetch(
        "approvals", queryset=Approval.objects.filter(closed_at__isnull=True), to_attr="open_approvals"
    )
    return requests.select_related("line__order", "customer").prefetch_related(open_cards)


def matching(search: str) -> QuerySet[RefundRequest]:
    """Requests of which each word names the number, the customer, the order or the item."""
    requests = RefundRequest.objects.all()
    if not search:
        return requests
    requests = requests.annotate(customer_name=Concat(F("customer__first_name"), Value(" "), F("customer__last_name")))
    for word in search.split()[:6]:
        requests = requests.filter(_names(word))
    return requests


def _names(word: str) -> Q:
    names = (
        Q(customer_name__icontains=word)
        | Q(customer__email__icontains=word)
        | Q(line__order__number__icontains=word)
        | Q(line__name__icontains=word)
        | Q(line__sku__icontains=word)
    )
    digits = word.removeprefix("#")
    if digits.isascii() and digits.isdigit() and len(digits) <= 15:
        names |= Q(pk=int(digits) - FIRST_NUMBER)
    return names


def _ordered(queue: Queue, requests: QuerySet[RefundRequest]) -> QuerySet[RefundRequest]:
    if queue.slug == "all":
        return requests.order_by("-created_at", "-pk")
    inside = _inside(queue, requests)
    if queue.oldest_first:
        return inside.order_by("status_changed_at", "pk")
    return inside.order_by("-status_changed_at", "-pk")


def _inside(queue: Queue, requests: QuerySet[RefundRequest]) -> QuerySet[RefundRequest]:
    inside = requests.filter(status__in=_values(queue.statuses))
    if queue.slow_refunds:
        return inside.filter(uuid__in=slow_refunds().values("request_uuid"))
    return inside


def _values(statuses: Iterable[Status]) -> list[str]:
    return sorted(statuses)
