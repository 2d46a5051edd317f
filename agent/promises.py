"""What a message to a customer promises, and whether it declines: by its words, in English. Pure.

A text is read clause by clause: what stands behind a "cannot" or a "not" is no promise. Of a team member's note only
that counts as the shop's word which is neither quoted nor told as what the customer says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from agent.prompts.fence import skeleton

SENTENCES = re.compile(r"(?<=[.!?])\s+|[;\u2014\u2013]|\s-\s|:\s")
CLAUSES = re.compile(
    r",\s*|\s\(|\)\s?"
    r"|\s(?:and|but|so|yet|however|although|though|while|because|since|therefore)\s"
)
QUOTED = re.compile(r"\"[^\"]*\"|[\u201c\u201e\u00ab][^\u201d\u201c\u00bb]*[\u201d\u201c\u00bb]|(?<!\w)'[^\"]*?'(?!\w)")
REPORTED = re.compile(
    r"(?<!\bas )\b(?:customer|client|buyer|you|he|she|they)\b(?: \w+)? "
    r"(?:say|said|write|wrote|written|tell|told|claim|ask|want|demand|insist|mention|request|expect|hop[ei]|threaten|argue|state|describe|report|thought|think|believe)\w*\b"
    r"|\baccording to\b|\bclaims? (?:that|to)\b|\bi (?:was|am|want|need)\b|\bmy\b|\bwe hope\b"
)

# They sound like a refusal and are none.
FREE_OF_CHARGE = re.compile(r"\b(?:no|without|free of) (?:extra |additional )?(?:cost|charge)\b|\bfor free\b")
REFUSES_A_REFUSAL = r"(?:\b(?:not|never) |n't )(?:been |being )?(?:declin|reject|refus|turned down)\w*"
IDIOMS = re.compile(
    r"\b(?:cannot|can't|can not) (?:wait|thank)\b|\bnot only\b|\bno (?:problem|worries|doubt|need|longer than)\b"
    rf"|(?:\bnot|n't|\bnever)(?: to)? (?:worry|hesitate)\b|{FREE_OF_CHARGE.pattern}|{REFUSES_A_REFUSAL}"
)
NO = r"(?:\b(?:cannot|not|no|nor|neither|never|nothing|unable|impossible)\b|n't\b)"
SAYS_NO = r"\b(?:declin(?:e|ed|ing)|reject(?:ed|ing)?|refus(?:e|ed|ing)|turn(?:ed|ing)? (?:\w+ ){0,3}?down)\b"
DENIES = re.compile(rf"{NO}|{SAYS_NO}")
# A clause with one of these is a statement of its own, one without goes on with that before it.
STATES_SOMETHING = re.compile(
    r"\b(?:we|you|your|our|it|they|this|that|will|shall|can|could|may|would|is|are|was|were|has|have|had|be|please)\b"
    r"|'(?:ll|ve|re|s)\b"
)
ASKED_FOR = (
    r"\b(?:refund\w*|reimburs\w*|repay\w*|money|return\w*|approv\w*|grant\w*|accept\w*|request\w*|claim\w*|yes|cover\w*"
    r"|offer\w*|pay (?:it|this|you|out|back)|(?:take|accept) (?:\w+ ){0,6}?back)\b"
)
DECLINES = re.compile(
    rf"{SAYS_NO}|\bsay no\b|{NO}.{{0,80}}?{ASKED_FOR}|{ASKED_FOR}.{{0,80}}?(?:{NO}|\b(?:closed|ended|passed|over)\b)"
)

GOODS = re.compile(
    r"\b(?:replacements?|vouchers?|credits?(?! card)|coupons?|discounts?|gifts?|compensation|reimbursement|goodwill"
    r"|exchange|bonus|rebate|new one|another one|dollars?|euros?|pounds?|usd|eur)\b|[$\u20ac\u00a3]"
    r"|(?<!feel )\bfree\b(?! (?:from|to)\b| of )"
)
BEFORE = (
    r"(?:\b(?:will|shall|can|could|may|would|we|i|gladly|happily|hereby|now|also|already|soon|shortly|today|have|has|are"
    r"|be|(?:happy|glad|pleased|going|decided|like|ready|able|agreed|plan|planning|want|delighted|willing) to)"
    r"|'(?:ll|ve|re))"
)
GIVE = (
    r"(?:refund|repay|pay|reimburs|compensat|credit|transfer|send|sent|giv|gave|offer|provid|ship|deliver|issu|grant"
    r"|arrang|add|replac|exchang|repair|waiv|approv|authori[sz]|reconsider|return|paid)(?:e|en|d|ed|ing|ting)?"
)
WE_GIVE = re.compile(rf"(?<!\byou ){BEFORE} (?:\w+ly )?({GIVE})\b(?! us\b| requests?\b| windows?\b)")
IS_GIVEN = re.compile(
    r"\b(?:is|are|was|were|been|be|being|gets?|got)(?: \w+ly| now| already| also| just| being)* "
    r"(approved|granted|authori[sz]ed|refunded|credited|reimbursed|compensated|transferred|repaid|waived|guaranteed)\b"
    r"|\b(?:will|shall|to|is|are)(?: now| soon| shortly)? (?:be|being) "
    r"(sent|paid|shipped|issued|given|replaced|exchanged)\b"
    r"|\b(?:refunds?|money|payment)\b(?! requests?\b).{0,30}?\b(processed|completed?|issued|started|confirmed|sent)\b"
)
MONEY = r"\b(refunds?|money|payment|amount)\b"
YOU_GET = re.compile(
    rf"(?:\b(?:will|shall|can|may|should|to)|'ll)(?: \w+ly| now| soon)? (?:get|receive|have|see|expect|collect|claim)\b"
    rf".{{0,40}}?{MONEY}|\b(?:visit|click|log in|go to|use)\b.{{0,60}}?{MONEY}"
    rf"|{MONEY}.{{0,20}}?\b(?:will|should) (?:arrive|appear|reach|be there|come)\b"
)
STATES = re.compile(
    r"\bon (?:its|the|their|your) way\b|\bgood news\b|\bcongratulations\b|\bguarantee\w*|\bpromise\b|\bbinding\b"
    r"|\bentitled\b|\beligible\b|\bqualif(?:y|ies)\b|\bmoney[- ]back\b|\bmake an exception\b|\bmade an exception\b"
)
LIMITED = re.compile(r"\bonly\b.{0,40}?\b(?:if|when|within|where|items?|orders?|requests?)\b")
IRREGULAR = {"sent": "send", "paid": "pay", "gave": "give", "given": "give", "repaid": "repay"}
ENDING = re.compile(r"(?:ting|ing|en|ed|es|e|s|d)\Z")
ADDRESS = re.compile(r"\S*@\S*|(?<![\w.])\w[\w-]*(?:\.[\w-]+)*\.[a-z]{2,}(?![\w-])\S*", re.IGNORECASE)


@dataclass(frozen=True)
class _Clause:
    """`denied`: it goes on with one that says no."""

    text: str
    denied: bool

    def promised(self, kind: re.Pattern[str]) -> Iterator[str]:
        plain = IDIOMS.sub(" ", self.text)
        for found in kind.finditer(plain):
            reach = plain if kind is GOODS else plain[: found.end()]
            if not self.denied and not DENIES.search(reach):
                yield next((group for group in found.groups() if group), found[0])


def declines(text: str) -> bool:
    """Some sentence of it says no."""
    return any(DECLINES.search(sentence) for sentence in SENTENCES.split(IDIOMS.sub(" ", skeleton(text))))


def own_promises(text: str, note: str) -> list[str]:
    """What a model promises in it, or the addresses it sends people to, that the note does not as the shop's word."""
    own = _Own(note)
    promised = (word for clause in _clauses(text) for word in _promised(clause, own))
    return [*promised, *(address for address in _addresses(text) if address not in own.addresses)]


class _Own:
    """The shop's own words of a note."""

    def __init__(self, note: str) -> None:
        clauses = [clause.text for clause in _clauses(QUOTED.sub(" ", note)) if not clause.denied]
        self.words = " ".join(text for text in clauses if not DENIES.search(IDIOMS.sub(" ", text)))
        self.stems = frozenset(_stem(word) for word in re.findall(r"\w+|[$\u20ac\u00a3]", self.words))
        self.addresses = frozenset(_addresses(" ".join(clauses)))

    def has(self, word: str) -> bool:
        return word in self.words if " " in word else _stem(word) in self.stems


def _promised(clause: _Clause, own: _Own) -> Iterator[str]:
    if LIMITED.search(clause.text):
        return
    yield from (found[0] for found in FREE_OF_CHARGE.finditer(clause.text) if not own.has(found[0]))
    goods = list(clause.promised(GOODS))
    yield from (word for word in goods if not own.has(word))
    giving = () if goods else clause.promised(WE_GIVE)  # "we can give you a voucher" tells the note's "voucher instead"
    yield from (word for word in giving if not own.has(word))
    for kind in (IS_GIVEN, YOU_GET, STATES):
        yield from (word for word in clause.promised(kind) if not own.has(word))


def _clauses(text: str) -> Iterator[_Clause]:
    """Without those that tell what the customer said."""
    for sentence in SENTENCES.split(skeleton(text)):
        denied = False
        for clause in filter(str.strip, CLAUSES.split(sentence)):
            denied = denied and not STATES_SOMETHING.search(clause)
            if not REPORTED.search(clause):
                yield _Clause(clause, denied)
            denied = denied or DENIES.search(IDIOMS.sub(" ", clause)) is not None


def _stem(word: str) -> str:
    return ENDING.sub("", IRREGULAR.get(word, word))


def _addresses(text: str) -> list[str]:
    return [found[0].rstrip(".,;:!?)").casefold() for found in ADDRESS.finditer(text)]
