"""What a scratch process is asked to play, as one line of JSON."""

from __future__ import annotations

import base64

from pydantic import BaseModel, ConfigDict, Field

from agent.evaluation.allowance import Allowance
from agent.evaluation.options import Options
from agent.evaluation.scenario import Scenario

# The first line a scratch process answers: it waits for jobs.
READY = "ready"
# The last line it is given: its parent is in order and cleans up. Without it, the parent is gone.
END = "end"


class Job(BaseModel):
    """One trial: `number` counts a scenario's trials from 1. `stored_copies`: name -> JPEG in base64.
    `allowance`: what the shop still allows its providers."""

    model_config = ConfigDict(frozen=True)

    scenario: Scenario
    number: int = 1
    options: Options = Options()
    allowance: Allowance = Allowance()
    stored_copies: dict[str, str] = Field(default_factory=dict)

    def pictures(self) -> dict[str, bytes]:
        return {name: base64.b64decode(encoded) for name, encoded in self.stored_copies.items()}


def encoded(pictures: dict[str, bytes]) -> dict[str, str]:
    return {name: base64.b64encode(jpeg).decode("ascii") for name, jpeg in pictures.items()}
