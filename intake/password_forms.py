"""The forms that ask for a link and set a password: Django's, in the shop's words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib.auth.forms import PasswordResetForm, SetPasswordForm
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import password_validators_help_texts
from django.http import HttpRequest

from intake.password_links import NOBODY, bound, mail_after_commit

ENTER_EMAIL = "Enter your e-mail, such as name@example.com."
ENTER_PASSWORD = "Enter a new password."  # noqa: S105 - a sentence
ENTER_AGAIN = "Enter the new password once more."
NOT_THE_SAME = "The two passwords are not the same. Enter both again."


class AskForLinkForm(PasswordResetForm):
    email = forms.EmailField(
        label="E-mail",
        max_length=254,
        widget=forms.EmailInput(attrs={"autocomplete": "username", "autofocus": True}),
        error_messages={"required": ENTER_EMAIL, "invalid": ENTER_EMAIL},
    )

    def get_users(self, email: str) -> Iterable[User]:
        """By the name they sign in with; also who never had a password, as customers brought in from elsewhere."""
        return User.objects.filter(username=email.strip().lower(), is_active=True)

    def save(self, *, request: HttpRequest, **_: Any) -> None:  # type: ignore[override]
        """Raises Refusal: too_many_requests, try_again."""
        email = self.cleaned_data["email"]
        bound(request, email)
        found = next(iter(self.get_users(email)), None)
        mail_after_commit(found.pk if found else NOBODY, f"{request.scheme}://{request.get_host()}")


class NewPasswordForm(SetPasswordForm):
    error_messages = {**SetPasswordForm.error_messages, "password_mismatch": NOT_THE_SAME}

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(user, *args, **kwargs)
        first, again = self.fields["new_password1"], self.fields["new_password2"]
        first.label, again.label = "New password", "The same once more"
        first.help_text, again.help_text = " ".join(map(str, password_validators_help_texts())), ""
        first.error_messages["required"], again.error_messages["required"] = ENTER_PASSWORD, ENTER_AGAIN
        first.widget.attrs["autofocus"] = True
