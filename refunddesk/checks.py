"""System checks for what Django cannot know: a timetable of real tasks, time limits that fit, a place for photos."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register

from agent.llm.provider import Provider
from agent.llm.providers_now import providers_now
from refunddesk.celery import app
from refunddesk.model_settings import prefix_of

LOOPBACK = {"localhost", "127.0.0.1", "[::1]", "::1", ".localhost", "testserver"}
# Redis hands a message out again after this long; a run must be over by then.
VISIBILITY_SECONDS = 3600


@register()
def timetable_names_real_tasks(**_: Any) -> Iterable[CheckMessage]:
    for name, entry in settings.CELERY_BEAT_SCHEDULE.items():
        module, _, _ = entry["task"].rpartition(".")
        with contextlib.suppress(ModuleNotFoundError):
            import_module(module)
        if entry["task"] not in app.tasks:
            yield Warning(f"The timetable's entry {name!r} names no task: {entry['task']}.", id="refunddesk.W001")


@register()
def time_limits_fit_into_each_other(**_: Any) -> Iterable[CheckMessage]:
    """A call must end while its run still holds the lease, a review before its run, a run before Redis forgets it."""
    limits = [
        ("CALL_MAX_SECONDS", settings.CALL_MAX_SECONDS, "RUN_LEASE_SECONDS", settings.RUN_LEASE_SECONDS),
        ("RUN_LEASE_SECONDS", settings.RUN_LEASE_SECONDS, "RUN_MAX_SECONDS", settings.RUN_MAX_SECONDS),
        ("REVIEW_MAX_SECONDS", settings.REVIEW_MAX_SECONDS, "RUN_MAX_SECONDS", settings.RUN_MAX_SECONDS),
        ("RUN_MAX_SECONDS", settings.RUN_MAX_SECONDS, "Redis' visibility time-out", VISIBILITY_SECONDS),
    ]
    for smaller, value, larger, limit in limits:
        if value >= limit:
            yield Error(f"{smaller} ({value}) must be below {larger} ({limit}).", id="refunddesk.E002")


@register()
def photos_can_be_kept(**_: Any) -> Iterable[CheckMessage]:
    if settings.PHOTO_BUCKET:
        return
    folder = Path(settings.PHOTO_DIR)
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    if not (existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)):
        yield Error(
            f"Photos cannot be kept in {folder}: {existing} is not writable.",
            hint="Set DATA_DIR to a folder this user may write, or PHOTO_BUCKET to a bucket.",
            id="refunddesk.E003",
        )


@register()
def demo_stays_at_home(**_: Any) -> Iterable[CheckMessage]:
    public = sorted(set(settings.ALLOWED_HOSTS) - LOOPBACK)
    if settings.DEMO and public:
        yield Warning(
            f"DEMO is on, with known passwords, and ALLOWED_HOSTS lets others in: {', '.join(public)}.",
            hint="Set DEMO=off and a SECRET_KEY of your own.",
            id="refunddesk.W004",
        )


@register()
def production_has_a_host(**_: Any) -> Iterable[CheckMessage]:
    if not settings.DEMO and not settings.ALLOWED_HOSTS:
        yield Error("DEMO is off and ALLOWED_HOSTS is empty: every page would be refused.", id="refunddesk.E005")


@register()
def parcels_have_an_address(**_: Any) -> Iterable[CheckMessage]:
    if not settings.RETURN_ADDRESS:
        yield Error(
            "RETURN_ADDRESS is not set: customers would not know where to send goods back to.",
            hint="Set it, its lines parted by |, such as: Shop | Street 1 | Town.",
            id="refunddesk.E009",
        )


@register()
def the_demo_s_model_moves_no_real_money(**_: Any) -> Iterable[CheckMessage]:
    if not settings.DEMO and settings.SCRIPTED_MODEL != "never":
        yield Warning(
            "SCRIPTED_MODEL is `last` outside the demo: a program that knows the demo's photos may refund real money.",
            hint="Set SCRIPTED_MODEL=never, so that a person gets the case when no model answers.",
            id="refunddesk.W010",
        )


@register()
def keys_travel_encrypted(**_: Any) -> Iterable[CheckMessage]:
    for provider in providers_now():
        host = provider.base_url.removeprefix("http://")
        far = host != provider.base_url and not host.startswith(("localhost", "127.0.0.1"))
        if provider.api_key and far:
            yield Warning(
                f"{_address_setting(provider)} is plain http: the key and what customers wrote can be read on the way.",
                id="refunddesk.W006",
            )


@register()
def time_outs_of_models_fit(**_: Any) -> Iterable[CheckMessage]:
    for provider in providers_now():
        if provider.timeout_seconds is not None and provider.timeout_seconds > settings.CALL_MAX_SECONDS:
            yield Error(
                f"{prefix_of(provider.name)}TIMEOUT_SECONDS ({provider.timeout_seconds:g}) must not be above "
                f"CALL_MAX_SECONDS ({settings.CALL_MAX_SECONDS}).",
                id="refunddesk.E007",
            )


@register()
def one_way_to_name_the_model(**_: Any) -> Iterable[CheckMessage]:
    if settings.LLM_CHAIN and settings.LLM_API_KEY:
        yield Warning("LLM_CHAIN is set, so LLM_API_KEY is not read.", id="refunddesk.W008")


def _address_setting(provider: Provider) -> str:
    return f"{prefix_of(provider.name)}BASE_URL" if settings.LLM_CHAIN else "LLM_BASE_URL"
