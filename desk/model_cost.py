"""What models cost, in words: millionths of a US dollar, where not knowing is not nothing."""

from __future__ import annotations

CENT = 10_000
DOLLAR = 1_000_000
SMALLEST = 100


def dollars(cost_micro: int) -> str:
    """`$1.20`, `$0.0009` below a cent, `under $0.0001`, `$0`."""
    if cost_micro == 0:
        return "$0"
    if cost_micro < SMALLEST:
        return "under $0.0001"
    return f"${cost_micro / DOLLAR:,.{2 if cost_micro >= CENT else 4}f}"


def cost_in_a_table(cost_micro: int, calls: int, calls_without_cost: int) -> str:
    """`$1.20`, `at least $1.20` when some calls' cost is unknown, `unknown` when all are."""
    if calls and calls == calls_without_cost:
        return "unknown"
    return f"at least {dollars(cost_micro)}" if calls_without_cost else dollars(cost_micro)


def known_cost(cost_micro: int, calls: int, calls_without_cost: int) -> str:
    """`$1.20`; `unknown` when no call's cost is known; else how many calls are not in the sum."""
    if calls and calls == calls_without_cost:
        return "unknown"
    more = f" and {calls_without_cost} call{'s' if calls_without_cost > 1 else ''} of unknown cost"
    return dollars(cost_micro) + (more if calls_without_cost else "")
