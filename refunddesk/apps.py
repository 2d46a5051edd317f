from django.apps import AppConfig

from refunddesk import checks  # noqa: F401 - registers the system checks


class RefunddeskConfig(AppConfig):
    name = "refunddesk"
