"""The customers' forms. They check what a browser sends and leave every rule to the verbs."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import User

from intake.line_offer import LineOffer
from intake.models import RefundRequest
from intake.refusals import Refusal
from intake.sign_in_guard import sign_in
from intake.submit_reply import MESSAGE_LENGTH, WRITE_AN_ANSWER
from intake.submit_request import CHOOSE_A_REASON, DESCRIBE, DETAILS_LENGTH
from payments.money import format_minor

MOST_UNITS_TO_CHOOSE_FROM = 20


class SignInForm(AuthenticationForm):
    """E-mail and password; the e-mail in any case."""

    username = forms.CharField(
        label="E-mail",
        max_length=254,
        widget=forms.EmailInput(attrs={"autocomplete": "username", "autofocus": True}),
        error_messages={"required": "Enter your e-mail."},
    )
    password = forms.CharField(
        label="Password",
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
        error_messages={"required": "Enter your password."},
    )

    def clean(self) -> dict[str, Any]:
        email, password = self.cleaned_data.get("username"), self.cleaned_data.get("password")
        if email and password:
            try:
                self.user_cache: User | None = sign_in(self.request, email=email, password=password)
            except Refusal as refusal:
                raise forms.ValidationError(refusal.sentence) from None
        return self.cleaned_data


class RefundForm(forms.Form):
    """Asks for units of one line; `units` is there only when there is a choice."""

    reason = forms.ChoiceField(
        choices=RefundRequest.Reason.choices,
        widget=forms.RadioSelect,
        error_messages={"required": CHOOSE_A_REASON, "invalid_choice": CHOOSE_A_REASON},
    )
    details = forms.CharField(
        widget=forms.Textarea(
            attrs={"rows": 5, "maxlength": DETAILS_LENGTH, "aria-describedby": "details-hint id_details_error"}
        ),
        error_messages={"required": DESCRIBE},
    )

    def __init__(self, offer: LineOffer, data: Any = None, typed: Any = None) -> None:
        """`data` is checked; `typed` is only shown again, as when a photo was removed."""
        super().__init__(data, initial={"units": offer.refundable_units, **(typed or {})})
        left = offer.refundable_units
        if 1 < left <= MOST_UNITS_TO_CHOOSE_FROM:
            self.fields["units"] = forms.TypedChoiceField(choices=_priced_units(offer), coerce=int)
        elif left > MOST_UNITS_TO_CHOOSE_FROM:
            self.fields["units"] = forms.IntegerField(min_value=1, max_value=left)


class AnswerForm(forms.Form):
    message = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 5, "maxlength": MESSAGE_LENGTH}),
        error_messages={"required": WRITE_AN_ANSWER},
    )


def _priced_units(offer: LineOffer) -> list[tuple[int, str]]:
    currency = offer.line.order.currency
    return [
        (units, f"{units} {'unit' if units == 1 else 'units'} · {format_minor(offer.amount_for(units), currency)}")
        for units in range(1, offer.refundable_units + 1)
    ]
