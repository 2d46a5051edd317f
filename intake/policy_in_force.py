"""The policy version that holds now. Settings and the default texts only ever fill version 1."""

from __future__ import annotations

from typing import Any

from django.apps import apps as installed_apps
from django.apps.registry import Apps
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, transaction

from intake.models import PolicySection, PolicyVersion
from intake.policy_texts import DEFAULT_TEXTS

FIRST_VERSION = 1


def policy_in_force() -> PolicyVersion:
    """The version with the highest number; version 1 is created when there is none."""
    return PolicyVersion.objects.order_by("-number").first() or _first_version(PolicyVersion, PolicySection)


def fill_policy(*, apps: Apps = installed_apps, using: str = DEFAULT_DB_ALIAS, **kwargs: Any) -> None:
    """Receives `post_migrate` of intake, so that a migrated database holds a policy; `apps` as migrated so far."""
    try:
        version_model = apps.get_model("intake", "PolicyVersion")
        section_model = apps.get_model("intake", "PolicySection")
    except LookupError:
        return
    if not version_model._default_manager.using(using).exists():
        _first_version(version_model, section_model, using)


def _first_version(
    version_model: type[PolicyVersion], section_model: type[PolicySection], using: str = DEFAULT_DB_ALIAS
) -> PolicyVersion:
    """Of two callers at the same moment one creates it with its texts, by the unique number, and both get it."""
    numbers = {
        "currency": settings.SHOP_CURRENCY,
        "auto_refund_limit_minor": settings.AUTO_REFUND_LIMIT_CENTS,
        "refund_window_days": settings.REFUND_WINDOW_DAYS,
        "return_check_minutes": settings.RETURN_CHECK_DELAY_MINUTES,
    }
    with transaction.atomic(using=using):
        version, created = version_model._default_manager.using(using).get_or_create(
            number=FIRST_VERSION, defaults=numbers
        )
        if created:
            section_model._default_manager.using(using).bulk_create(
                section_model(
                    policy=version, topic=text.topic, position=position, title=text.title, body=text.body.strip()
                )
                for position, text in enumerate(DEFAULT_TEXTS)
            )
    return version
