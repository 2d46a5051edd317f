"""What stands around every page of the desk: queues with counts, the brake, the model in use, who is signed in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.http import HttpRequest

from agent.llm.choose import ModelChoice, model_in_use
from agent.llm.providers_today import refused_keys
from desk import queues
from desk.brake import Brake, brake_now


@dataclass(frozen=True)
class QueueLink:
    queue: queues.Queue
    count: int | None
    current: bool


@dataclass(frozen=True)
class ShopLink:
    """A link to an ordinary admin page, shown to those who may see it."""

    title: str
    icon: str
    address: str
    permission: str


@dataclass(frozen=True)
class Frame:
    links: list[QueueLink]
    shop: list[ShopLink]
    brake: Brake
    may_pause: bool
    may_see_throws: bool
    model: ModelChoice
    refused_keys: list[str]
    slow_refunds: int


SHOP_LINKS = (
    ShopLink("Orders", "shopping-bag", "admin:payments_order_changelist", "payments.view_order"),
    ShopLink("Charges", "credit-card", "admin:payments_charge_changelist", "payments.view_charge"),
    ShopLink("Refunds", "banknote", "admin:payments_refund_changelist", "payments.view_refund"),
    ShopLink("Policy", "scroll-text", "admin:intake_policyversion_changelist", "intake.view_policyversion"),
    ShopLink("Models", "bot", "admin:models", "intake.view_refundrequest"),
    ShopLink("Runs", "workflow", "admin:agent_run_changelist", "agent.view_run"),
    ShopLink("Evaluations", "flask-conical", "admin:evaluations", "intake.view_refundrequest"),
    ShopLink("Decisions", "gavel", "admin:agent_decision_changelist", "agent.view_decision"),
    ShopLink("People", "users", "admin:auth_user_changelist", "auth.view_user"),
)


def frame_of(request: HttpRequest, current: str = "") -> Frame:
    user: Any = request.user
    return frame_for(user, current)


def frame_for(user: User, current: str = "") -> Frame:
    """A fixed number of queries: the counts are one, the brake three, the person's permissions two, the refunds that
    hang one, the providers' keys one where there are any."""
    counted = queues.counts()
    may_pause = user.has_perm("agent.change_switch")
    may_see_requests = user.has_perm("intake.view_refundrequest")
    return Frame(
        links=[QueueLink(queue, counted.get(queue.slug), queue.slug == current) for queue in queues.QUEUES],
        shop=[link for link in SHOP_LINKS if user.has_perm(link.permission)],
        brake=brake_now(),
        may_pause=may_pause,
        may_see_throws=user.has_perm("agent.view_switchthrow"),
        model=model_in_use(),
        refused_keys=refused_keys() if may_see_requests else [],
        slow_refunds=queues.slow_refunds_count() if may_see_requests else 0,
    )
