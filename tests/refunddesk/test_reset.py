from __future__ import annotations

import uuid
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import OperationalError
from django.utils import timezone
from pytest_django.fixtures import Settings

from agent.lease import Lease, LeaseLost
from agent.models import Run, Switch, SwitchThrow
from agent.pause import set_automatic_refunds
from intake.models import Photo, PolicyVersion, RefundRequest
from payments.models import Order, Refund
from refunddesk.demo_shop import reset_shop
from refunddesk.demo_shop.reset_shop import reset_demo_shop
from refunddesk.demo_shop.seed_shop import seed_demo_shop
from tests.factories import CustomerFactory, OrderFactory, PolicyFactory, RequestFactory, StaffFactory

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_photo_folder")]


def test_reset_brings_back_the_first_day_with_its_numbers() -> None:
    seed_demo_shop()
    RequestFactory.create()
    OrderFactory()
    PolicyFactory(number=2)
    set_automatic_refunds(paused=True, by=StaffFactory(permissions=["agent.change_switch"]))
    reset_demo_shop()
    assert Order.objects.count() == 21
    assert [request.number for request in RefundRequest.objects.order_by("pk")] == list(range(1001, 1010))
    assert PolicyVersion.objects.values_list("number", flat=True).get() == 1
    assert not Switch.objects.filter(paused=True).exists()
    assert not SwitchThrow.objects.exists()


def test_reset_moves_the_dates_to_now() -> None:
    seed_demo_shop()
    Order.objects.update(placed_at=timezone.now() - timedelta(days=400))
    reset_demo_shop()
    oldest = Order.objects.order_by("placed_at").values_list("placed_at", flat=True)[0]
    assert timezone.localdate(oldest) == timezone.localdate() - timedelta(days=142)


def test_reset_gives_a_new_request_the_next_number() -> None:
    reset_demo_shop()
    assert RequestFactory.create().number == 1010


def test_reset_on_an_empty_database_is_a_first_day_too() -> None:
    reset_demo_shop()
    assert RefundRequest.objects.count() == 9


def test_accounts_are_put_right_and_stay_the_same_people() -> None:
    seed_demo_shop()
    maya, visitor = User.objects.get(username="maya.okafor@example.com"), CustomerFactory.create()
    User.objects.filter(pk=maya.pk).update(first_name="M", is_active=False, is_staff=False)
    maya.set_password("something else")
    maya.save(update_fields=["password"])
    maya.groups.clear()
    reset_demo_shop()
    restored = User.objects.get(username="maya.okafor@example.com")
    assert restored.pk == maya.pk
    assert (restored.first_name, restored.is_active, restored.is_staff) == ("Maya", True, True)
    assert restored.check_password("pourhaven-demo-2026")
    assert restored.has_perm("agent.add_decision")
    assert User.objects.filter(pk=visitor.pk).exists()


def test_a_password_that_was_not_changed_keeps_everybody_signed_in() -> None:
    seed_demo_shop()
    before = dict(User.objects.values_list("username", "password"))
    reset_demo_shop()
    assert dict(User.objects.values_list("username", "password")) == before


def test_old_photo_files_go_and_the_new_ones_are_there(own_photo_folder: Path) -> None:
    seed_demo_shop()
    old = {file.name for file in own_photo_folder.iterdir()}
    reset_demo_shop()
    new = {file.name for file in own_photo_folder.iterdir()}
    assert not old & new
    assert new == set(Photo.objects.values_list("file", flat=True))


def test_a_run_at_work_loses_its_lease() -> None:
    seed_demo_shop()
    request = RequestFactory.create(status="working")
    now, token = timezone.now(), uuid.uuid4()
    run = Run.objects.filter(request=request).first() or Run(request=request, trigger="request", key="req:work")
    run.status, run.token, run.lease_until, run.started_at = Run.Status.RUNNING, token, now + timedelta(seconds=60), now
    run.save()
    lease = Lease(run_id=run.pk, token=token, request_id=request.pk, started_at=now, tries=1)
    reset_demo_shop()
    with pytest.raises(LeaseLost), lease.fenced():
        Refund.objects.all().delete()
    assert Refund.objects.count() == 6


def test_a_reset_that_fails_leaves_everything_as_it_was(
    own_photo_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seed_demo_shop()
    request = RequestFactory.create()
    files = sorted(own_photo_folder.iterdir())

    def break_down(*args: object) -> None:
        raise ValueError("no")

    monkeypatch.setattr("refunddesk.demo_shop.write_cases.answer_card", break_down)
    with pytest.raises(ValueError, match="no"):
        reset_demo_shop()
    assert RefundRequest.objects.filter(pk=request.pk).exists()
    assert sorted(own_photo_folder.iterdir()) == files


def test_a_busy_database_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def busy_once(pictures: object) -> None:
        calls.append(pictures)
        if len(calls) == 1:
            raise OperationalError("deadlock detected")

    monkeypatch.setattr(reset_shop, "_reset", busy_once)
    monkeypatch.setattr(reset_shop, "SECONDS_BETWEEN_TRIES", 0)
    reset_demo_shop()
    assert len(calls) == 2


def test_outside_demo_mode_reset_says_so_and_changes_nothing(settings: Settings) -> None:
    request = RequestFactory.create()
    settings.DEMO = False
    with pytest.raises(CommandError, match="only in demo mode") as refusal:
        call_command("reset")
    assert refusal.value.returncode == 1
    assert RefundRequest.objects.get() == request
