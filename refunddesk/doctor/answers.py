"""What answers: each part is asked, each within a few seconds."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from intake.models import PolicyVersion
from refunddesk import pulse
from refunddesk.demo_processes.answers import health_at
from refunddesk.demo_processes.port_file import port_of_the_demo
from refunddesk.doctor.configured import without_password
from refunddesk.doctor.finding import Finding
from refunddesk.health import ask_all

ANSWER_SECONDS = 10.0


def database() -> Iterator[Finding]:
    """Engine and place, whether every migration was applied, and the policy in force."""
    options = connection.settings_dict
    place = options["NAME"] if connection.vendor == "sqlite" else f"{options['NAME']} on {options['HOST']}"
    connection.ensure_connection()
    yield Finding("ok", "database", f"{connection.display_name} answers ({place})")
    executor = MigrationExecutor(connection)
    waiting = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if waiting:
        yield Finding("missing", "tables", f"{len(waiting)} migrations are not applied: run `manage.py migrate`")
        return
    yield Finding("ok", "tables", "every migration is applied")
    newest = PolicyVersion.objects.order_by("-number").first()
    if newest is None:
        yield Finding("missing", "policy", "there is no policy version: run `manage.py migrate`")
    else:
        yield Finding("ok", "policy", f"version {newest.number} is in force")


def photos() -> Iterator[Finding]:
    """Writes, reads and deletes a few bytes where photos are kept."""
    place = f"bucket {settings.PHOTO_BUCKET}" if settings.PHOTO_BUCKET else str(settings.PHOTO_DIR)
    storage = storages["photos"]
    name = storage.save(f"doctor-{uuid.uuid4().hex}", ContentFile(b"doctor"))
    try:
        with storage.open(name) as kept:
            kept.read()
    finally:
        storage.delete(name)
    yield Finding("ok", "photos", f"can be kept in {place}")


def running_parts() -> Iterator[Finding]:
    """Broker, worker and beat, as the health check sees them."""
    parts = ask_all()
    place = without_password(settings.REDIS_URL)
    if parts["broker"] != "ok":
        yield Finding("missing", "broker", f"{place} {parts['broker']}: start `manage.py demo`, or set REDIS_URL")
        return
    yield Finding("ok", "broker", f"{place} answers")
    for part in ("worker", "beat"):
        if parts[part] == "ok":
            yield Finding("ok", part, f"works (a pulse is at most {pulse.STALE_SECONDS} seconds old)")
        else:
            yield Finding("missing", part, f"{parts[part]}: start `celery -A refunddesk {part}`")


def web() -> Iterator[Finding]:
    """In the demo it must answer here; elsewhere it may live on another machine."""
    port = port_of_the_demo()
    address = f"http://127.0.0.1:{port}/healthz"
    if health_at(port):
        yield Finding("ok", "web", f"{address} answers")
    elif settings.DEMO:
        words = f"{address} does not answer: start `make demo`, or give the DATA_DIR (or PORT) it was started with"
        yield Finding("missing", "web", words)
    else:
        yield Finding("note", "web", f"{address} does not answer")
