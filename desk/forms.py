"""What staff type on the desk, read into plain values. Rules about the case itself belong to the verbs."""

from __future__ import annotations

from typing import Any

from django import forms

from agent.decide import NOTE_LENGTH, QUESTION_LENGTH
from agent.llm.choose import model_in_use
from agent.models import Approval, Decision
from desk.case import Case
from intake.customer_text import one_line_end
from intake.forms import SignInForm
from payments.money import format_minor, parse_amount, share_of_paid, to_decimal

QUOTED = "The customer reads your reason word for word, in a short message from the shop."
WORDED_BY_A_MODEL = (
    "The customer reads your reason in a short message: worded by the agent, or as it stands where that fails."
)
LEFT_OUT = (
    "Names of staff are taken out. A reason with a link, markup or a word of our own, such as “rule” or “staff”, is "
    "not quoted at all. Nothing else is checked."
)
PAUSE_REASON_LENGTH = 200
MOST_UNITS_PRICED = 100


class StaffSignInForm(SignInForm):
    """The shop's sign-in, for staff only; guessing is slowed down in the same way."""

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        user = self.get_user()
        if user is not None and not user.is_staff:
            self.user_cache = None
            raise forms.ValidationError("This account is no staff account. Customers sign in on the shop's own page.")
        return cleaned


class SearchForm(forms.Form):
    """What stands behind a queue's address; anything unreadable counts as not given."""

    q = forms.CharField(required=False, max_length=200)
    page = forms.IntegerField(required=False, min_value=1)

    def words(self) -> str:
        self.is_valid()
        return str(self.cleaned_data.get("q") or "")

    def page_number(self) -> int:
        self.is_valid()
        return int(self.cleaned_data.get("page") or 1)


class NoteField(forms.CharField):
    """Browsers send a line break as two characters; it counts as the one that was typed."""

    def to_python(self, value: Any) -> str:
        return one_line_end(str(super().to_python(value) or ""))


class NoteForm(forms.Form):
    """A decision with nothing but words: `note` is the question or the reason. `card` is the one it answers."""

    card = forms.UUIDField(widget=forms.HiddenInput)
    choice = forms.CharField(widget=forms.HiddenInput)
    note = NoteField(widget=forms.Textarea(attrs={"rows": 5}))

    def for_decide(self) -> dict[str, Any]:
        """The arguments of `decide` beside the card and who decides."""
        return {"choice": self.cleaned_data["choice"], "note": self.cleaned_data["note"]}


class AskForm(NoteForm):
    note = NoteField(
        label="Question",
        help_text="The customer reads exactly this, signed by the shop.",
        max_length=QUESTION_LENGTH,
        widget=forms.Textarea(attrs={"rows": 5}),
        error_messages={"required": "Write the question the customer should answer."},
    )


class DeclineForm(NoteForm):
    note = NoteField(
        label="Reason",
        max_length=NOTE_LENGTH,
        widget=forms.Textarea(attrs={"rows": 5}),
        error_messages={"required": "Say why it is declined; the customer reads the reason."},
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """What the customer will read depends on who words the message."""
        super().__init__(*args, **kwargs)
        model = model_in_use()
        worded = WORDED_BY_A_MODEL if model.provider and not model.scripted else QUOTED
        self.fields["note"].help_text = f"{worded} {LEFT_OUT}"


class ApproveForm(forms.Form):
    """`amount` and `shipping` as typed, in the request's currency; at most what was asked and what shipping cost.

    `units` is there when there are several to choose from; `amount` is at most the price of those chosen.
    """

    card = forms.UUIDField(widget=forms.HiddenInput)
    choice = forms.CharField(widget=forms.HiddenInput)
    units = forms.IntegerField(min_value=1, label="Units")
    amount = forms.CharField(max_length=40, error_messages={"required": "Write the amount to refund."})
    shipping = forms.CharField(max_length=40, required=False)
    require_return = forms.BooleanField(required=False, label="Require return first")
    note = NoteField(
        required=False,
        max_length=NOTE_LENGTH,
        label="Note for the team",
        widget=forms.Textarea(attrs={"rows": 2}),
    )

    def __init__(self, *args: Any, case: Case, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.case = case
        self.currency = case.request.currency
        self.fields["amount"].widget.attrs.update(inputmode="decimal", autocomplete="off")
        self.fields["shipping"].widget.attrs.update(inputmode="decimal", autocomplete="off")
        self.fields["amount"].help_text = f"At most {format_minor(case.request.amount_minor, self.currency)}"
        self.fields["shipping"].help_text = f"At most {format_minor(case.shipping_left_minor, self.currency)}"
        if not case.shipping_left_minor and not str(self.data.get("shipping") or "").strip("0., "):
            del self.fields["shipping"]
        if case.request.units > 1:
            self.fields["units"] = _units_field(case)
        else:
            del self.fields["units"]

    def clean_amount(self) -> int:
        request = self.case.request
        units = self.cleaned_data.get("units") or request.units
        most = share_of_paid(request.amount_minor, request.units, units, 0)
        amount = self._parsed("amount")
        if amount > most:
            priced = "what the customer asked for" if units == request.units else f"the price of {units} units"
            if units == 1 < request.units:
                priced = "the price of 1 unit"
            raise forms.ValidationError(f"At most {format_minor(most, self.currency)}: {priced}.")
        return amount

    def clean_shipping(self) -> int:
        typed = self.cleaned_data["shipping"].strip()
        if not typed or not typed.strip("0.,"):
            return 0
        most = self.case.shipping_left_minor
        shipping = self._parsed("shipping")
        if shipping > most:
            raise forms.ValidationError(f"At most {format_minor(most, self.currency)}: what is left of the shipping.")
        return shipping

    def total(self) -> str:
        """What stands in the two fields together, as the button names it; empty when it is no amount."""
        typed = [self[name].value() for name in ("amount", "shipping") if name in self.fields]
        try:
            parsed = [parse_amount(str(text), self.currency) for text in typed if text and str(text).strip("0., ")]
        except ValueError:
            return ""
        return format_minor(sum(parsed), self.currency) if parsed else ""

    def for_decide(self) -> dict[str, Any]:
        """The arguments of `decide` beside the card and who decides."""
        shipping = int(self.cleaned_data.get("shipping") or 0)
        return {
            "choice": Decision.Choice.APPROVE,
            "note": self.cleaned_data["note"],
            "amount_minor": self.cleaned_data["amount"] + shipping,
            "shipping_minor": shipping,
            "units": self.cleaned_data.get("units"),
            "require_return": self.cleaned_data["require_return"],
        }

    def _parsed(self, field: str) -> int:
        try:
            return parse_amount(self.cleaned_data[field], self.currency)
        except ValueError as error:
            raise forms.ValidationError(str(error)) from None


def _units_field(case: Case) -> forms.IntegerField:
    """All units, or fewer of them; the page's script knows what each number of them costs."""
    request = case.request
    field = forms.IntegerField(
        min_value=1,
        max_value=request.units,
        label=f"Units, of {request.units}",
        error_messages={
            "required": "Write how many units you refund.",
            "max_value": f"At most {request.units}: that is what the customer asked for.",
            "min_value": "At least 1. If nothing is to be refunded, decline.",
        },
    )
    numbers = range(1, min(request.units, MOST_UNITS_PRICED) + 1)
    prices = (share_of_paid(request.amount_minor, request.units, units, 0) for units in numbers)
    field.widget.attrs["data-prices"] = " ".join(str(to_decimal(price, request.currency)) for price in prices)
    return field


class ReceiptForm(forms.Form):
    """How many units came back: at least one, at most `most`."""

    def __init__(self, *args: Any, most: int, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["units"] = forms.IntegerField(
            min_value=1,
            max_value=most,
            label="Units that arrived",
            error_messages={
                "max_value": f"At most {most}: that is what the customer sends back.",
                "min_value": "At least 1. If nothing arrived, there is nothing to record.",
            },
        )


class PauseForm(forms.Form):
    """The brake: `paused` is what the shop should be after this."""

    paused = forms.TypedChoiceField(
        choices=[("yes", "yes"), ("no", "no")], coerce=lambda value: value == "yes", widget=forms.HiddenInput
    )
    reason = forms.CharField(
        required=False,
        max_length=PAUSE_REASON_LENGTH,
        label="Why",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        reason = self.fields["reason"]
        reason.required = self["paused"].value() == "yes"
        reason.error_messages["required"] = "Say why, so that the others know when to switch it on again."


DECISION_FORMS: dict[str, type[NoteForm]] = {
    Decision.Choice.ASK_CUSTOMER: AskForm,
    Decision.Choice.DECLINE: DeclineForm,
}


def decision_form(choice: str, case: Case, *, data: Any = None, start: dict[str, Any] | None = None) -> forms.Form:
    """The form of one of the three decisions, bound to `data` or filled with `start`, else with what the card says."""
    initial = {**_initial(choice, case), **(start or {}), "choice": choice}
    if start and "card" in start:  # what was sent before: an unticked box is not in it
        initial["require_return"] = bool(start.get("require_return"))
    if choice == Decision.Choice.APPROVE:
        return ApproveForm(data, case=case, initial=initial)
    return DECISION_FORMS[choice](data, initial=initial)


def _initial(choice: str, case: Case) -> dict[str, Any]:
    card = case.card
    if card is None:
        return {"choice": choice}
    amount, shipping, units = _to_approve(case, card)
    return {
        "card": card.pk,
        "choice": choice,
        "note": card.draft_question if choice == Decision.Choice.ASK_CUSTOMER else "",
        "amount": str(to_decimal(amount, case.request.currency)),
        "shipping": str(to_decimal(shipping, case.request.currency)) if shipping else "",
        "units": units,
        "require_return": card.require_return or card.recommendation == Approval.Recommendation.REFUND_AFTER_RETURN,
    }


def _to_approve(case: Case, card: Approval) -> tuple[int, int, int]:
    """Amount without shipping, shipping (minor units) and units to begin with: the card's, or the failed refund's."""
    request, tried = case.request, case.tried
    if tried is None:
        return min(card.amount_minor, request.amount_minor), 0, request.units
    shipping = min(tried.shipping_minor, case.shipping_left_minor)
    amount = min(tried.amount_minor - tried.shipping_minor, request.amount_minor)
    return max(amount, 1), shipping, tried.units or request.units
