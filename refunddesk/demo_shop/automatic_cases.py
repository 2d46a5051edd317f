"""The two of the nine requests that were refunded without a person, the oldest ones."""

from __future__ import annotations

from refunddesk.demo_shop.case import Advice, Answer, Case, Finding, Look
from refunddesk.demo_shop.people import DANIEL, MAYA

HANNAHS_TAMPER = Case(
    order="PH-18977",
    sku="TMP-58",
    reason="damaged",
    asked=135,
    clock="10:12:38",
    details="There is a dent in the edge of the tamper's base. It was loose in the box when I opened it, so I guess it "
    "got knocked around on the way. It scratches my basket like this.",
    topic="damaged_in_transit",
    look=Look(
        photo="tamper-dented-base",
        description="An espresso tamper with a steel base. The lower edge of the base is pushed in at one point.",
        verdict="yes",
        explanation="The dent sits on the edge of the base, where the customer says it is.",
    ),
    automatic=True,
    advice=Advice(
        recommendation="refund",
        reasoning="A plain dent, reported within days of delivery, and nothing that speaks against the customer.",
        findings=(Finding("The photo shows a dent in the edge of the base.", "inspect_photo"),),
        against=Finding("The photo shows the dent, not when it happened: tampers get dropped, too.", "inspect_photo"),
        would_change="A packing photo with the tamper wrapped and held in place.",
    ),
    answer=Answer(by=MAYA, after_minutes=49, choice="approve"),
)

TOMS_DRIPPER = Case(
    order="PH-19512",
    sku="DRP-02",
    reason="damaged",
    asked=76,
    clock="18:47:05",
    details="Dripper came cracked. A piece of the rim is missing as well, found it in the paper it was wrapped in.",
    topic="damaged_in_transit",
    look=Look(
        photo="dripper-cracked-rim",
        description="A ceramic pour-over dripper. A crack runs down from the rim and a piece of the rim is gone.",
        verdict="yes",
        explanation="Both the crack and the missing piece can be seen clearly.",
    ),
    automatic=True,
    advice=Advice(
        recommendation="refund",
        reasoning="The dripper is broken beyond use and was reported within days of delivery.",
        findings=(Finding("The photo shows a crack and a piece missing from the rim.", "inspect_photo"),),
        against=Finding(
            "Ceramic breaks in a kitchen as easily as on the road, and the photo cannot show which it was.",
            "inspect_photo",
        ),
        would_change="A parcel and wrapping without any mark of a blow.",
    ),
    answer=Answer(by=DANIEL, after_minutes=71, choice="approve"),
)
