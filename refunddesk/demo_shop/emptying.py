"""Empties the shop's tables, so that they can be filled again in the same transaction."""

from __future__ import annotations

from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.core.management.color import no_style
from django.db import connection

from intake.models import Photo

SHOP_APPS = ("payments", "intake", "agent", "desk")


def empty_tables() -> list[str]:
    """Deletes every row of the shop (people stay) and starts its numbers over; returns the names of the photos' files.

    Whoever else writes waits until the transaction ends, and then finds nothing of what it knew.
    """
    _keep_others_out()
    files = list(Photo.objects.values_list("file", flat=True))
    tables = [model._meta.db_table for label in SHOP_APPS for model in apps.get_app_config(label).get_models()]
    tables.append(LogEntry._meta.db_table)
    connection.ops.execute_sql_flush(connection.ops.sql_flush(no_style(), tables, reset_sequences=True))
    return files


def _keep_others_out() -> None:
    """No photo may come between reading the names and deleting the rows. SQLite has only one writer anyway."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"LOCK TABLE {connection.ops.quote_name(Photo._meta.db_table)} IN ACCESS EXCLUSIVE MODE")
