"""News from the floors below becomes work: each created row inserts its one run, in the same transaction."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db.models import Model
from django.db.models.signals import post_save
from django.dispatch import receiver
from django.utils import timezone

from agent.announce import announce_after_commit
from agent.chain import append_link
from agent.link_facts import outcome_facts
from agent.models import ChainRecord, Decision, Run
from intake.models import Question, Receipt, RefundRequest, Reply, Return
from payments.models import RefundOutcome


@receiver(post_save, sender=RefundRequest)
def on_request(instance: RefundRequest, created: bool, raw: bool, **kwargs: Any) -> None:
    if created and not raw:
        queue_run(Run.Trigger.REQUEST, f"req:{instance.pk}", instance.pk, instance)


@receiver(post_save, sender=Decision)
def on_decision(instance: Decision, created: bool, raw: bool, **kwargs: Any) -> None:
    if created and not raw:
        queue_run(Run.Trigger.DECISION, f"dec:{instance.approval_id}", instance.approval.request_id, instance)


@receiver(post_save, sender=Reply)
def on_reply(instance: Reply, created: bool, raw: bool, **kwargs: Any) -> None:
    if created and not raw:
        queue_run(Run.Trigger.REPLY, f"ans:{instance.question_id}", instance.question.request_id, instance)


@receiver(post_save, sender=Question)
def on_question(instance: Question, created: bool, raw: bool, **kwargs: Any) -> None:
    if created and not raw:
        queue_run(Run.Trigger.LATE, f"late:{instance.pk}", instance.request_id, instance, due_at=instance.reply_by)


@receiver(post_save, sender=Return)
def on_return(instance: Return, created: bool, raw: bool, **kwargs: Any) -> None:
    if created and not raw:
        queue_run(Run.Trigger.CHECK, f"chk:{instance.pk}:1", instance.request_id, instance, due_at=instance.check_at)


@receiver(post_save, sender=Receipt)
def on_receipt(instance: Receipt, created: bool, raw: bool, **kwargs: Any) -> None:
    if created and not raw:
        queue_run(Run.Trigger.RECEIPT, f"rcv:{instance.pk}", instance.parcel.request_id, instance)


@receiver(post_save, sender=RefundOutcome)
def on_outcome(instance: RefundOutcome, created: bool, raw: bool, **kwargs: Any) -> None:
    """A link of the request's chain, and a run for news that none is waiting for; a refund made elsewhere belongs to
    no request."""
    if not created or raw or instance.refund.request_uuid is None:
        return
    request = RefundRequest.objects.filter(uuid=instance.refund.request_uuid)
    request_id = request.values_list("pk", flat=True).first()
    if request_id is None:
        return
    append_link(request_id, ChainRecord.Kind.OUTCOME, instance.pk, outcome_facts(instance), at=instance.created_at)
    if instance.source != RefundOutcome.Source.RUN:
        queue_run(Run.Trigger.OUTCOME, f"out:{instance.pk}", request_id, instance)


def queue_run(
    trigger: Run.Trigger, key: str, request_id: int, source: Model, *, due_at: datetime | None = None
) -> None:
    """Inserts the run of a trigger, and rings for it after the commit when it is due now."""
    now = timezone.now()
    due = now if due_at is None else due_at
    run = Run.objects.create(
        request_id=request_id,
        trigger=trigger,
        key=key,
        source_id=str(source.pk),
        due_at=due,
        announced_at=now if due <= now else None,
    )
    if due <= now:
        announce_after_commit(run.pk)
