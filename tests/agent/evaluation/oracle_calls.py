"""What each call to the model comes to when its provider is in trouble, for the oracle (DESIGN section 4)."""

from __future__ import annotations

from itertools import chain, repeat

from agent.evaluation.scenario import ProviderTrouble

PASSING = ("busy", "times_out", "garbage")
TRIES = 3  # how often one call is made while the trouble is a passing one


class NoModel(Exception):
    """No model brings the review to an end, so a person gets the case without a recommendation."""


class Calls:
    """One answer after the other, for ever the last. Where another provider stands behind a failing one, the next in
    the chain answers; what a model itself says or refuses is no failure of its provider."""

    def __init__(self, trouble: ProviderTrouble | None) -> None:
        given = list(trouble.answers) if trouble else ["works"]
        if trouble and not trouble.alone:
            given = ["works" if answer in (*PASSING, "refuses_key") else answer for answer in given]
        self.answers = chain(given, repeat(given[-1]))

    def turn(self) -> None:
        """One turn of a review: a chat without a tool call is asked once more. Raises NoModel."""
        if self._once() == "no_tool_call" and self._once() == "no_tool_call":
            raise NoModel

    def look(self) -> bool:
        """Is there a report on the pictures, at the second time of asking at the latest? Raises NoModel."""
        return self._once() == "works" or self._once() == "works"

    def wording(self) -> None:
        """A message to the customer: a template stands in for whatever fails."""
        next(self.answers)

    def _once(self) -> str:
        for _ in range(TRIES):
            answer = next(self.answers)
            if answer in ("works", "no_tool_call"):
                return answer
            if answer not in PASSING:
                break
        raise NoModel
