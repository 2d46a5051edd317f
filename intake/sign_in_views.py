"""Signing in with e-mail and password. Customers come to their orders, staff to the desk."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView
from django.db.models import Q
from django.urls import reverse

from intake.forms import SignInForm

STAFF_HOME = "/desk/"
DEMO_ACCOUNTS_SHOWN = 12


class SignIn(LoginView):
    template_name = "intake/sign_in.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True

    def get_default_redirect_url(self) -> str:
        return STAFF_HOME if getattr(self.request.user, "is_staff", False) else reverse("orders")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context = super().get_context_data(**kwargs)
        if settings.DEMO:
            context |= {"demo_password": settings.DEMO_PASSWORD, "demo_accounts": _demo_accounts()}
        return context


def _demo_accounts() -> list[User]:
    """Customers first; staff are shown too, since a demo is there to be walked through from both sides."""
    accounts = User.objects.filter(Q(email__endswith="@example.com"), is_active=True)
    return list(accounts.order_by("is_staff", "first_name", "pk")[:DEMO_ACCOUNTS_SHOWN])
