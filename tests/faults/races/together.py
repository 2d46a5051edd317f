"""Thirty-two at the same moment: threads with connections of their own, open before the start."""

from __future__ import annotations

import threading
import uuid
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from django.db import connection
from django.utils import timezone

from agent.models import Run
from agent.tasks import work
from intake.models import RefundRequest, Step
from intake.refusals import Refusal
from payments.models import Refund

MANY = 32
START_SECONDS = 60
END_SECONDS = 100
MOST_RUNS = 20


def at_once(*acts: Callable[[], Any]) -> list[Any]:
    """What each act gave or raised."""
    barrier, answers = threading.Barrier(len(acts)), [AssertionError("it never ended")] * len(acts)

    def play(place: int, act: Callable[[], Any]) -> None:
        try:
            connection.ensure_connection()
            barrier.wait(START_SECONDS)
            answers[place] = act()
        except Exception as error:
            answers[place] = error  # type: ignore[call-overload]
        finally:
            connection.close()

    threads = [threading.Thread(target=play, args=pair) for pair in enumerate(acts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(END_SECONDS)
    return answers


def many(act: Callable[[], Any]) -> list[Any]:
    return at_once(*[act] * MANY)


def counted(answers: Iterable[Any]) -> Counter[str]:
    """Refusals by their code, everything else by its type."""
    return Counter(answer.code if isinstance(answer, Refusal) else type(answer).__name__ for answer in answers)


def work_by_many(*run_ids: uuid.UUID) -> None:
    """Every run is delivered so often that `MANY` deliveries arrive at once, or each once when there are more runs."""
    deliveries = [run_id for run_id in run_ids for _ in range(max(1, MANY // len(run_ids)))]
    answers = at_once(*[lambda run_id=run_id: work(str(run_id)) for run_id in deliveries])
    assert [answer for answer in answers if answer is not None] == []


def drain() -> None:
    """Works off what is due, one after another, until nothing is."""
    for _ in range(MOST_RUNS * max(1, RefundRequest.objects.count())):
        run = Run.objects.filter(status="queued", due_at__lte=timezone.now()).order_by("due_at", "id").first()
        if run is None:
            return
        work(str(run.pk))
    raise AssertionError("the runs never came to an end")


def told(request: RefundRequest) -> list[str]:
    """The keys of the agent's messages to the customer."""
    messages = Step.objects.filter(request=request, for_customer=True).exclude(message_key="")
    return list(messages.order_by("position").values_list("message_key", flat=True))


def paid(request: RefundRequest) -> list[str]:
    return list(Refund.objects.filter(request_uuid=request.uuid).values_list("status", flat=True))


def stands(request: RefundRequest) -> str:
    return str(RefundRequest.objects.values_list("status", flat=True).get(pk=request.pk))
