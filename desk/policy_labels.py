"""What each number of a policy version is called, wherever staff read or write one."""

from __future__ import annotations

# Those in minor units of the version's currency.
AMOUNTS = {
    "auto_refund_limit_minor": "Automatic refunds up to and including",
    "daily_budget_minor": "Automatic refunds of one day, all together",
    "return_above_minor": "Damaged or defective goods come back above",
    "wrong_item_return_above_minor": "A wrong item comes back above",
}
LABELS = {
    **AMOUNTS,
    "currency": "Currency",
    "refund_window_days": "Days to ask after delivery",
    "history_days": "Days without another refund, for an automatic one",
    "warranty_days": "Days of warranty against defects",
    "ship_within_days": "Days to hand in a parcel that comes back",
    "return_check_minutes": "Minutes until a return is checked",
    "reply_days": "Days to answer a question",
}
