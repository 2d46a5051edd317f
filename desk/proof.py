"""A refund's proof: what was paid, who or what decided it on which facts, and whether the book still says so."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from agent.models import ChainAnchor, ChainRecord, Decision
from agent.verify.charges import check_charges
from agent.verify.one_request import first_misfit, second_look
from agent.verify.pages import Pages, read_pages
from desk.frame import frame_of
from desk.proof_words import Rule, policy_in_words, rule_in_words, source_in_words
from intake.look_alikes import Reuse, reuses
from intake.models import Photo, Receipt, RefundRequest, Step
from intake.picture_looks import is_plain
from payments.models import Refund, RefundOutcome

NOT_OURS = "It was made elsewhere: no request, no rule and no decision of this desk stands behind it."
UNREADABLE = (AttributeError, LookupError, TypeError, ValueError)


@dataclass(frozen=True)
class Answer:
    outcome: RefundOutcome
    source: str


@dataclass(frozen=True)
class Sealed:
    """One picture with the digest the chain keeps of it; `photo` is None when it is not in the book any more.

    `reuses`: the other requests it was sent with, compared just now; those made after this refund are among them.
    """

    digest: str
    photo: Photo | None
    reuses: list[Reuse]

    @property
    def plain(self) -> bool:
        """It shows too little to be compared with others by its looks."""
        return self.photo is not None and is_plain(self.photo.looks)


@dataclass(frozen=True)
class Story:
    """What the refund's reserve link tells. `rules` were asked of an automatic refund, `decision` is a person's."""

    reserve: ChainRecord
    rules: list[Rule]
    policy_number: int
    policy: list[tuple[str, str]]
    photos: list[Sealed]
    seen: str
    decision: Decision | None
    decided_by: str
    blocked_by: list[str]
    receipt: Receipt | None


@dataclass(frozen=True)
class Proof:
    """`misfit`: the first thing that does not fit; empty when the proof fits. `anchor` holds the newest link."""

    refund: Refund
    misfit: str
    request: RefundRequest | None = None
    story: Story | None = None
    answers: list[Answer] = field(default_factory=list)
    links: list[ChainRecord] = field(default_factory=list)
    anchor: ChainAnchor | None = None


def proof(request: HttpRequest, refund_id: uuid.UUID) -> HttpResponse:
    """Readable for whoever may see the desk; a refund that belongs to no request needs sight of the ledger."""
    refund = Refund.objects.select_related("charge__order").filter(pk=refund_id).first()
    if refund is None:
        raise Http404("There is no such refund.")
    user: Any = request.user
    if refund.request_uuid is None and not user.has_perm("payments.view_refund"):
        raise PermissionDenied
    context = {"proof": load_proof(refund), "checked_at": timezone.now(), "not_ours": NOT_OURS}
    return render(request, "desk/proof.html", {**context, "frame": frame_of(request)})


def load_proof(refund: Refund) -> Proof:
    """Checks the refund's request again and reads what its chain tells, in a fixed number of queries."""
    wrong_sum = next(check_charges([refund.charge_id]), "")
    found = _pages_of(refund)
    if found is None:
        answers = [_answer(outcome) for outcome in refund.outcomes.order_by("created_at", "id")]
        lost = "It names a request that does not exist." if refund.request_uuid else ""
        return Proof(refund, lost or wrong_sum, answers=answers)
    misfit = first_misfit(found) and second_look(found.request.pk)
    return Proof(
        refund=refund,
        misfit=misfit or wrong_sum,
        request=found.request,
        story=_story(found, refund),
        answers=[_answer(outcome) for outcome in found.outcomes_of(refund)],
        links=found.links,
        anchor=_anchor_of(found.links),
    )


def _pages_of(refund: Refund) -> Pages | None:
    """None for a refund that belongs to no request, or to one that is not there."""
    if refund.request_uuid is None:
        return None
    requests = RefundRequest.objects.filter(uuid=refund.request_uuid)
    return next(iter(read_pages(list(requests.values_list("pk", flat=True)))), None)


def _answer(outcome: RefundOutcome) -> Answer:
    return Answer(outcome, source_in_words(outcome.source))


def _anchor_of(links: list[ChainRecord]) -> ChainAnchor | None:
    newest = max((link.pk for link in links), default=0)
    return ChainAnchor.objects.filter(last_record_id__gte=newest).order_by("day").first() if newest else None


def _story(pages: Pages, refund: Refund) -> Story | None:
    """None when there is no link or nothing can be made of it; then the misfit says so."""
    reserve = pages.link_of(ChainRecord.Kind.RESERVE, refund.pk)
    if reserve is None:
        return None
    try:
        return _tell(pages, reserve)
    except UNREADABLE:
        return None


def _tell(pages: Pages, reserve: ChainRecord) -> Story:
    kept = reserve.facts
    rules = kept.get("rules", {"verdicts": []})["verdicts"]
    decision = pages.decision_with(kept.get("decision"))
    taken = pages.link_of(ChainRecord.Kind.DECISION, decision.pk) if decision else None
    came = kept.get("receipt")
    by_key = {str(photo.pk): photo for photo in pages.photos}
    used = {str(key): reused for key, reused in reuses(pages.photos, besides=pages.request.pk).items()}
    return Story(
        reserve=reserve,
        rules=[rule_in_words(verdict, kept["refund"]["currency"]) for verdict in rules],
        policy_number=kept["policy"]["number"],
        policy=policy_in_words(kept["policy"]),
        photos=[
            Sealed(photo["sha256"], by_key.get(photo["id"]), used.get(photo["id"], [])) for photo in kept["photos"]
        ],
        seen=_seen(pages, reserve),
        decision=decision,
        decided_by=taken.facts["by"]["name"] if taken else "",
        blocked_by=[rule["sentence"] for rule in taken.facts["card"]["failed_rules"]] if taken else [],
        receipt=next((each for each in pages.receipts if came and str(each.pk) == came["id"]), None),
    )


def _seen(pages: Pages, reserve: ChainRecord) -> str:
    """What the last look at the pictures before the money was reserved said of them."""
    looks = [
        step.result
        for step in pages.steps
        if step.tool == "inspect_photo"
        and step.state == Step.State.DONE
        and step.result
        and step.created_at <= reserve.created_at
    ]
    return str(looks[-1]["explanation"]) if looks else ""
