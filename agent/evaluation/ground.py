"""The ground every scenario is played on: the same rules and clock everywhere, whatever this installation has set.

An end typed by hand ("50.00 is refunded, 50.01 is not") means something only on known numbers.
"""

from __future__ import annotations

CURRENCY = "USD"
TIME_ZONE = "America/Los_Angeles"
LIMIT_MINOR = 5_000
WINDOW_DAYS = 30
RETURN_CHECK_MINUTES = 10_080

# Field of PolicyVersion -> value, in its own units.
ORDINARY_POLICY: dict[str, int | str] = {
    "currency": CURRENCY,
    "auto_refund_limit_minor": LIMIT_MINOR,
    "refund_window_days": WINDOW_DAYS,
    "return_check_minutes": RETURN_CHECK_MINUTES,
    "history_days": 90,
    "daily_budget_minor": 50_000,
    "return_above_minor": 15_000,
    "wrong_item_return_above_minor": 5_000,
    "warranty_days": 365,
    "ship_within_days": 7,
    "reply_days": 14,
}

# What fills version 1 of a fresh database, and the clock of its days.
GROUND_SETTINGS = {
    "SHOP_CURRENCY": CURRENCY,
    "SHOP_TIME_ZONE": TIME_ZONE,
    "AUTO_REFUND_LIMIT_CENTS": str(LIMIT_MINOR),
    "REFUND_WINDOW_DAYS": str(WINDOW_DAYS),
    "RETURN_CHECK_DELAY_MINUTES": str(RETURN_CHECK_MINUTES),
    "REQUESTS_PER_DAY": "20",
}
