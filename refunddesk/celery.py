"""The Celery application. Tasks are found in each app's `tasks` module; the timetable stands in `schedule`."""

from __future__ import annotations

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "refunddesk.settings")

app = Celery("refunddesk")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
