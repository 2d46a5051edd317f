"""What in a customer's text speaks to the reviewer instead of about the item: orders, and approvals nobody gave.

Each sentence is read as an eye reads it (`fence.skeleton`). Rude, odd or short texts, other languages and honest uses
of the same words ("ignore my previous message", "I am the office manager") are left alone.
"""

from __future__ import annotations

import re

from agent.prompts.fence import REMOVED, skeleton

QUOTE_LENGTH = 90
MAX_CONCERNS = 3

RULE_WORDS = (
    r"rules?|instructions?|consignes|guidelines?|polic(?:y|ies)|prompt|checks?|approval|limits?|told|validation|review"
)
UNDENIED = r"(?<!not )(?<!n't )(?<!never )"
TEAM = r"manager|supervisor|boss|team ?lead|colleague|employee|staff|agent|representative|customer service|support"
STAFF_WORDS = rf"{TEAM}|maya|daniel|she|he|they|you"
APPROVED = r"approved|authori[sz]ed|okayed|signed off|green-?lit"
MONEY_WORDS = r"refund|claim|request|case|payout|amount|money|pay|dollars?"
OF_A_PURCHASE = r" (?:this|the|our|my|a|your) (?:purchase|order|payment|delivery|card|transaction)"

ORDERS = (
    rf"{UNDENIED}\b(?:ignor(?:e|ez)|disregard|override|bypass|skip)\b.{{0,40}}\b(?:{RULE_WORDS})\b",
    rf"{UNDENIED}\bforget\b.{{0,40}}\b(?:told|rules|instructions|guidelines|prompt)\b",
    r"\b(?:your only (?:job|task)|new instructions?|you are now|system prompt|(?:maintenance|developer|debug) mode)\b",
    r"^\s*(?:system|assistant|user|developer|tool)\s*(?:\([^)]*\))?\s*:",
    r"\b(?:issue_refund|request_approval|inspect_photo|get_order|read_policy|get_refund_history)\b",
    r"\b(?:call|invoke|execute|run)\b the \w+ (?:tool|function)\b",
    r"\b(?:mark|set|count|treat)s?\b.{0,30}\bas (?:paid|approved|refunded|passed|resolved)\b",
    r"\b(?:without|sans) (?:an? |any |more |further )?(?:human|approval|validation|review)\b",
    r"\bno (?:card|approval|checks?|review|photo) (?:is |are )?(?:needed|required|necessary)\b",
    r"\b(?:press|hit|push|click)\b.{0,10}\b(?:pay|refund|approve)\b",
    r"\b(?:two|three|several) separate (?:claims|requests|refunds)\b",
    r"\b(?:make|book|split|turn)\b.{0,25}\b(?:two|three|several) (?:\w+ )?(?:claims|refunds)\b",
    r"\b(?:decode|read the code|do what it says)\b|\b[a-z0-9+]{40,}",
    r"\b(?:paste|reveal|repeat|print)\b.{0,20}\b(?:everything|your instructions|your prompt)\b",
    r"\blist\b.{0,40}\bother (?:people|customers)\b",
    r"\bbinding (?:promise|offer)\b|\bevery (?:reply|answer) with\b",
    r"<\s*script|javascript:|\bon(?:error|load)\s*=",
    re.escape(REMOVED),
)
APPROVALS = (
    rf"\b(?:{STAFF_WORDS})\b.{{0,60}}\b(?:{APPROVED})\b(?!{OF_A_PURCHASE})",
    rf"\b(?:{STAFF_WORDS})\b.{{0,30}}\bsaid (?:yes\b|[$\d.,]+ (?:is|was) (?:fine|ok))",
    rf"\b(?:{TEAM})\b.{{0,30}}\b(?:said|told)\b.{{0,40}}\b(?:money back|refund of|\d+[.,]\d\d|\d+ dollars)\b",
    rf"\b(?:{STAFF_WORDS})\b.{{0,30}}\b(?:promised|agreed|confirmed|granted)\b.{{0,60}}\b(?:{MONEY_WORDS})",
    rf"\b(?:{MONEY_WORDS}|it)\b.{{0,20}}\b(?:was|been|is|got) (?:already |pre-?)?(?:{APPROVED})\b",
    rf"\b(?:{APPROVED})\b.{{0,40}}\bby (?:a|the|your|my) (?:{STAFF_WORDS}|shop|team)\b|\bpre-?approved\b",
    rf"\byour (?:team|shop|company|people)\b.{{0,30}}\b(?:promised|guaranteed|granted)\b.{{0,60}}\b(?:{MONEY_WORDS})\b",
    r"\b(?:so|as) we agreed?\b",
)
ORDER = re.compile("|".join(ORDERS))
APPROVAL = re.compile("|".join(APPROVALS))
SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")


def claims_in(text: str) -> list[str]:
    """One concern for each such sentence, at most three; an empty list for an ordinary text."""
    concerns = []
    for sentence in SENTENCE_END.split(text):
        concern = _concern(sentence.strip())
        if concern:
            concerns.append(concern)
    return concerns[:MAX_CONCERNS]


def _concern(sentence: str) -> str:
    read = skeleton(sentence)
    quote = _quote(sentence)
    if APPROVAL.search(read):
        return f"The customer claims an approval (“{quote}”). None is on record, so it counts for nothing here."
    if ORDER.search(read):
        return f"The customer's text gives instructions to the reviewer (“{quote}”). They were not followed."
    return ""


def _quote(sentence: str) -> str:
    words = " ".join(sentence.split())
    return words if len(words) <= QUOTE_LENGTH else f"{words[: QUOTE_LENGTH - 1].rstrip()}…"
