"""What a link keeps of its fact, as JSON: enough to decide it again and to see each row that was changed since."""

from __future__ import annotations

import hashlib
from typing import Any

from django.db.models import Q

from agent.canonical import digest_of, iso
from agent.models import Approval, Decision
from agent.outcomes import PhotoEvidence
from agent.rule_facts import facts_as_json
from intake.models import Photo, PolicyVersion, Receipt, RefundRequest
from intake.names import name_of
from intake.rules import Facts, Verdict
from payments.models import Charge, OrderLine, Refund, RefundOutcome

MOST_PHOTOS = 200


def decision_facts(decision: Decision) -> dict[str, Any]:
    """`decision` with its approval, request and decider at hand. The card is read anew: it is closed by now, and a
    concern may have come to it after it was read to be decided."""
    card, by = Approval.objects.select_related("request__policy").get(pk=decision.approval_id), decision.decided_by
    return {
        **case_facts(card.request),
        "decision": decision_row(decision),
        "card": card_row(card),
        "by": {"id": by.pk, "username": by.get_username(), "name": name_of(by)},
    }


def case_facts(request: RefundRequest) -> dict[str, Any]:
    """What was asked, under which policy, with which pictures; `request` with its policy."""
    return {
        "request": request_facts(request),
        "policy": policy_row(request.policy),
        "photos": photo_facts(request.pk),
    }


def card_row(card: Approval) -> dict[str, Any]:
    """A closed card, which never changes any more."""
    said = {
        "amount_minor": card.amount_minor,
        "require_return": card.require_return,
        "findings": card.findings,
        "concerns": card.concerns,
        "reasoning": card.reasoning,
        "counter_case": card.counter_case,
        "would_change": card.would_change,
        "draft_question": card.draft_question,
    }
    return {
        "id": str(card.pk),
        "recommendation": card.recommendation,
        "failed_rules": card.failed_rules,
        "said_sha256": digest_of(said),
    }


def automatic_reserve_facts(
    refund: Refund, request: RefundRequest, facts: Facts, verdicts: tuple[Verdict, ...], evidence: PhotoEvidence
) -> dict[str, Any]:
    """`refund` with its charge as it was before, `request` with its policy."""
    seen = {
        "verdict": evidence.verdict,
        "addresses_reviewer": evidence.addresses_reviewer,
        "explanation": evidence.explanation,
    }
    return {
        **_reserve_facts(refund, request),
        "rules": {"facts": facts_as_json(facts), "verdicts": [verdict.as_json() for verdict in verdicts]},
        "seen": seen,
    }


def decided_reserve_facts(
    refund: Refund, request: RefundRequest, decision: Decision | None, receipt: Receipt | None
) -> dict[str, Any]:
    """`decision`: the one that is carried out, or that opened the return which `receipt` ends."""
    return {
        **_reserve_facts(refund, request),
        "decision": None if decision is None else str(decision.pk),
        "receipt": None if receipt is None else receipt_row(receipt),
    }


def outcome_facts(outcome: RefundOutcome) -> dict[str, Any]:
    refund = outcome.refund
    return {
        "outcome": outcome_row(outcome),
        "refund": {
            "id": str(refund.pk),
            "reference": refund.reference,
            "provider_reference": refund.provider_reference,
            "amount_minor": refund.amount_minor,
            "currency": refund.currency,
        },
    }


def _reserve_facts(refund: Refund, request: RefundRequest) -> dict[str, Any]:
    return {
        **case_facts(request),
        "line": line_row(request.line),
        "refund": refund_row(refund),
        "charge": {**charge_row(refund.charge), "reserved_before_minor": refund.charge.reserved_minor},
    }


def request_facts(request: RefundRequest) -> dict[str, Any]:
    return {
        "customer": request.customer_id,
        "line": request.line_id,
        "policy": request.policy_id,
        "units": request.units,
        "amount_minor": request.amount_minor,
        "currency": request.currency,
        "reason": request.reason,
        "details_sha256": text_digest(request.details),
        "asked_at": iso(request.created_at),
    }


def line_row(line: OrderLine) -> dict[str, Any]:
    """What the price of a request is computed from."""
    return {"paid_minor": line.paid_minor, "quantity": line.quantity}


def decision_row(decision: Decision) -> dict[str, Any]:
    return {
        "id": str(decision.pk),
        "approval": str(decision.approval_id),
        "choice": decision.choice,
        "amount_minor": decision.amount_minor,
        "shipping_minor": decision.shipping_minor,
        **_units_if_fewer(decision.units),
        "require_return": decision.require_return,
        "note_sha256": text_digest(decision.note),
        "decided_by": decision.decided_by_id,
        "source": decision.source,
        "decided_at": iso(decision.created_at),
    }


def refund_row(refund: Refund) -> dict[str, Any]:
    """What never changes of a refund."""
    return {
        "id": str(refund.pk),
        "request": str(refund.request_uuid),
        "run": str(refund.run_uuid),
        "line": refund.line_id,
        "attempt": refund.attempt,
        "key": refund.key,
        "reference": refund.reference,
        "amount_minor": refund.amount_minor,
        "shipping_minor": refund.shipping_minor,
        "currency": refund.currency,
        "units": refund.units,
        "automatic": refund.automatic,
        "card": f"{refund.card_brand} {refund.card_last4}",
        "reserved_at": iso(refund.reserved_at),
    }


def charge_row(charge: Charge) -> dict[str, Any]:
    return {
        "id": str(charge.pk),
        "provider": charge.provider,
        "reference": charge.reference,
        "captured_minor": charge.captured_minor,
        "currency": charge.currency,
        "card": f"{charge.card_brand} {charge.card_last4}",
    }


def outcome_row(outcome: RefundOutcome) -> dict[str, Any]:
    return {
        "id": str(outcome.pk),
        "status": outcome.status,
        "reason": outcome.reason,
        "source": outcome.source,
        "at": iso(outcome.created_at),
    }


def receipt_row(receipt: Receipt) -> dict[str, Any]:
    """`receipt` with its parcel; `agreed_minor` and `shipping_minor` as the return was opened with them."""
    return {
        "id": str(receipt.pk),
        "units": receipt.units,
        "recorded_by": receipt.recorded_by_id,
        "at": iso(receipt.created_at),
        "code": receipt.parcel.code,
        "agreed_minor": receipt.parcel.amount_minor,
        "shipping_minor": receipt.parcel.shipping_minor,
        **_units_if_fewer(receipt.parcel.units),
    }


def _units_if_fewer(units: int | None) -> dict[str, int]:
    """Nothing where all units were meant, so that links from before units could be chosen still fit."""
    return {} if units is None else {"agreed_units": units}


def policy_row(policy: PolicyVersion) -> dict[str, Any]:
    """A version's numbers and, in one digest, its texts: none of it ever changes."""
    texts = [[text.topic, text.position, text.title, text.body] for text in policy.sections.all()]
    return {
        "number": policy.number,
        "currency": policy.currency,
        "auto_refund_limit_minor": policy.auto_refund_limit_minor,
        "refund_window_days": policy.refund_window_days,
        "history_days": policy.history_days,
        "daily_budget_minor": policy.daily_budget_minor,
        "return_above_minor": policy.return_above_minor,
        "wrong_item_return_above_minor": policy.wrong_item_return_above_minor,
        "warranty_days": policy.warranty_days,
        "ship_within_days": policy.ship_within_days,
        "return_check_minutes": policy.return_check_minutes,
        "reply_days": policy.reply_days,
        "wording_sha256": digest_of(sorted(texts)),
    }


def photo_facts(request_id: int) -> list[dict[str, str]]:
    """The pictures of the request and of its answers, with the digests of what is stored and of what is known of it;
    looks that were not read yet are not sealed, so that they may be read later."""
    own = Q(request_id=request_id) | Q(reply__question__request_id=request_id)
    return [photo_row(photo) for photo in Photo.objects.filter(own).order_by("created_at", "id")[:MOST_PHOTOS]]


def photo_row(photo: Photo) -> dict[str, str]:
    return {
        "id": str(photo.pk),
        "sha256": photo.digest,
        **({"looks_sha256": digest_of(photo.looks)} if photo.looks else {}),
        "camera_sha256": digest_of(photo.camera),
        "sent_with": "request" if photo.reply_id is None else str(photo.reply_id),
    }


def text_digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
