"""The shop's refund policy in plain words, by topic. `{names}` stand for the numbers of the version a text
belongs to, and for the shop's own address.

The texts say the same as the rules on every edge: "up to and including" the limit, "more than" the price above which
goods come back first, the last day of the window still counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from django.conf import settings

from intake.models import PolicySection, PolicyVersion
from payments.money import format_minor

MINUTES_PER_HOUR = 60
MINUTES_PER_DAY = 24 * MINUTES_PER_HOUR
DAYS_PER_YEAR = 365


@dataclass(frozen=True)
class DefaultText:
    """One topic as version 1 holds it; paragraphs are separated by an empty line."""

    topic: PolicySection.Topic
    title: str
    body: str


Topic = PolicySection.Topic

DEFAULT_TEXTS: tuple[DefaultText, ...] = (
    DefaultText(
        Topic.OVERVIEW,
        "How refunds work",
        """
If something is not right with your order, tell us from its order page within {refund_window} of delivery. Day one is \
the day after your parcel arrived, and the last day still counts. A fault that shows later is covered by our warranty.

Our refund agent looks at every request first and answers within minutes. Small, clear cases it settles on the spot. \
Everything else goes to a person on our team, who answers within one business day.

Sometimes we need to ask you something. You then have {reply_time} to answer; after that a person takes over your \
request and decides with what we have.

Refunds always go back to the card you paid with.
""",
    ),
    DefaultText(
        Topic.AUTOMATIC_REFUNDS,
        "Automatic refunds",
        """
The refund agent may pay on its own when all of this holds:

• The item arrived damaged, does not work, or is not what you ordered.
• The refund is up to and including {auto_refund_limit}, in {currency}.
• You asked within {refund_window} of delivery, the last day included.
• Your photo clearly shows the problem and has not been used in another request.
• You have had no other refund in the last {history}.
• No one on our team is already looking after the request.
• Automatic refunds are switched on, and all of that day's automatic refunds, yours included, come to no more than \
{daily_budget}.

If any of these does not hold, nothing is lost: a person looks at your request instead.
""",
    ),
    DefaultText(
        Topic.DAMAGED_IN_TRANSIT,
        "Arrived damaged",
        """
Glass and ceramics sometimes lose a fight with the road. Send us a photo that shows the damage within {refund_window} \
of delivery, and we give you back what you paid for the item.

You do not have to send it back, unless you ask for more than {return_above}: then we first give you a return \
code, and refund you when the item is here.
""",
    ),
    DefaultText(
        Topic.DEFECTIVE,
        "Does not work",
        """
Everything we sell has a warranty of {warranty} from delivery. Send us a photo and tell us what the item does, or no \
longer does.

Before we decide, our team may ask you one question, to rule out a simple fix such as fresh batteries.

If the refund is more than {return_above}, the item comes back to us first and we refund you once it is here. Up to \
and including {return_above}, you can keep it.
""",
    ),
    DefaultText(
        Topic.WRONG_ITEM,
        "Wrong item",
        """
If we packed the wrong thing, that is on us. Send us a photo of what came, within {refund_window} of delivery, and we \
refund the item you ordered.

If the item you ordered cost more than {wrong_item_return_above}, the wrong one comes back to us first. Up to and \
including {wrong_item_return_above}, you need not send anything back.
""",
    ),
    DefaultText(
        Topic.CHANGED_MIND,
        "Changed your mind",
        """
That happens, and you need no reason and no photo. Ask within {refund_window} of delivery; the last day still counts.

The item has to be unused and in its original packaging. It comes back to us first, and once it is here we refund what \
you paid for it. The cost of sending it back is yours.
""",
    ),
    DefaultText(
        Topic.RETURNS,
        "Sending something back",
        """
Your return code and our address are on the page of your request. Write the code on the outside of the parcel and ship \
it within {ship_within}:

{return_address}

We look for your parcel {return_check} after we gave you the code. If it is not here by then, we remind you once and \
look again {return_check} later. If it still has not come, we close the request.

A parcel that arrives after that is not lost: a person on our team opens your request again.
""",
    ),
)


def render_section(section: PolicySection) -> str:
    """The section's text with the numbers of its own version filled in; a `{name}` the version lacks stays as typed."""
    return re.sub(r"\{(\w+)\}", lambda match: _filled(match, section.policy), section.body)


def _filled(match: re.Match[str], policy: PolicyVersion) -> str:
    write = PLACEHOLDERS.get(match[1])
    return write(policy) if write else match[0]


def days_in_words(days: int) -> str:
    return _counted(days, "day")


def minutes_in_words(minutes: int) -> str:
    """The largest unit that says it exactly: `10080` -> `7 days`, `90` -> `90 minutes`."""
    if minutes % MINUTES_PER_DAY == 0:
        return _counted(minutes // MINUTES_PER_DAY, "day")
    if minutes % MINUTES_PER_HOUR == 0:
        return _counted(minutes // MINUTES_PER_HOUR, "hour")
    return _counted(minutes, "minute")


def _warranty_in_words(days: int) -> str:
    return "one year" if days == DAYS_PER_YEAR else days_in_words(days)


def _counted(count: int, unit: str) -> str:
    return f"1 {unit}" if count == 1 else f"{count:,} {unit}s"


PLACEHOLDERS: dict[str, Callable[[PolicyVersion], str]] = {
    "currency": lambda policy: policy.currency,
    "auto_refund_limit": lambda policy: format_minor(policy.auto_refund_limit_minor, policy.currency),
    "daily_budget": lambda policy: format_minor(policy.daily_budget_minor, policy.currency),
    "return_above": lambda policy: format_minor(policy.return_above_minor, policy.currency),
    "wrong_item_return_above": lambda policy: format_minor(policy.wrong_item_return_above_minor, policy.currency),
    "refund_window": lambda policy: days_in_words(policy.refund_window_days),
    "history": lambda policy: days_in_words(policy.history_days),
    "warranty": lambda policy: _warranty_in_words(policy.warranty_days),
    "ship_within": lambda policy: days_in_words(policy.ship_within_days),
    "return_check": lambda policy: minutes_in_words(policy.return_check_minutes),
    "reply_time": lambda policy: days_in_words(policy.reply_days),
    "return_address": lambda policy: "\n".join(settings.RETURN_ADDRESS),
}
