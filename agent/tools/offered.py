"""The tools there are, and which of them a review offers."""

from __future__ import annotations

from agent.tools.get_order import GET_ORDER
from agent.tools.get_refund_history import GET_REFUND_HISTORY
from agent.tools.inspect_photo import INSPECT_PHOTO
from agent.tools.issue_refund import ISSUE_REFUND
from agent.tools.read_policy import READ_POLICY
from agent.tools.request_approval import REQUEST_APPROVAL
from agent.tools.tool import Tool

TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (GET_ORDER, GET_REFUND_HISTORY, READ_POLICY, INSPECT_PHOTO, ISSUE_REFUND, REQUEST_APPROVAL)
}


def offered_tools(*, may_refund: bool) -> list[Tool]:
    """Once staff are in, `issue_refund` is not offered (and refused when it is called all the same)."""
    return [tool for tool in TOOLS.values() if may_refund or not tool.money]
