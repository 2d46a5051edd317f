"""The agent's rows: its runs, the cards it hands over, what staff decided, the brake, and how well it does."""

from agent.models.approval import Approval, Decision
from agent.models.brake import BudgetDay, Switch, SwitchThrow
from agent.models.chain import ChainAnchor, ChainRecord
from agent.models.evaluation import Evaluation, Trial
from agent.models.model_use import ProviderState, TokenDay
from agent.models.run import Run

__all__ = [
    "Approval",
    "BudgetDay",
    "ChainAnchor",
    "ChainRecord",
    "Decision",
    "Evaluation",
    "ProviderState",
    "Run",
    "Switch",
    "SwitchThrow",
    "TokenDay",
    "Trial",
]
