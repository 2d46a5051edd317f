from django.apps import AppConfig, apps
from django.db.models.signals import post_migrate

from desk.groups import fill_groups


class DeskConfig(AppConfig):
    name = "desk"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # An app without models is sent no post_migrate; groups can be filled as soon as auth has its tables.
        post_migrate.connect(fill_groups, sender=apps.get_app_config("auth"), dispatch_uid="desk.fill_groups")
