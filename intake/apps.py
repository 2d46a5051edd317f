from django.apps import AppConfig
from django.db.models.signals import post_migrate


class IntakeConfig(AppConfig):
    name = "intake"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from intake import account_rules  # noqa: PLC0415 - models exist only once apps are loaded
        from intake.policy_in_force import fill_policy  # noqa: PLC0415

        account_rules.connect()
        post_migrate.connect(fill_policy, sender=self, dispatch_uid="intake.fill_policy")
