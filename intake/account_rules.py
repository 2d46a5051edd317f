"""What holds for every account, whoever saves it: its name is the e-mail in lower case, and its API token does not
outlive the password it was given for."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db.models.signals import post_save, pre_save
from rest_framework.authtoken.models import Token

TAKEN = "There is already an account with this e-mail. Capital letters make no other one."


def connect() -> None:
    for signal, receiver in (
        (pre_save, name_in_lower_case),
        (pre_save, end_token_of_no_password),
        (post_save, end_token),
    ):
        signal.connect(receiver, sender=User, dispatch_uid=f"intake.{receiver.__name__}")


def name_in_lower_case(*, instance: User, using: str, update_fields: Collection[str] | None = None, **_: Any) -> None:
    """Signing in asks for lower case, so another spelling would lock its owner out. Raises ValidationError when that
    is another account's name."""
    name = instance.username.strip().lower()
    if name == instance.username or not _writes("username", update_fields):
        return
    if User.objects.using(using).filter(username=name).exclude(pk=instance.pk).exists():
        raise ValidationError(TAKEN)
    instance.username = name


def end_token(*, instance: User, created: bool, using: str, **_: Any) -> None:
    """After another password was set, or the account was switched off. Django forgets the password it was given when it
    only writes the same one down anew."""
    was_set = getattr(instance, "_password", None) is not None
    if not created and (was_set or not instance.is_active):
        Token.objects.using(using).filter(user_id=instance.pk).delete()


def end_token_of_no_password(
    *, instance: User, using: str, update_fields: Collection[str] | None = None, **_: Any
) -> None:
    """When the password is taken away. An account that never had one may hold a token that was made by hand."""
    if instance.pk is None or instance.has_usable_password() or not _writes("password", update_fields):
        return
    before = User.objects.using(using).filter(pk=instance.pk).exclude(password=instance.password)
    if before.exists():
        Token.objects.using(using).filter(user_id=instance.pk).delete()


def _writes(name: str, update_fields: Collection[str] | None) -> bool:
    return update_fields is None or name in update_fields
