"""The token that opens the HTTP API: one for an account, for as long as its password stays."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction
from rest_framework.authtoken.models import Token

from intake.refusals import Refusal
from intake.sign_in_guard import WRONG


def token_for(user: User) -> str:
    """The token of somebody who has just signed in. Raises Refusal not_authenticated when another password was set, or
    the account switched off, in the same moment: the token would outlive it."""
    with transaction.atomic():
        now = User.objects.select_for_update().filter(pk=user.pk).first()
        if now is None or not now.is_active or now.password != user.password:
            raise Refusal("not_authenticated", WRONG)
        return Token.objects.get_or_create(user=now)[0].key
