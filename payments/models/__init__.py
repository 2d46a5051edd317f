"""The ground floor's rows: what was bought, what was charged, what went back."""

from payments.models.charge import Charge
from payments.models.order import Order, OrderLine
from payments.models.provider_event import ProviderEvent
from payments.models.refund import LIVE_REFUND_STATUSES, NEEDS_THE_CUSTOMER, Refund, RefundOutcome

__all__ = [
    "LIVE_REFUND_STATUSES",
    "NEEDS_THE_CUSTOMER",
    "Charge",
    "Order",
    "OrderLine",
    "ProviderEvent",
    "Refund",
    "RefundOutcome",
]
