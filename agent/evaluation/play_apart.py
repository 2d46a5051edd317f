"""Plays one scenario once in a scratch process: what a page of the desk asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent.evaluation.allowance import Allowance
from agent.evaluation.child import ChildDied, started_child
from agent.evaluation.job import Job, encoded
from agent.evaluation.options import read_options
from agent.evaluation.played import Played, could_not_be_played
from agent.evaluation.scenario import Scenario
from agent.evaluation.scratch import scratch_folder
from agent.evaluation.scratch_environment import ScratchTrouble
from agent.evaluation.wished_chain import check_provider


def play_case(
    scenario: Scenario,
    options: Mapping[str, Any],
    *,
    kept_photos: Mapping[str, bytes] | None = None,
    seconds: float = 300.0,
    allowance: Allowance | None = None,
) -> Played:
    """One trial with `options` (`{"provider", "model", "policy": {...}, "prompt"}`); touches no row of this database.

    `kept_photos`: stored copies by the name the scenario gives them; they are kept as they are. What goes wrong in the
    process, or takes longer than `seconds`, is said in `not_played`. `allowance`: what the shop still
    allows its providers. Raises BadOptions.
    """
    wish = read_options(options)
    check_provider(wish)
    copies = encoded(dict(kept_photos or {}))
    job = Job(scenario=scenario, options=wish, stored_copies=copies, allowance=allowance or Allowance())
    try:
        with scratch_folder() as scratch, started_child(scratch) as child:
            return child.play(job, seconds)
    except ChildDied as death:
        return could_not_be_played(scenario, 1, death.sentence, death.used)
    except ScratchTrouble as trouble:
        return could_not_be_played(scenario, 1, trouble.sentence)
