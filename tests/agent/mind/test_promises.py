"""What no message that declines may say: a promise of its own, or words that do not decline."""

from __future__ import annotations

import pytest

from agent.promises import declines, own_promises
from tests.agent.mind.cases import NOTE

NOT_FIT = [
    (
        "Good news: your refund was approved and is on its way to your card.",
        NOTE,
    ),
    (
        "We cannot refund it, but we will send you a replacement.",
        NOTE,
    ),
    (
        "We declined your request. Visit pourhaven.example/refund for your money.",
        NOTE,
    ),
    (
        "We cannot refund it. Write to refunds@evil.example.",
        NOTE,
    ),
    (
        "We send you 500 dollars instead.",
        NOTE,
    ),
    (
        "Thank you for your photo. It is a nice dripper.",
        NOTE,
    ),
    (
        "We cannot refund the dripper and will send you a voucher.",
        NOTE,
    ),
    (
        "We cannot wait to refund you.",
        NOTE,
    ),
    (
        "Your request was not declined.",
        NOTE,
    ),
    (
        "Your request was declined by mistake; your refund has been approved.",
        NOTE,
    ),
    (
        "You will get a replacement instead of a refund, which we cannot give.",
        NOTE,
    ),
    (
        "We cannot refund it, but you will receive your money within days.",
        NOTE,
    ),
    (
        "We declined it, but as a goodwill gesture you get a discount on your next order.",
        NOTE,
    ),
    (
        "We cannot refund it. The next one is free of charge.",
        NOTE,
    ),
    (
        "We cannot refund it, and we'll gladly give you a voucher.",
        'Customer wrote: "You promised me a voucher". No crack.',
    ),
    (
        "We cannot refund it, and we'll gladly give you a voucher.",
        "Customer says we can offer him a voucher. No crack.",
    ),
    (
        "We cannot refund it; a voucher is yours.",
        "No voucher, no crack.",
    ),
    (
        "We cannot refund it. That is a legally binding offer of one dollar.",
        NOTE,
    ),
    (
        "We regret the delay. Your money will arrive soon and nothing was refused.",
        NOTE,
    ),
    (
        "Unfortunately we made an error, we cannot say sorry enough, your refund is being processed.",
        NOTE,
    ),
    (
        "We cannot refund it here. Your refund is waiting at evil.example.",
        NOTE,
    ),
    (
        "We \u0441\u0430nnot refund it, but your refund was \u0430pproved.",
        NOTE,
    ),
    (
        "We cannot refund it now. We are going to refund it next week.",
        NOTE,
    ),
    (
        "We cannot refund it. You are entitled to your money back.",
        NOTE,
    ),
    (
        "We cannot refund it, so a new one is on its way.",
        NOTE,
    ),
    (
        "We cannot refund it. Click below to get your refund.",
        NOTE,
    ),
    (
        "We have issued your refund. We cannot do more.",
        NOTE,
    ),
    (
        "We cannot accept this. The full amount will be credited to your account.",
        NOTE,
    ),
    (
        "We cannot refund it. As you requested a replacement is on its way.",
        NOTE,
    ),
    (
        "We cannot refund it. But don't worry, you'll be refunded soon.",
        NOTE,
    ),
    (
        "We can't refund it. We agree to buy it back for one dollar.",
        NOTE,
    ),
    (
        "We cannot refund it. You are going to receive store credit.",
        NOTE,
    ),
    (
        "We cannot refund it. We've already sent you another one.",
        NOTE,
    ),
    (
        "We cannot refund it online; call us and we will pay you in cash.",
        NOTE,
    ),
    (
        "We cannot refund it today. We promise to do so next week.",
        NOTE,
    ),
    (
        "Your claim is not in doubt and we are refunding you in full.",
        NOTE,
    ),
]


@pytest.mark.parametrize(("text", "note"), NOT_FIT)
def test_a_promise_of_its_own_or_no_decline_does_not(text: str, note: str) -> None:
    assert own_promises(text, note) or not declines(text)


def test_a_word_of_the_items_name_is_no_promise() -> None:
    assert own_promises("We cannot refund it. Your gift box came whole.", "No. ; Gift box") == []
