from django.apps import AppConfig


class RefunddeskConfig(AppConfig):
    name = "refunddesk"
