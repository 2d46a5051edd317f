"""Messages that decline honestly and in good English may all be said."""

from __future__ import annotations

import pytest

from agent.promises import declines, own_promises
from tests.agent.mind.cases import NOTE

HONEST = [
    (
        "Thank you for your photo. We saw no crack on the dripper, so we cannot refund it.",
        NOTE,
    ),
    (
        "Your request was declined because the photo shows the dripper whole.",
        NOTE,
    ),
    (
        "We are sorry, but we are unable to offer a refund for the dripper: it looks whole in the photo.",
        NOTE,
    ),
    (
        "Unfortunately, we can't approve a refund this time, as the photo shows no crack.",
        NOTE,
    ),
    (
        "We looked at your photo with care and didn't find a crack, so your refund request has been declined.",
        NOTE,
    ),
    (
        "You asked 48 days after delivery, and the window is 30 days, so we won't be able to refund it.",
        "Asked after 48 days, the window is 30.",
    ),
    (
        "We\u2019re sorry to tell you that we will not be refunding the dripper, since the photo shows it whole.",
        NOTE,
    ),
    (
        "After a careful look, we have decided not to refund your dripper. The photo shows it whole.",
        NOTE,
    ),
    (
        "Your request does not qualify for a refund because the photo shows no crack.",
        NOTE,
    ),
    (
        "A refund is not possible here, because the dripper is whole.",
        NOTE,
    ),
    (
        "We regret that we must decline your request; the scale switched on with new batteries.",
        "It switched on with new batteries.",
    ),
    (
        "We have to say no to this refund, because we saw no crack.",
        NOTE,
    ),
    (
        "We could not approve your refund request since the picture shows no damage.",
        NOTE,
    ),
    (
        "There will be no refund for this item because we saw no crack in your photo.",
        NOTE,
    ),
    (
        "We cannot refund it.",
        NOTE,
    ),
    (
        "You may keep it, we will not refund it.",
        NOTE,
    ),
    (
        "We cannot offer a refund or a replacement for the dripper.",
        NOTE,
    ),
    (
        "We're unable to refund or exchange the dripper. Please feel free to write to us again if something changes.",
        NOTE,
    ),
    (
        "We cannot refund the dripper, but we can offer you a voucher instead.",
        "No crack. We can offer you a voucher instead.",
    ),
    (
        "We cannot refund the dripper. We are happy to give you a voucher instead.",
        "No crack. We can offer you a voucher instead.",
    ),
    (
        "Thank you for writing to us. We refunded this order in May already, so we cannot refund it again.",
        "We refunded this in May already.",
    ),
    (
        "You already received a replacement in May, so we cannot refund it as well.",
        "Customer already received a replacement in May.",
    ),
    (
        "Thank you for telling us about your Ceramic pour-over dripper; we are sorry that it was not what"
        " you hoped for. We looked at your request with care and cannot refund it. The reason: the photo "
        "shows no damage.",
        NOTE,
    ),
    (
        "Thank you for getting in touch about your mugs. We're sorry, but the mugs are as described on "
        "their page, so we cannot refund them.",
        "The mugs are as described on their page, so we cannot refund them.",
    ),
    (
        "We understand this is disappointing, but the packs were sold as a final sale at half price, as "
        "their page said, so we cannot take them back.",
        "These packs were sold as a final sale at half price, as their page said, so we cannot take them back.",
    ),
    (
        "We have declined your request: we can take things back within 30 days of delivery, and this was longer ago.",
        "We can take things back within 30 days of delivery, and this was longer ago.",
    ),
    (
        "We have declined your refund request. This is the third kettle with the same dent in a month, so"
        " please call us.",
        "This is the third kettle with the same dent in a month. Please call us.",
    ),
    (
        "Thank you for your patience. We asked for a clearer picture two weeks ago and have not heard "
        "from you, so your request is declined.",
        "We asked for a clearer picture two weeks ago and have not heard from you.",
    ),
    (
        "We can only refund items within 30 days of delivery, and yours was delivered longer ago, so your"
        " request was declined.",
        "We can take things back within 30 days of delivery, and this was longer ago.",
    ),
    (
        "You told us that a replacement was promised to you, but we could not find that and cannot refund it.",
        "Customer says a replacement was promised. We found nothing.",
    ),
    (
        "We have reviewed your request and are not able to accept it, as the grinder works as described.",
        "Works as described.",
    ),
    (
        "Your request has been processed and declined, as the grinder works as described.",
        "Works as described.",
    ),
    (
        "We know how much you were looking forward to it, and we hope you get many good cups from it, but"
        " we cannot refund it.",
        NOTE,
    ),
    (
        "After looking closely at the pictures you sent us, we've concluded that the damage isn't from "
        "delivery, so this one isn't something we can refund.",
        "The damage is not from the delivery.",
    ),
    (
        "We will not be issuing a refund for this order because no crack could be seen.",
        NOTE,
    ),
    (
        "Sadly we can't refund your dripper: the picture you sent shows it in one piece.",
        NOTE,
    ),
    (
        "The 30-day return window for your order has passed, so the request was turned down.",
        "the 30-day window has passed",
    ),
    (
        "Please send us no more parcels; we cannot refund it.",
        NOTE,
    ),
    (
        "We cannot refund the set.",
        "No.",
    ),
    (
        "Thanks for the clear pictures. They show the lid whole and the glass unbroken, so your refund "
        "request could not be approved.",
        "Lid whole, glass unbroken",
    ),
    (
        "Having looked at your photo, we did not find the crack you described and so a refund isn't possible.",
        NOTE,
    ),
    (
        "Your photo shows the dripper whole, and for that reason we are declining your request.",
        NOTE,
    ),
    (
        "We're sorry for the disappointment. As no crack can be seen, this request has been declined.",
        NOTE,
    ),
    (
        "The kettle you returned works as it should, so we will not pay you back for it. It will be kept "
        "for you until Friday.",
        "Works as it should. Kept for you until Friday",
    ),
    (
        "We cannot give your money back because the carafe was used for months.",
        "Carafe used for months",
    ),
    (
        "Thanks for letting us know. The coffee was roasted on request, which means it cannot be returned"
        " for a refund.",
        "Roasted on request",
    ),
    (
        "You bought these mugs on sale, and sale items are not eligible for a refund. We're sorry that we"
        " can't help this time.",
        "On sale, not eligible",
    ),
    (
        "We are sorry, but refunds are only available for items with a fault, and your photo shows none; "
        "your request is declined.",
        NOTE,
    ),
    (
        "We declined your request because you were already refunded for this item.",
        "Already refunded for this item.",
    ),
    (
        "As you asked after the window had closed, we are not able to refund you.",
        "asked after the window closed",
    ),
    (
        "Shipping costs were refunded on Monday, and there's nothing more we can refund.",
        "Shipping costs were refunded on Monday.",
    ),
    (
        "We cannot refund it. We would be happy to repair it for you instead.",
        "no refund. happy to repair it instead",
    ),
]


@pytest.mark.parametrize(("text", "note"), HONEST)
def test_an_honest_decline_passes(text: str, note: str) -> None:
    assert declines(text)
    assert own_promises(text, note) == []
