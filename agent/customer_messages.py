"""Every message the agent's runs leave for a customer, in the shop's voice: no rules, no tools, no names of staff."""

from __future__ import annotations

import uuid
from datetime import datetime

from django.conf import settings
from django.contrib.auth.models import User

from intake.models import Return, Step
from intake.request_page import PERSON_IS_LOOKING
from intake.shop_clock import deadline_name
from intake.timeline import Entry
from payments.models import Refund
from payments.money import format_minor
from payments.providers.failed_refund import refused_by_bank

ON_ITS_WAY = "on_its_way"


def person_is_looking(run_uuid: uuid.UUID | None) -> Entry:
    return _message(
        run_uuid,
        PERSON_IS_LOOKING,
        "A person in our team is looking at your request",
        "What you sent is in front of them. You read the answer on this page within one business day; "
        "there is nothing you need to do.",
    )


def no_answer_yet(run_uuid: uuid.UUID) -> Entry:
    detail = (
        "We have not heard from you, so a person in our team decides with what we have. "
        "You read the answer on this page within one business day."
    )
    return _message(run_uuid, "no_answer_yet", "A person in our team is looking at your request", detail)


def refunded(run_uuid: uuid.UUID | None, refund: Refund) -> Entry:
    detail = (
        f"Your bank usually shows it within 5 to 10 business days. Reference {refund.reference}. "
        "Thank you for your patience."
    )
    return _message(run_uuid, "refunded", f"We have refunded {_amount_and_card(refund)}", detail)


def on_its_way(run_uuid: uuid.UUID, refund: Refund) -> Entry:
    works = "The bank is still working on it." if refund.provider_reference else "We wait for the bank's answer."
    detail = f"{works} We tell you here as soon as it is through."
    return _message(run_uuid, ON_ITS_WAY, f"Your refund of {_amount_and_card(refund)} is on its way", detail)


def refund_needs_you(run_uuid: uuid.UUID, refund: Refund) -> Entry:
    detail = (
        "The bank cannot give it back to your card by itself. Our payment provider has sent you an e-mail that asks "
        "where the money should go: please answer it there. The refund then goes on, and you read here when it is "
        "through."
    )
    return _message(
        run_uuid, "refund_needs_you", f"Your refund of {_amount_and_card(refund)} needs your answer", detail
    )


def refund_did_not_go_through(run_uuid: uuid.UUID, refund: Refund) -> Entry:
    """Only of what the bank itself refused it is known that the money has not reached the customer."""
    how = "We could not send it this way. A person in our team is looking at it"
    if refused_by_bank(refund):
        how = (
            "The bank did not take it, so the money has not reached you. A person in our team is looking for another "
            "way"
        )
    detail = f"{how}; you read here how it goes on, within one business day."
    return _message(
        run_uuid, "refund_did_not_go_through", f"Your refund of {_amount_and_card(refund)} did not go through", detail
    )


def question(run_uuid: uuid.UUID, text: str, reply_by: datetime, asked_by: User) -> Entry:
    title = f"We have a question for you; please answer by {deadline_name(reply_by)}"
    return _message(run_uuid, "question", title, text, actor=Step.Actor.STAFF, actor_user=asked_by)


def return_code(run_uuid: uuid.UUID, parcel: Return) -> Entry:
    amount = format_minor(parcel.amount_minor, parcel.request.currency)
    detail = (
        f"Write {parcel.code} on the parcel and send it to {_address()}, by {deadline_name(parcel.ship_by)}. "
        f"Once it is here we refund {amount}{_for_units(parcel)}."
    )
    return _message(run_uuid, "return_code", f"Please send it back with the code {parcel.code}", detail)


def return_reminder(run_uuid: uuid.UUID, parcel: Return) -> Entry:
    detail = (
        f"Your parcel has not reached us yet. Please send it with the code {parcel.code} to {_address()}. "
        f"If it is not here by {deadline_name(parcel.check_at)}, we close the request. "
        "Already sent? Just wait a little."
    )
    return _message(run_uuid, "return_reminder", "A small reminder about your return", detail)


def closed(run_uuid: uuid.UUID) -> Entry:
    detail = (
        "Your parcel has not reached us, so we have closed this request. If it is still on its way, don't worry: "
        "when it arrives, a person in our team takes it from there."
    )
    return _message(run_uuid, "closed", "We have closed your request", detail)


def declined(run_uuid: uuid.UUID, text: str) -> Entry:
    return _message(run_uuid, "declined", "We cannot refund this request", text)


def taken_back(*, was_return: bool) -> Entry:
    nothing = "nothing back for now" if was_return else "no answer for now"
    detail = (
        f"You need to send us {nothing}. A person is looking at it; "
        "you read the answer on this page within one business day."
    )
    return _message(None, "taken_back", "We are taking another look at your request", detail, actor=Step.Actor.STAFF)


def _message(
    run_uuid: uuid.UUID | None,
    key: str,
    title: str,
    detail: str,
    *,
    actor: Step.Actor = Step.Actor.AGENT,
    actor_user: User | None = None,
) -> Entry:
    return Entry(
        kind=Step.Kind.MESSAGE,
        actor=actor,
        actor_user=actor_user,
        title=title,
        detail=detail,
        for_customer=True,
        run_uuid=run_uuid,
        message_key=key,
    )


def _amount_and_card(refund: Refund) -> str:
    amount = format_minor(refund.amount_minor, refund.currency)
    return f"{amount} to your {refund.card_brand} ending {refund.card_last4}"


def _address() -> str:
    return ", ".join(settings.RETURN_ADDRESS)


def _for_units(parcel: Return) -> str:
    """Says so where fewer units were agreed than were asked for."""
    if parcel.units is None:
        return ""
    return f" for {parcel.units} of the {parcel.request.units} units; please send back {parcel.units}"
