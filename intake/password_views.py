"""Setting a password through a link that is mailed: Django's views, in the shop's look. None of the pages is kept by
the browser, and none has the link's secret in its address."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.forms import PasswordResetForm, SetPasswordForm
from django.contrib.auth.models import User
from django.contrib.auth.views import (
    PasswordResetCompleteView,
    PasswordResetConfirmView,
    PasswordResetDoneView,
    PasswordResetView,
)
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse_lazy
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache

from intake.password_forms import AskForLinkForm, NewPasswordForm
from intake.password_links import are_offered, valid_for
from intake.refusals import Refusal
from intake.sign_in_guard import forget_failures

NOT_HERE = 404
GONE = 410


@method_decorator(never_cache, name="dispatch")
class AskForLink(PasswordResetView):
    template_name = "intake/password.html"
    form_class = AskForLinkForm
    success_url = reverse_lazy("password-sent")

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not are_offered():
            return render(request, "intake/password_no_mail.html", status=NOT_HERE)
        return super().dispatch(request, *args, **kwargs)

    def form_valid(self, form: PasswordResetForm) -> HttpResponse:
        try:
            return super().form_valid(form)
        except Refusal as refusal:
            form.add_error(None, refusal.sentence)
            return self.render_to_response(self.get_context_data(form=form), status=refusal.http_status)


@method_decorator(never_cache, name="dispatch")
class LinkSent(PasswordResetDoneView):
    template_name = "intake/password_sent.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return {**super().get_context_data(**kwargs), "valid_for": valid_for(), "demo": settings.DEMO}


class SetPassword(PasswordResetConfirmView):
    template_name = "intake/password_set.html"
    form_class = NewPasswordForm
    success_url = reverse_lazy("password-done")

    def get_user(self, uidb64: str) -> User | None:
        user = super().get_user(uidb64)
        return user if user is not None and user.is_active else None

    def form_valid(self, form: SetPasswordForm[User]) -> HttpResponse:
        answer = super().form_valid(form)
        forget_failures(self.request, form.user.get_username())
        return answer

    def render_to_response(self, context: dict[str, Any], **kwargs: Any) -> HttpResponse:
        status = {} if context["validlink"] else {"status": GONE}
        return super().render_to_response(
            {**context, "person": self.user, "offered": are_offered()}, **status, **kwargs
        )


@method_decorator(never_cache, name="dispatch")
class PasswordDone(PasswordResetCompleteView):
    template_name = "intake/password_done.html"
