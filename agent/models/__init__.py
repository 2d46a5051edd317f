"""The agent's rows: its runs, the cards it hands over, what staff decided, and the shop's brake."""

from agent.models.approval import Approval, Decision
from agent.models.brake import BudgetDay, Switch
from agent.models.chain import ChainAnchor, ChainRecord
from agent.models.run import Run

__all__ = ["Approval", "BudgetDay", "ChainAnchor", "ChainRecord", "Decision", "Run", "Switch"]
