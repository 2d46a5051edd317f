"""How the desk's templates write what models used: tokens, costs, and who was passed over."""

from __future__ import annotations

from django import template

from agent.llm.used import Used
from agent.models import Run
from desk.activity import Block
from desk.model_cost import cost_in_a_table, dollars, known_cost
from intake.models import Step

register = template.Library()


@register.filter
def thousands(number: int) -> str:
    return f"{number:,}"


@register.filter
def cost_of_use(used: Used) -> str:
    return known_cost(used.cost_micro, used.calls, used.calls_without_cost)


@register.filter
def cost_in_row(used: Used) -> str:
    return cost_in_a_table(used.cost_micro, used.calls, used.calls_without_cost)


@register.filter
def run_cost(run: Run) -> str:
    return "cost unknown" if run.cost_micro is None else dollars(run.cost_micro)


@register.filter
def step_model(step: Step) -> str:
    """`groq · llama-4 · 800 tokens in, 40 out · $0.0009`, `scripted model`; empty for a step without a model."""
    if not step.model:
        return ""
    if step.provider == "scripted":
        return "scripted model"
    known = step.tokens_in is not None and step.tokens_out is not None
    tokens = f"{step.tokens_in:,} tokens in, {step.tokens_out:,} out" if known else "tokens unknown"
    cost = "cost unknown" if step.cost_micro is None else dollars(step.cost_micro)
    return " · ".join([*dict.fromkeys(part for part in (step.provider, step.model) if part), tokens, cost])


@register.filter
def first_passed_over(step: Step, block: Block) -> list[dict[str, str]]:
    """The providers this step passed over for a reason that no earlier step of its block has told."""
    told = _told_before(step, block)
    return [one for one in step.skipped if one not in told]


@register.filter
def passed_over_again(step: Step, block: Block) -> list[dict[str, str]]:
    """Those an earlier step of the block passed over for the same reason."""
    told = _told_before(step, block)
    return [one for one in step.skipped if one in told]


def _told_before(step: Step, block: Block) -> list[dict[str, str]]:
    return [one for earlier in block.steps if earlier.position < step.position for one in earlier.skipped]
