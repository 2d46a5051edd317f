"""Signing in with e-mail and password, and out. Customers come to their orders, staff to the desk."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView, LogoutView
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
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

    def get_success_url(self) -> str:
        """Never this page itself, which would lead whoever is signed in back to it without end."""
        wanted = super().get_success_url()
        return self.get_default_redirect_url() if urlsplit(wanted).path == self.request.path else wanted

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return {**super().get_context_data(**kwargs), **demo_context()}


class SignOut(LogoutView):
    """Only a button signs out; whoever comes by the address finds one."""

    def http_method_not_allowed(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.user.is_authenticated:
            return redirect("sign-in")
        page = render(request, "intake/sign_out.html", status=405)
        page["Allow"] = "POST, OPTIONS"
        return page


def demo_context(*, staff_only: bool = False) -> dict[str, Any]:
    """The accounts of the demo and their password for a sign-in page; nothing outside of demo mode."""
    if not settings.DEMO:
        return {}
    return {"demo_password": settings.DEMO_PASSWORD, "demo_accounts": _demo_accounts(staff_only=staff_only)}


def _demo_accounts(*, staff_only: bool) -> list[User]:
    """Customers first; staff are shown too, since a demo is there to be walked through from both sides."""
    accounts = User.objects.filter(Q(email__endswith="@example.com"), is_active=True)
    if staff_only:
        accounts = accounts.filter(is_staff=True).prefetch_related("groups")
    return list(accounts.order_by("is_staff", "first_name", "pk")[:DEMO_ACCOUNTS_SHOWN])
