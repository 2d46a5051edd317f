"""Plays one scenario in this process, whose database must be an empty scratch shop."""

from __future__ import annotations

from collections.abc import Mapping

from agent.evaluation.acts import CannotAct, Play
from agent.evaluation.allowance import Allowance
from agent.evaluation.build import build
from agent.evaluation.changed_settings import as_wished
from agent.evaluation.evidence_files import NoSuchPicture, hand_in
from agent.evaluation.options import BadOptions, Options
from agent.evaluation.outcome import outcome_of
from agent.evaluation.played import Played, could_not_be_played
from agent.evaluation.scenario import Scenario
from intake.refusals import Refusal
from intake.submit_request import submit_request

NOBODY_ANSWERED = "No model answered a single call. See what `manage.py doctor` says of the provider."


def play_here(
    scenario: Scenario,
    number: int,
    options: Options,
    stored_copies: Mapping[str, bytes] | None = None,
    allowance: Allowance | None = None,
) -> Played:
    """Only in a process whose database is a scratch one: it writes people, orders and money."""
    with as_wished(options, scenario.provider, allowance or Allowance()):
        try:
            play, stopped = _play(scenario, options, stored_copies or {})
        except (BadOptions, NoSuchPicture, Refusal) as error:
            return could_not_be_played(scenario, number, str(error))
        played = outcome_of(play, scenario, number, stopped)
    if not played.provider and scenario.provider is None:
        return could_not_be_played(scenario, number, NOBODY_ANSWERED)
    return played


def _play(scenario: Scenario, options: Options, stored_copies: Mapping[str, bytes]) -> tuple[Play, str]:
    """The play and why it stopped before its last act, else an empty text."""
    stage = build(scenario, options.policy)
    photos = hand_in(stage.customer, scenario.request.photos, stored_copies)
    request = submit_request(
        customer=stage.customer,
        order_number=stage.order_number,
        sku=scenario.request.sku,
        reason=scenario.request.reason,
        details=scenario.request.details,
        units=scenario.request.units,
        photo_ids=[photo.pk for photo in photos],
        source="api",
    )
    play = Play(stage, request, stored_copies)
    try:
        play.work_off()
        for act in scenario.then:
            play.act(act)
    except CannotAct as reason:
        return play, reason.sentence
    return play, ""
