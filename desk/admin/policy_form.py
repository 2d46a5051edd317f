"""The form of a new policy version: amounts as people write them, texts that only name numbers the version has."""

from __future__ import annotations

import re
from typing import Any

from django import forms

from desk.policy_labels import AMOUNTS, LABELS
from intake.models import PolicySection, PolicyVersion
from intake.policy_texts import PLACEHOLDERS
from payments.money import parse_amount, to_decimal

# The most of each: what lies further than that from today is no date any more, and every run that counts would fail.
MOST_DAYS = 3650
HELP = {
    "currency": "Three letters, like USD. A refund in another currency always goes to a person.",
    "refund_window_days": "The last day still counts.",
    "ship_within_days": "Counted from the return code.",
    "return_check_minutes": "10080 is 7 days. After the reminder it is the same again, then the request closes.",
    "reply_days": "After that the request goes back to staff.",
}
COUNTS = {
    "refund_window_days": MOST_DAYS,
    "history_days": MOST_DAYS,
    "warranty_days": MOST_DAYS,
    "ship_within_days": MOST_DAYS,
    "return_check_minutes": MOST_DAYS * 24 * 60,
    "reply_days": MOST_DAYS,
}
# A check, a deadline or an answer that is due at once would come before the customer could do anything.
AT_LEAST_ONE = frozenset({"ship_within_days", "return_check_minutes", "reply_days"})
TOPICS = PolicySection.Topic.values


def amount_field(name: str) -> forms.CharField:
    return forms.CharField(label=LABELS[name], max_length=20, help_text="As you would write it, like 50.00.")


class PolicyForm(forms.ModelForm):
    """Every amount is typed in the version's currency and kept in minor units."""

    auto_refund_limit_minor = amount_field("auto_refund_limit_minor")
    daily_budget_minor = amount_field("daily_budget_minor")
    return_above_minor = amount_field("return_above_minor")
    wrong_item_return_above_minor = amount_field("wrong_item_return_above_minor")

    class Meta:
        model = PolicyVersion
        fields = ("currency", *AMOUNTS, *COUNTS)
        labels = LABELS
        help_texts = HELP

    def clean_currency(self) -> str:
        currency = self.cleaned_data["currency"].strip().upper()
        if not re.fullmatch(r"[A-Z]{3}", currency):
            raise forms.ValidationError("Three letters, like USD.")
        return currency

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        currency = cleaned.get("currency")
        for name in AMOUNTS:
            if currency and name in cleaned:
                self._parse(name, currency)
        for name, most in COUNTS.items():
            least = 1 if name in AT_LEAST_ONE else 0
            if name in self.cleaned_data and not least <= self.cleaned_data[name] <= most:
                self.add_error(name, f"Write a number from {least} to {most:,}.")
        return self.cleaned_data

    def _parse(self, name: str, currency: str) -> None:
        try:
            self.cleaned_data[name] = parse_amount(self.cleaned_data[name], currency)
        except ValueError as error:
            self.add_error(name, str(error))


class SectionForm(forms.ModelForm):
    class Meta:
        model = PolicySection
        fields = ("topic", "title", "position", "body")
        widgets = {"body": forms.Textarea(attrs={"rows": 9})}

    def clean_body(self) -> str:
        """A customer must never read `{limt}`: braces hold only names the version can fill in."""
        body = self.cleaned_data["body"]
        unknown = sorted(set(re.findall(r"\{(\w+)\}", body)) - set(PLACEHOLDERS))
        if unknown:
            raise forms.ValidationError(f"There is no number called {_braced(unknown)}. Use: {_braced(PLACEHOLDERS)}.")
        return body


class SectionFormSet(forms.BaseInlineFormSet):
    def clean(self) -> None:
        """A version is whole: every topic once, since customers and the agent ask for each of them."""
        super().clean()
        given = {form.cleaned_data.get("topic") for form in self.forms if form.is_valid()}
        missing = [PolicySection.Topic(topic).label for topic in TOPICS if topic not in given]
        if missing and not any(self.errors):
            raise forms.ValidationError(f"Every topic needs its text. Missing: {', '.join(missing)}.")


def numbers_of(policy: PolicyVersion) -> dict[str, Any]:
    """What the form of the next version starts with."""
    amounts = {name: str(to_decimal(getattr(policy, name), policy.currency)) for name in AMOUNTS}
    return {"currency": policy.currency, **amounts, **{name: getattr(policy, name) for name in COUNTS}}


def texts_of(policy: PolicyVersion) -> list[dict[str, Any]]:
    return [dict(text) for text in policy.sections.values("topic", "title", "position", "body")]


def _braced(names: Any) -> str:
    return ", ".join(f"{{{name}}}" for name in names)
