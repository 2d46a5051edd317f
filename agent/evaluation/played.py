"""What came of one playing of one scenario, as it travels from the scratch process to whoever asked."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from agent.evaluation.provider_use import ProviderUse
from agent.evaluation.scenario import Scenario
from agent.models import Evaluation, Trial


class Played(BaseModel):
    """`got` and `timeline` as `outcome.py` makes them; `differences` are sentences, none when it passed.

    `not_played` says why there is no end to compare (a process that died, rows that could not be made), else empty.
    `tokens_in`, `tokens_out`, `cost_micro` (millionths of a dollar): None when a provider did not say.
    `milliseconds`: the time of the agent's runs. `used`: what each provider did in it, also where it came to no end.
    """

    model_config = ConfigDict(frozen=True)

    kind: str
    scenario: str
    number: int = 1
    passed: bool = False
    differences: list[str] = Field(default_factory=list)
    wanted: dict[str, Any] = Field(default_factory=dict)
    got: dict[str, Any] = Field(default_factory=dict)
    timeline: list[dict[str, Any]] = Field(default_factory=list)
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_micro: int | None = None
    steps: int = 0
    milliseconds: int = 0
    provider: str = ""
    model: str = ""
    prompt_version: str = ""
    not_played: str = ""
    used: tuple[ProviderUse, ...] = ()

    def as_row(self, evaluation: Evaluation) -> Trial:
        """The unsaved row. Of many trials that passed, one timeline is enough to look at: the first one's."""
        return Trial(
            evaluation=evaluation,
            kind=self.kind,
            scenario=self.scenario,
            number=self.number,
            passed=self.passed,
            differences=self.differences,
            wanted=self.wanted,
            got=self.got,
            timeline=self.timeline if self.number == 1 or not self.passed else [],
            tokens_in=self.tokens_in,
            tokens_out=self.tokens_out,
            cost_micro=self.cost_micro,
            steps=self.steps,
            milliseconds=self.milliseconds,
        )


def could_not_be_played(scenario: Scenario, number: int, why: str, used: tuple[ProviderUse, ...] = ()) -> Played:
    """A failed trial without an end."""
    return Played(
        kind=scenario.kind,
        scenario=scenario.name,
        number=number,
        wanted=scenario.wanted.model_dump(mode="json"),
        differences=[f"It could not be played: {why}"],
        not_played=why,
        used=used,
    )
