"""Optional parts of a call that a model may refuse, and how its refusal names them. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent.llm.base import Message
from agent.llm.provider_voice import Voice, is_repeated

REFUSING_STATUSES = (400, 404, 415, 422)
EYES = r"(?:images?|pictures?|image_url|vision|multi-?modal)"
NO_PICTURES = re.compile(
    rf"(?:\bnot|n't|no endpoints found that|never) (?:accept|support|take|have|process|handle)(?:s|ed|ing)? "
    rf"(?:any |the |use of )*{EYES}(?:[ _](?:inputs?|urls?|contents?|understanding|capabilit\w+|parts?))*\b"
    rf"|\b{EYES}(?:[ _](?:inputs?|urls?|contents?|understanding|parts?))* (?:is|are) (?:not|only) "
    r"(?:supported|enabled|available|allowed|accepted)\b"
    r"|\bnot a (?:multi-?modal|vision)\b|\bunknown variant .{0,3}image_url|\bat most 0 image"
    r"|\bno endpoints found that support (?:image|vision|multi-?modal)|\binput modalit"
    r"|\b(?:only (?:supports? )?text|text[ -]only)\b"
    r"|\bcontents?\b.{0,60}?(?:must be a|expected a|should be a valid|should be a) string\b(?! with)"
)
# The model has eyes, and this picture does not suit them.
ONE_PICTURE = re.compile(
    r"unsupported image|formats?\b|mime|media[ _-]?type|\bsizes?\b|too (?:large|big|small|many|long)|\blarger\b"
    r"|\bmore than\b|dimension|resolution|pixel|\d ?[mk]b\b|valid image|image/|corrupt|decode|base64|download|fetch"
)
NO_TOOLS = re.compile(
    r"(?:not|n't) support(?:ed)? (?:the )?(?:use of )?(?:tool|function)"
    r"|tools?(?: use| calling)? (?:is|are) not (?:supported|available|enabled|allowed)"
)
REFUSING = r"(?:\b(?:not|unsupported|unknown|unrecogni[sz]ed|unexpected|invalid|extra|forbidden|only)|n't)\b"
STRICT = re.compile(rf"\bstrict\b.{{0,80}}?{REFUSING}|{REFUSING}.{{0,80}}?\bstrict\b")
WANTS_BACK = re.compile(r"reasoning_content|reasoning_details|thought_signature")
ANSWER_FORM = re.compile(r"response_format|json_schema")
# A limit's number is refused, and not its name; where the prompt's own length says so, a lower one is no news.
NUMBER_REFUSED = re.compile(
    r"too (?:large|big|high|long)|at most|maximum|exceed|<=|\d > \d|less than|greater than|\brange\b|\bbetween\b|fewer"
    r"|\babove\b|integer_above"
)
LENGTH_OF_THE_PROMPT = re.compile(
    r"context[ _]length|context window (?:of|is)|in the messages|input tokens|prompt (?:tokens|is|contains)"
)
WHOLE_NUMBER = re.compile(r"(?<![\w.])(\d{3,6})(?![\w.]*\w)")
THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
LEAST_TOKENS = 1_000


@dataclass(frozen=True)
class Features:
    """What a call makes use of. `send_back`: the model wants its own reasoning fields back with the next call.

    `json_schema` takes the place of a single tool when the model has no `tools`. `most_tokens`: all it may write.
    """

    strict: bool = True
    parallel_tool_calls: bool = True
    tool_choice: bool = True
    limit_name: str | None = "max_tokens"
    most_tokens: int | None = None
    send_back: bool = False
    tools: bool = True
    json_schema: bool = True
    pictures: bool = True

    def limit(self, max_tokens: int) -> int:
        """What a call that wants `max_tokens` may ask for."""
        return max_tokens if self.most_tokens is None else min(max_tokens, self.most_tokens)


DEFAULTS = Features()


@dataclass(frozen=True)
class Sent:
    """What stood in the refused call."""

    messages: Sequence[Message] = ()
    tools: int = 0
    pictures: bool = False
    max_tokens: int = 0


def refused_feature(status: int, voice: Voice, features: Features, sent: Sent) -> Features | None:
    """What to go on with after this error answer; None when it names no feature in use."""
    if status not in REFUSING_STATUSES:
        return None
    if sent.pictures and _says(NO_PICTURES, voice, sent) and not ONE_PICTURE.search(voice.words):
        return replace(features, pictures=False)
    return _without_tools(voice, features, sent) or _without_the_rest(voice, features, sent)


def _without_tools(voice: Voice, features: Features, sent: Sent) -> Features | None:
    if sent.tools and features.tools:
        if features.parallel_tool_calls and _names("parallel_tool_calls", voice, sent):
            return replace(features, parallel_tool_calls=False)
        if features.tool_choice and _names("tool_choice", voice, sent):
            return replace(features, tool_choice=False)
        if features.strict and (_is_place("strict", voice) or _says(STRICT, voice, sent)):
            return replace(features, strict=False)
        if sent.tools == 1 and _says(NO_TOOLS, voice, sent):
            return replace(features, tools=False)
    has_form = sent.tools and not features.tools and features.json_schema
    if has_form and (_is_place("response_format", voice) or _says(ANSWER_FORM, voice, sent)):
        return replace(features, json_schema=False)
    return None


def _without_the_rest(voice: Voice, features: Features, sent: Sent) -> Features | None:
    if features.limit_name and _names(features.limit_name, voice, sent):
        if NUMBER_REFUSED.search(f"{voice.words}\n{voice.places}\n{voice.codes}"):
            return _with_a_lower_limit(voice, features, sent)
        return replace(features, limit_name="max_completion_tokens" if features.limit_name == "max_tokens" else None)
    if not features.send_back and _says(WANTS_BACK, voice, sent):
        return replace(features, send_back=True)
    return None


def _with_a_lower_limit(voice: Voice, features: Features, sent: Sent) -> Features | None:
    """The highest number it names that is lower than what was asked for, else half of that."""
    said = THOUSANDS.sub("", f"{voice.words}\n{voice.places}")
    if LENGTH_OF_THE_PROMPT.search(said):
        return None
    asked = features.limit(sent.max_tokens)
    named = [int(number) for number in WHOLE_NUMBER.findall(said)]
    lower = max((number for number in named if number < asked), default=asked // 2)
    return replace(features, most_tokens=lower) if lower >= LEAST_TOKENS else None


def _names(name: str, voice: Voice, sent: Sent) -> bool:
    return _is_place(name, voice) or _says(re.compile(rf"\b{name}\b"), voice, sent)


def _is_place(name: str, voice: Voice) -> bool:
    """The part of the call that is refused, as the provider names it apart from its sentence."""
    return re.search(rf"(?<![\w]){name}(?!\w)", voice.places) is not None


def _says(what: re.Pattern[str], voice: Voice, sent: Sent) -> bool:
    """Its sentence does, in words that are not those of the conversation."""
    return any(not is_repeated(found[0], sent.messages) for found in what.finditer(voice.words))
