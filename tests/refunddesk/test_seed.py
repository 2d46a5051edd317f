from __future__ import annotations

from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from django.apps import apps
from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.core import serializers
from django.core.management import CommandError, call_command
from django.db.models import F, Max, Sum
from django.utils import timezone
from pytest_django.fixtures import Settings

from agent.chain import NOTHING_BEFORE, link_hash
from agent.models import Approval, BudgetDay, ChainRecord, Decision, Run
from agent.seal_steps import step_digest
from agent.verify.shop import verify_shop
from intake.models import Photo, PolicySection, PolicyVersion, RefundRequest, Return, Step
from intake.photos import read_photo
from intake.picture import clean
from intake.rules import calendar_days
from payments.models import Charge, Order, OrderLine, Refund, RefundOutcome
from refunddesk.demo_shop import seed_shop
from refunddesk.demo_shop.calendar import Calendar
from refunddesk.demo_shop.cases import CASES
from refunddesk.demo_shop.emptying import SHOP_APPS
from refunddesk.demo_shop.orders import ORDERS
from refunddesk.demo_shop.people import EVERYONE, STAFF
from refunddesk.demo_shop.pictures import photo_file
from refunddesk.demo_shop.seed_shop import Added, seed_demo_shop

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("own_photo_folder")]

LOS_ANGELES = ZoneInfo("America/Los_Angeles")
# In the order of their numbers: order, status, days since it was asked for, who decided it (None: nobody).
RESOLVED = [
    ("PH-18977", "refunded", 135, None),
    ("PH-19512", "refunded", 76, None),
    ("PH-20120", "refunded", 40, "Maya"),
    ("PH-19733", "refunded", 38, "Daniel"),
    ("PH-20233", "closed", 34, "Maya"),
    ("PH-20105", "refunded", 33, "Maya"),
    ("PH-20198", "declined", 26, "Maya"),
    ("PH-20261", "refunded", 22, "Daniel"),
    ("PH-19811", "declined", 20, "Daniel"),
]


def every_row() -> str:
    models = [model for label in (*SHOP_APPS, "auth") for model in apps.get_app_config(label).get_models()]
    return "".join(serializers.serialize("json", model._default_manager.order_by("pk")) for model in models)


def days_ago(moment: datetime | None) -> int:
    assert moment is not None
    return calendar_days(moment, timezone.now(), "America/Los_Angeles")


def test_seeding_twice_leaves_the_same_rows_and_files(own_photo_folder: Path) -> None:
    assert seed_demo_shop() == Added(orders=21, requests=9)
    rows, files = every_row(), sorted(own_photo_folder.iterdir())
    assert seed_demo_shop() == Added(orders=0, requests=0)
    assert every_row() == rows
    assert sorted(own_photo_folder.iterdir()) == files


def test_everyone_can_sign_in_and_only_staff_are_staff(settings: Settings) -> None:
    seed_demo_shop()
    for person in EVERYONE:
        assert authenticate(username=person.email, password=settings.DEMO_PASSWORD) is not None
    staff = User.objects.filter(is_staff=True).values_list("email", "groups__name").order_by("email")
    assert list(staff) == [("daniel.reyes@example.com", "support"), ("maya.okafor@example.com", "lead")]
    assert User.objects.count() == len(EVERYONE)


def test_every_order_has_one_charge_that_holds_its_goods_and_shipping() -> None:
    seed_demo_shop()
    for order in Order.objects.prefetch_related("lines", "charges"):
        (charge,) = order.charges.all()
        goods = sum(line.paid_minor for line in order.lines.all())
        assert charge.captured_minor == goods + order.shipping_minor


def test_there_is_an_order_on_its_way_and_one_just_placed() -> None:
    seed_demo_shop()
    assert not OrderLine.objects.filter(order__number__in=["PH-20441", "PH-20447"], delivered_at__isnull=False).exists()
    on_its_way, just_placed = Order.objects.get(number="PH-20441"), Order.objects.get(number="PH-20447")
    assert on_its_way.shipped_at is not None
    assert just_placed.shipped_at is None
    assert just_placed.placed_at <= timezone.now()


@pytest.mark.parametrize(
    "hour", ["2026-03-08T00:00:05", "2026-03-09T02:30:00", "2026-06-30T12:00:00", "2026-11-01T23:59:55"]
)
def test_days_are_right_at_any_hour_of_the_shops_day(hour: str, monkeypatch: pytest.MonkeyPatch) -> None:
    now = datetime.fromisoformat(hour).replace(tzinfo=LOS_ANGELES)
    monkeypatch.setattr(seed_shop, "shop_calendar", lambda: Calendar(now, LOS_ANGELES))
    seed_demo_shop()
    for order in ORDERS:
        row = Order.objects.get(number=order.number)
        assert calendar_days(row.placed_at, now, "America/Los_Angeles") in {
            order.placed,
            order.placed + (not order.placed),
        }
        for line in row.lines.all():
            delivered = line.delivered_at and calendar_days(line.delivered_at, now, "America/Los_Angeles")
            assert delivered == order.delivered
    for case in CASES:
        request = RefundRequest.objects.get(line__order__number=case.order)
        assert calendar_days(request.created_at, now, "America/Los_Angeles") == case.asked


def test_the_nine_resolved_requests_ended_as_told() -> None:
    seed_demo_shop()
    seen = []
    for request in RefundRequest.objects.order_by("pk").select_related("line__order"):
        decider = Decision.objects.filter(approval__request=request).values_list("decided_by__first_name", flat=True)
        order, asked = request.line.order.number, days_ago(request.created_at)
        seen.append((order, request.status, asked, decider.first()))
    assert seen == RESOLVED


def test_nothing_is_left_for_a_sweep_to_take_up() -> None:
    seed_demo_shop()
    assert not Run.objects.exclude(status=Run.Status.DONE).exists()
    assert not Approval.objects.filter(closed_at=None).exists()
    assert not Return.objects.filter(status=Return.Status.WAITING).exists()
    assert not Refund.objects.exclude(status=Refund.Status.SUCCEEDED).exists()
    assert not Step.objects.exclude(state=Step.State.DONE).exists()


def test_each_trigger_has_its_one_finished_run() -> None:
    seed_demo_shop()
    triggers = sorted(Run.objects.values_list("trigger", flat=True))
    assert triggers == sorted(["request"] * 9 + ["decision"] * 7 + ["check"] * 3 + ["receipt"])
    for approval in Approval.objects.all():
        assert Run.objects.filter(key=f"dec:{approval.pk}").exists()
    for parcel in Return.objects.all():
        assert Run.objects.filter(key=f"chk:{parcel.pk}:1").exists()


def test_every_timeline_runs_forward_and_ends_before_now() -> None:
    seed_demo_shop()
    for request in RefundRequest.objects.annotate(last=Max("steps__rev")):
        steps = list(request.steps.order_by("position"))
        moments = [step.created_at for step in steps]
        assert moments == sorted(moments)
        assert request.created_at == moments[0]
        assert moments[-1] <= request.status_changed_at <= timezone.now()
        assert request.rev == request.last


def test_money_given_back_stands_on_its_charge_and_on_its_day() -> None:
    seed_demo_shop()
    charges = Charge.objects.annotate(given=Sum("refunds__amount_minor")).filter(given__isnull=False)
    assert charges.count() == 6
    assert not charges.exclude(reserved_minor=F("given")).exists()
    assert Charge.objects.filter(refunds=None, reserved_minor__gt=0).count() == 0
    assert RefundOutcome.objects.filter(source="run", status="succeeded").count() == 6
    automatic = Refund.objects.filter(automatic=True).aggregate(total=Sum("amount_minor"))["total"]
    assert BudgetDay.objects.aggregate(total=Sum("spent_minor"))["total"] == automatic == 3900 + 2800


def test_each_decision_and_all_money_stand_in_the_book_of_their_request() -> None:
    seed_demo_shop()
    subjects = {link.subject for link in ChainRecord.objects.exclude(kind="timeline")}
    rows = [*Decision.objects.all(), *Refund.objects.all(), *RefundOutcome.objects.all()]
    assert subjects == {str(row.pk) for row in rows}
    for request in RefundRequest.objects.all():
        previous = NOTHING_BEFORE
        for sequence, link in enumerate(request.chain.order_by("sequence"), start=1):
            assert link.hash == link_hash(sequence, link.kind, link.subject, link.facts, previous)
            previous = link.hash
            for position, digest in link.facts["timeline"]["steps"].items():
                assert step_digest(request.steps.get(position=position)) == digest


@pytest.mark.parametrize(
    "numbers",
    [{}, {"AUTO_REFUND_LIMIT_CENTS": 2000}, {"AUTO_REFUND_LIMIT_CENTS": 90_000, "REFUND_WINDOW_DAYS": 1}],
    ids=["as shipped", "a low limit", "a high limit and a short window"],
)
def test_the_book_of_a_seeded_shop_fits_whatever_the_first_policy_says(
    numbers: dict[str, int], settings: Settings
) -> None:
    PolicySection.objects.all().delete()
    PolicyVersion.objects.all().delete()
    for name, number in numbers.items():
        setattr(settings, name, number)
    seed_demo_shop()
    verified = verify_shop(with_files=True)
    assert verified.misfits == []
    assert verified.links == ChainRecord.objects.count() > 0
    assert sorted(RefundRequest.objects.values_list("status", flat=True)) == sorted(row[1] for row in RESOLVED)


def test_stored_photos_are_the_cleaned_fixtures() -> None:
    seed_demo_shop()
    photos = Photo.objects.all()
    assert photos.count() == 7
    for photo in photos:
        picture = clean(photo_file(photo.given_name.removesuffix(".jpg")).read_bytes())
        assert (photo.digest, photo.width, photo.height) == (picture.digest, picture.width, picture.height)
        assert read_photo(photo) == picture.jpeg


def test_customers_read_no_name_of_staff_in_their_steps() -> None:
    seed_demo_shop()
    text = " ".join(f"{step.title} {step.detail}" for step in Step.objects.filter(for_customer=True))
    assert not [name for person in STAFF for name in (person.first_name, person.last_name) if name in text]


def test_every_finding_rests_on_a_step_of_its_request() -> None:
    seed_demo_shop()
    for approval in Approval.objects.select_related("request"):
        positions = set(approval.request.steps.values_list("position", flat=True))
        named = {point["step"] for point in [*approval.findings, *approval.concerns, approval.counter_case]} - {None}
        assert named <= positions


def test_every_card_says_what_speaks_against_it_and_what_would_change_it() -> None:
    seed_demo_shop()
    cards = Approval.objects.all()
    assert cards.count() == 7
    for card in cards:
        assert card.counter_case is not None
        assert card.counter_case["source"] == "model"
        assert card.counter_case["text"] not in [point["text"] for point in card.concerns]
        assert 10 < len(card.would_change) < 120
    sourced = cards.exclude(counter_case__step=None)
    assert sorted(sourced.values_list("counter_case__step", flat=True)) == [2, 3, 3, 5]


def test_a_seed_that_fails_leaves_neither_rows_nor_files(
    own_photo_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run_full(*args: object, **kwargs: object) -> None:
        (own_photo_folder / "x.jpg").write_bytes(b"x")
        raise OSError("disk full")

    monkeypatch.setattr("refunddesk.demo_shop.write_cases.answer_card", run_full)
    with pytest.raises(OSError, match="disk full"):
        seed_demo_shop()
    assert not Order.objects.exists()
    assert not User.objects.exists()
    assert [file.name for file in own_photo_folder.iterdir()] == ["x.jpg"]


def test_outside_demo_mode_no_known_passwords_are_added(settings: Settings) -> None:
    settings.DEMO = False
    with pytest.raises(CommandError, match="DEMO is off"):
        call_command("seed")
    assert not User.objects.exists()
