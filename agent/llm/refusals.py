"""What an error of a chat endpoint means, by its status and by what the provider itself says. The sentences hold
nothing the provider wrote."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from agent.llm.base import BadRequest, ContentRefused, KeyRefused, Message, ModelTrouble, NotFound, Temporary
from agent.llm.provider_voice import Voice, is_repeated, voice_of
from agent.llm.waits import asked_wait

REFUSED = "The model refused to work on this request."
NO_ANSWER = "The model's provider gave no answer."
NO_KEY = "The model's provider does not accept the key."
KEY_STATUSES = {
    401: NO_KEY,
    402: "The account at the model's provider has no credit left.",
    403: "The model's provider does not let this key use the model.",
}
TRANSIENT_STATUSES = (408, 409, 425, 429)
NOT_FOUND_STATUSES = (404, 405)
CONTENT_STATUSES = (400, 403, 406, 422, 451)
CONTENT_MARKS = frozenset({"flagged_input", "reasons"})
CONTENT_CODES = re.compile(
    r"content_?(?:filter|policy|management|moderation)|responsibleai|moderation|guardrail|jailbreak|flagged"
    r"|prompt_?(?:injection|blocked)|invalid_prompt|data_?inspection|safety_(?:check|violation|system)"
)
CONTENT_WORDS = re.compile(
    r"\b(?:request|prompt|content|input|message|text|image|response|output)s? "
    r"(?:(?:was|were|is|are|has been|have been) )?(?:blocked|filtered)"
    r"|\bflagged\b|\bguardrails?\b|\bmoderation\b|\bprompt[ _-]injections?\b|\bjailbreak"
    r"|content[ _](?:filter|policy|policies|management)|content violates|content exists risk|inappropriate content"
    r"|sensitive (?:content|words|information)|(?:usage|safety|acceptable use) (?:polic|guideline|system|filter|check)"
    r"|safety_check|due to safety|violat\w+ .{0,40}(?:polic|guideline|terms)|policy violation"
)
# Enough for a 403, which is a guardrail's as often as it is about a key.
GUARDED_WORDS = re.compile(r"(?<!model )(?<!key )(?<!account )(?<!is )(?<!been )(?<!was )\bblocked\b|\bdetected\b")
KEY_CODES = re.compile(
    r"api_?key|insufficient_(?:quota|balance|credits?|permissions?)|billing|account_|unsupported_country|model_not_found"
)
KEY_WORDS = re.compile(
    r"\b(?:api[ _-]?)?keys?\b|\baccounts?\b|\bcredits?\b|\bbilling\b|\bpayment\b|\bsubscription\b|\borgani[sz]ation\b"
    r"|\bproject\b|\bcountry\b|\bterritory\b|(?:insufficient|missing|not have(?: the)?|lacks?(?: the)?) permissions?\b"
    r"|not have access to|no access to|(?:not|un)[ -]?authori[sz]ed"
)
UNREADABLE_CODES = re.compile(r"tool_use_failed|json_validate_failed|output_parse_failed")


def trouble_of_status(
    status: int, headers: Mapping[str, str], body: Any, now: float, messages: Sequence[Message] = ()
) -> ModelTrouble:
    """`now` in epoch seconds, for waits that are given as a moment. `messages`: what was sent; words that stand there
    too are not taken for the provider's."""
    if status in TRANSIENT_STATUSES or status >= 500:
        sentence = f"The model's provider is busy or out of order (status {status})."
        return Temporary(sentence, wait=asked_wait(headers, body, now))
    voice = voice_of(body)
    if status in CONTENT_STATUSES and _refuses_content(status, voice):
        return ContentRefused(REFUSED)
    if _refuses_key(status, voice, messages):
        return KeyRefused(KEY_STATUSES[status])
    kind = NotFound if status in NOT_FOUND_STATUSES else BadRequest
    return kind(f"The model's provider did not take the call (status {status}).")


def trouble_of(error: Any, messages: Sequence[Message] = ()) -> ModelTrouble:
    """What an error object inside a good answer means; its `code` is usually the HTTP status of the model behind."""
    code = str(error.get("code")) if isinstance(error, dict) else ""
    status = int(code) if re.fullmatch(r"[45]\d\d", code) else None
    if status in TRANSIENT_STATUSES:
        return Temporary(NO_ANSWER)
    voice = voice_of({"error": error})
    if _refuses_content(status, voice):
        return ContentRefused(REFUSED)
    if status is not None and _refuses_key(status, voice, messages):
        return KeyRefused(NO_KEY)
    if status == 403:
        return BadRequest("The model's provider did not take the call (code 403).")
    return Temporary(NO_ANSWER)


def is_unreadable_call(status: int, body: Any) -> bool:
    """The provider could not read the call its model wrote; what the model wrote is never run."""
    voice = voice_of(body)
    return status == 400 and ("failed_generation" in voice.marks or bool(UNREADABLE_CODES.search(voice.codes)))


def _refuses_content(status: int | None, voice: Voice) -> bool:
    """In doubt it does: then a person reads the case, and nothing is held against the provider."""
    if voice.marks & CONTENT_MARKS or CONTENT_CODES.search(voice.codes):
        return True
    said = voice.unquoted
    return bool(CONTENT_WORDS.search(said) or (status == 403 and GUARDED_WORDS.search(said)))


def _refuses_key(status: int, voice: Voice, messages: Sequence[Message]) -> bool:
    """A 403 has to say so: guardrails and firewalls answer with one too, whatever the customer wrote."""
    if status != 403:
        return status in KEY_STATUSES
    if KEY_CODES.search(voice.codes):
        return True
    return any(not is_repeated(found[0], messages) for found in KEY_WORDS.finditer(voice.words))
