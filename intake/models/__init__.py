"""The case file's rows: the policy, what a customer asked, what staff and customer wrote, what came back."""

from intake.models.conversation import Question, Reply
from intake.models.photo import Photo
from intake.models.policy import PolicySection, PolicyVersion
from intake.models.request import RefundRequest
from intake.models.returns import Receipt, Return
from intake.models.step import Step

__all__ = [
    "Photo",
    "PolicySection",
    "PolicyVersion",
    "Question",
    "Receipt",
    "RefundRequest",
    "Reply",
    "Return",
    "Step",
]
