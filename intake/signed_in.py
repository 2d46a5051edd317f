"""Who asks for a page."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest


def signed_in(request: HttpRequest) -> User:
    """The user behind a request that `login_required` has let through."""
    if not isinstance(request.user, User):
        raise PermissionDenied
    return request.user
