"""The nine requests that were resolved before the first day of the demo, oldest first."""

from __future__ import annotations

from refunddesk.demo_shop.automatic_cases import HANNAHS_TAMPER, TOMS_DRIPPER
from refunddesk.demo_shop.case import Advice, Answer, Arrival, Case, Finding, Look, Parcel
from refunddesk.demo_shop.people import DANIEL, MAYA

SAMS_GRINDER = Case(
    order="PH-20120",
    sku="GRD-C40",
    reason="defective",
    asked=40,
    clock="08:26:51",
    details="Worked for five days. Now when I press start the motor hums but the burrs do not turn. I emptied it, took "
    "the top burr out, cleaned everything, same thing. No stone in there that I can see.",
    topic="defective",
    look=Look(
        photo="grinder-burrs-stuck",
        description="The open top of a burr grinder that is switched on. Beans lie on the burrs, which stand still.",
        verdict="yes",
        explanation="The power light is on while the burrs do not move, as the customer describes.",
    ),
    advice=Advice(
        recommendation="refund_after_return",
        reasoning="The fault showed within a week and the customer has already tried what we would suggest. At $249.00 "
        "the policy wants the grinder back before the money goes out, and the workshop will want to see the motor.",
        findings=(
            Finding("The photo shows the grinder switched on with its burrs standing still.", "inspect_photo"),
            Finding("Delivered 6 days before the request, well inside the warranty.", "get_order"),
            Finding("No refunds in the last 12 months.", "get_refund_history"),
            Finding("Above $150.00 a defective item comes back first.", "read_policy"),
        ),
        against=Finding("A still picture cannot prove that the burrs are stuck; the workshop can.", "inspect_photo"),
        would_change="The workshop finding that the burrs turn.",
    ),
    answer=Answer(
        by=MAYA,
        after_minutes=302,
        choice="approve",
        note="Please send it to the workshop bench when it is here, third C40 with this motor this year.",
        require_return=True,
    ),
    parcel=Parcel(code="RMA-K7WQ4D", arrival=Arrival(after_days=5, clock="11:40:21", recorded_by=DANIEL)),
)

TOMS_TAMPER = Case(
    order="PH-19733",
    sku="TMP-58",
    reason="wrong_item",
    asked=38,
    clock="12:03:17",
    details="I ordered a tamper and got a milk pitcher. Nice pitcher but I already have two.",
    topic="wrong_item",
    look=Look(
        photo="tamper-wrong-item-pitcher",
        description="A steel milk pitcher before an opened box. The packing slip beside it names an espresso tamper.",
        verdict="yes",
        explanation="What came is a milk pitcher, not the tamper that was ordered.",
    ),
    advice=Advice(
        recommendation="refund",
        reasoning="The picture shows a milk pitcher and our packing slip for a tamper. The tamper cost less than "
        "$50.00, so the pitcher need not come back. Only the refund he had before asks for a person.",
        findings=(
            Finding("The photo shows a milk pitcher, and a packing slip for a tamper.", "inspect_photo"),
            Finding("The order holds one tamper and nothing else.", "get_order"),
            Finding("Up to $50.00 a wrong item may stay with the customer.", "read_policy"),
        ),
        against=Finding(
            "It would be his second refund in six weeks, though for a different kind of problem.", "get_refund_history"
        ),
        would_change="A packing record that shows the tamper went out.",
    ),
    answer=Answer(
        by=DANIEL,
        after_minutes=124,
        choice="approve",
        note="Warehouse confirms the mix-up, pitcher and tamper were swapped between two orders.",
    ),
)

SAMS_SCALE = Case(
    order="PH-20233",
    sku="SCL-01",
    reason="changed_mind",
    asked=34,
    clock="09:55:42",
    details="Turns out the scale does not fit under my machine with a cup on it. Still in the box, never switched on.",
    topic="changed_mind",
    advice=Advice(
        recommendation="refund_after_return",
        reasoning="He asked three days after delivery and says the scale is unused. That is what the change-of-mind "
        "rule is for: it comes back first, then he gets what he paid.",
        findings=(
            Finding("Delivered 3 days before the request, inside the 30-day window.", "get_order"),
            Finding("A change of mind is refunded once the unused item is back.", "read_policy"),
        ),
        against=Finding("Whether it really is unused can only be seen when it arrives."),
        would_change="Signs of use when the scale is here.",
    ),
    answer=Answer(by=MAYA, after_minutes=177, choice="approve", require_return=True),
    parcel=Parcel(code="RMA-9HXN3P"),
)

GRACES_KETTLE = Case(
    order="PH-20105",
    sku="KTL-09",
    reason="damaged",
    asked=33,
    clock="14:31:26",
    details="There is a big dent in the lid of my new kettle, right next to the knob, and I can hardly get the lid off "
    "now. The outer box looked okay.",
    topic="damaged_in_transit",
    look=Look(
        photo="kettle-dented-lid",
        description="A gooseneck kettle with its lid on. The lid has a deep dent beside the knob.",
        verdict="yes",
        explanation="The dent is where the customer says it is.",
    ),
    advice=Advice(
        recommendation="refund",
        reasoning="The damage is plain and was reported two days after delivery. The kettle cost less than $150.00, so "
        "it need not come back. Only the amount asks for a person.",
        findings=(
            Finding("The photo shows a deep dent in the lid, beside the knob.", "inspect_photo"),
            Finding("Delivered 2 days before the request, inside the 30-day window.", "get_order"),
            Finding("No refunds in the last 12 months.", "get_refund_history"),
        ),
        against=Finding("A new lid might solve it for less, if we have one to send."),
        would_change="A spare lid in stock that could go out this week.",
    ),
    answer=Answer(by=MAYA, after_minutes=118, choice="approve", note="No spare lids until next month. Refund it."),
)

OMARS_MUGS = Case(
    order="PH-20198",
    sku="MUG-2",
    units=2,
    reason="damaged",
    asked=26,
    clock="10:44:09",
    details="One of the glasses has a crack in it. I bought two sets as a present so now I can't really give them "
    "away. I'd like my money back for both.",
    topic="damaged_in_transit",
    look=Look(
        photo="mugs-one-cracked-of-four",
        description="Four double-wall glass mugs on a tray. One has a crack in its wall; the others look whole.",
        verdict="unclear",
        explanation="One of four mugs is cracked. The picture does not show damage to the second set.",
    ),
    advice=Advice(
        recommendation="ask_customer",
        reasoning="One cracked mug is certain, a refund for both sets is not: three of the four look fine. A closer "
        "picture of the other set, or a word on whether one new set would do, settles it.",
        findings=(
            Finding("The photo shows four mugs, one of them cracked.", "inspect_photo"),
            Finding("He asks for both sets, $48.00.", "get_order"),
            Finding("Delivered 2 days before the request, inside the 30-day window.", "get_order"),
        ),
        concerns=(Finding("Damage to the second set cannot be seen.", "inspect_photo"),),
        against=Finding("One cracked mug is certain, so a new set could go out now instead of another question."),
        would_change="His word that one new set would do.",
        draft_question="Thank you for the photo, and sorry about the cracked mug. Are the mugs of the other set "
        "damaged as well? If so, could you send us a closer picture of them?",
    ),
    answer=Answer(
        by=MAYA,
        after_minutes=63,
        choice="decline",
        note="Spoke to him on the phone: he would rather have a new set in time for the birthday. Replacement set "
        "sent today, he keeps the good ones.",
        message="We are sorry about the cracked mug. As agreed we have sent you a new set today, so we are not "
        "refunding the two you bought. Please keep the mugs that are fine.",
    ),
)

GRACES_CARAFE = Case(
    order="PH-20261",
    sku="CAR-600",
    reason="damaged",
    asked=22,
    clock="07:38:33",
    details="Hi, me again, sorry! This time the carafe: there is a chip out of the spout and I do not trust glass like "
    "that near hot water. The filters are fine.",
    topic="damaged_in_transit",
    look=Look(
        photo="carafe-chipped-spout",
        description="A glass coffee carafe. A small piece has broken out of the lip of the spout.",
        verdict="yes",
        explanation="The chip in the spout is easy to see.",
    ),
    advice=Advice(
        recommendation="refund",
        reasoning="Clear damage, reported the day after delivery, for a small amount. Two parcels in a row went wrong "
        "for her, which may say more about the packing than about the customer.",
        findings=(
            Finding("The photo shows a chip in the lip of the spout.", "inspect_photo"),
            Finding("Delivered 1 day before the request, inside the 30-day window.", "get_order"),
            Finding("One earlier refund: a dented kettle, 11 days ago.", "get_refund_history"),
        ),
        against=Finding(
            "It would be her second refund in 11 days, and nobody here has seen either item.", "get_refund_history"
        ),
        would_change="A picture of the carafe with the spout whole, taken after it was unpacked.",
    ),
    answer=Answer(by=DANIEL, after_minutes=58, choice="approve"),
)

OMARS_HAND_GRINDER = Case(
    order="PH-19811",
    sku="HGR-01",
    reason="changed_mind",
    asked=20,
    clock="11:09:58",
    details="I got an electric grinder for my birthday and don't need this one any more. It's like new. Can I send it "
    "back?",
    topic="changed_mind",
    advice=Advice(
        recommendation="decline",
        reasoning="A change of mind has 30 days from delivery, and he asked on day 42. Nothing points to a fault with "
        "the grinder.",
        findings=(
            Finding("Delivered 42 days before the request, outside the 30-day window.", "get_order"),
            Finding("No fault is reported; he no longer needs it.", ""),
            Finding("A change of mind has to reach us within 30 days of delivery.", "read_policy"),
        ),
        against=Finding(
            "He missed the window by 12 days and says it is like new; goodwill is ours to give.", "get_order"
        ),
        would_change="A fault with the grinder, which the warranty would cover.",
    ),
    answer=Answer(
        by=DANIEL,
        after_minutes=184,
        choice="decline",
        note="42 days after delivery, nothing wrong with it.",
        message="Thank you for asking us first. We can take an item back after a change of mind within 30 days of "
        "delivery, and your hand grinder arrived 42 days before you wrote. If it ever gives you trouble, our warranty "
        "still covers it.",
    ),
)

CASES = (
    HANNAHS_TAMPER,
    TOMS_DRIPPER,
    SAMS_GRINDER,
    TOMS_TAMPER,
    SAMS_SCALE,
    GRACES_KETTLE,
    OMARS_MUGS,
    GRACES_CARAFE,
    OMARS_HAND_GRINDER,
)
