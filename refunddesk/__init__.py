"""The roof. Loading it makes the Celery application the current one, so that tasks reach the right broker."""

from refunddesk.celery import app as celery_app

__all__ = ["celery_app"]
