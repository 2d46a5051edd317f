"""What a lead changes for a copy of a case: the model, the rules, instructions that are added; as plain options."""

from __future__ import annotations

from typing import Any

from django import forms

from agent.evaluation.ground import ORDINARY_POLICY
from agent.llm.choose import model_in_use
from agent.llm.providers_now import providers_now
from agent.llm.scripted import PROVIDER as SCRIPTED
from desk.forms import NoteField
from desk.policy_labels import AMOUNTS, LABELS
from intake.models import PolicyVersion, RefundRequest
from payments.money import format_minor, parse_amount, to_decimal

MOST_VERSIONS = 20
PROMPT_LENGTH = 2000
MODEL_LENGTH = 120
MOST_DAYS = 3650
# Those with a field of their own; the others change with a whole version only.
NUMBERS = (*AMOUNTS, "refund_window_days", "history_days")


class RunAgainForm(forms.Form):
    """Everything empty: the case as it was, with the model that is set up. Amounts as typed, in the rules' currency."""

    provider = forms.ChoiceField(required=False, label="Who answers")
    model = forms.CharField(
        required=False, max_length=MODEL_LENGTH, label="Model", help_text="Empty: the one this provider is set up with."
    )
    policy = forms.ChoiceField(required=False, label="Rules")
    prompt = NoteField(
        required=False,
        max_length=PROMPT_LENGTH,
        label="Instructions added to the review’s own",
        help_text="The ordinary instructions stay; this is added behind them, in this copy only.",
        widget=forms.Textarea(attrs={"rows": 4}),
    )

    def __init__(self, data: Any = None, *, case: RefundRequest, initial: dict[str, Any] | None = None) -> None:
        super().__init__(data, initial=initial)
        self.rules = case.policy
        self.versions = {str(version.number): version for version in PolicyVersion.objects.all()[:MOST_VERSIONS]}
        named = [(provider.name, f"{provider.name} ({provider.model})") for provider in providers_now()]
        as_now = model_in_use().model or "nobody"
        _choose(self, "provider", [("", f"As set up now ({as_now})"), *named, (SCRIPTED, "The scripted model")])
        _choose(self, "policy", [("", f"As it was: policy {self.rules.number}"), *self._other_versions()])
        self.fields["model"].widget.attrs["autocomplete"] = "off"
        for name in NUMBERS:
            now = self._as_typed(name, getattr(self.rules, name))
            widget = forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off", "placeholder": now})
            self.fields[name] = forms.CharField(required=False, max_length=40, label=LABELS[name], widget=widget)

    def number_fields(self) -> list[Any]:
        return [self[name] for name in NUMBERS]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        for name in NUMBERS:
            if cleaned.get(name):
                self._read(name, cleaned)
        return cleaned

    def options(self) -> dict[str, Any]:
        """As `Evaluation.options`; of the rules only what differs from the case's own."""
        cleaned = self.cleaned_data
        version = self.versions.get(cleaned["policy"], self.rules)
        wanted = {name: getattr(version, name) for name in ORDINARY_POLICY}
        wanted |= {name: cleaned[name] for name in NUMBERS if cleaned.get(name) not in ("", None)}
        changed = {name: value for name, value in wanted.items() if value != getattr(self.rules, name)}
        given = {"provider": cleaned["provider"], "model": cleaned["model"], "prompt": cleaned["prompt"].strip()}
        return {**{name: text for name, text in given.items() if text}, **({"policy": changed} if changed else {})}

    def _other_versions(self) -> list[tuple[str, str]]:
        newest = next(iter(self.versions), "")
        return [
            (number, f"Policy {number}{' (in force)' if number == newest else ''}")
            for number in self.versions
            if number != str(self.rules.number)
        ]

    def _as_typed(self, name: str, value: int) -> str:
        return str(to_decimal(value, self.rules.currency)) if name in AMOUNTS else str(value)

    def _read(self, name: str, cleaned: dict[str, Any]) -> None:
        """The typed text becomes minor units or days."""
        text = cleaned[name].strip()
        try:
            cleaned[name] = self._amount(text) if name in AMOUNTS else _days(text)
        except ValueError as error:
            self.add_error(name, str(error))

    def _amount(self, text: str) -> int:
        return 0 if text and not text.strip("0.,") else parse_amount(text, self.rules.currency)


def options_in_words(options: dict[str, Any], currency: str) -> list[tuple[str, str]]:
    """What was changed, for the copy's page; empty when nothing was."""
    said = [(label, str(options[name])) for name, label in SAID.items() if options.get(name)]
    changes = options.get("policy") or {}
    return said + [(LABELS.get(name, name), _value(name, value, currency)) for name, value in changes.items()]


def as_typed(options: dict[str, Any], currency: str) -> dict[str, str]:
    """The same options as what the form starts with."""
    start = {name: str(options[name]) for name in SAID if options.get(name)}
    for name, value in (options.get("policy") or {}).items():
        if name in NUMBERS and isinstance(value, int):
            start[name] = str(to_decimal(value, currency)) if name in AMOUNTS else str(value)
    return start


SAID = {"provider": "Who answers", "model": "Model", "prompt": "Instructions added"}


def _value(name: str, value: Any, currency: str) -> str:
    return format_minor(value, currency) if name in AMOUNTS and isinstance(value, int) else str(value)


def _days(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= MOST_DAYS):
        raise ValueError(f"Write a whole number of days, at most {MOST_DAYS:,}.")
    return int(text)


def _choose(form: forms.Form, name: str, choices: list[tuple[str, str]]) -> None:
    field: Any = form.fields[name]
    field.choices = choices
