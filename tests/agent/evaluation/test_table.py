from __future__ import annotations

from agent.evaluation.score import scores
from agent.evaluation.table import failing, share, table
from tests.agent.evaluation.cases import a_trial

MOST_COLUMNS = 100


def test_the_table_fits_a_terminal_and_names_each_kind() -> None:
    wide = a_trial(kind="a_kind_with_a_name_that_is_much_too_long_for_it"[:40], passed=False, wanted={"paid_minor": 0})
    lines = table(scores([a_trial(tokens_in=12_345_678, tokens_out=1_234_567, milliseconds=299_000), wide]))
    assert max(map(len, lines)) <= MOST_COLUMNS
    assert [line.split()[0] for line in lines[2:4]] == ["a_kind_with_a_name_t", "small"]
    assert "Wrongly paid (paid!): 1 trials, $34.00. Wrongly refused (refused!): 0." in lines


def test_a_failing_scenario_is_told_once_with_the_differences_of_its_first_failure() -> None:
    trials = [
        a_trial(number=1),
        a_trial(number=3, passed=False, differences=["Third."]),
        a_trial(number=2, passed=False, differences=["Second."]),
        a_trial(scenario="fine"),
    ]
    assert failing(trials) == ["small/carafe: 2 of 3 not as wanted", "    Second."]


def test_a_long_list_of_failures_is_cut() -> None:
    lines = failing(a_trial(scenario=f"s{number:02}", passed=False) for number in range(42))
    assert (len(lines), lines[-1]) == (41, "... and 2 more scenarios.")


def test_a_share_is_never_rounded_up_to_all() -> None:
    assert [share(value) for value in (None, 1.0, 0.9999, 0.5, 0.0)] == ["-", "100 %", "99.9 %", "50.0 %", "0.0 %"]
