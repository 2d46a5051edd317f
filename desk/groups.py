"""The desk's own groups and what each may do. Filled after every migration, so that a new version can give them what it
needs; the admin changes none of them, and a shop adds groups of its own."""

from __future__ import annotations

from typing import Any

from django.apps import apps as installed_apps
from django.apps.registry import Apps
from django.contrib.auth.management import create_permissions
from django.db import DEFAULT_DB_ALIAS

SUPPORT = (
    "agent.add_decision",
    "agent.add_approval",
    "intake.add_receipt",
    "agent.view_approval",
    "agent.view_decision",
    "agent.view_run",
    "intake.view_policyversion",
    "intake.view_policysection",
    "intake.view_refundrequest",
    "intake.view_step",
    "payments.view_order",
    "payments.view_orderline",
)
LEAD = (
    *SUPPORT,
    "agent.change_switch",
    "agent.view_switchthrow",
    "agent.add_evaluation",
    "intake.add_policyversion",
    "intake.add_policysection",
    "payments.view_charge",
    "payments.view_refund",
    "payments.view_refundoutcome",
    "auth.view_user",
    "auth.view_group",
)
GROUPS = {"support": SUPPORT, "lead": LEAD}


def fill_groups(*, apps: Apps = installed_apps, using: str = DEFAULT_DB_ALIAS, **kwargs: Any) -> None:
    """Receives `post_migrate` of auth. The other apps' own receivers may come later, so permissions are made here."""
    for label in ("auth", "payments", "intake", "agent"):
        create_permissions(installed_apps.get_app_config(label), verbosity=0, using=using, apps=apps)
    try:
        group_model = apps.get_model("auth", "Group")
        permission_model = apps.get_model("auth", "Permission")
    except LookupError:
        return
    known = {
        f"{permission.content_type.app_label}.{permission.codename}": permission
        for permission in permission_model._default_manager.using(using).select_related("content_type")
    }
    for name, codes in GROUPS.items():
        group, _ = group_model._default_manager.using(using).get_or_create(name=name)
        group.permissions.set([known[code] for code in codes if code in known])
