# What calling a factory gives, which its metaclass hides from the type checker.
from typing import Any, Protocol, TypeVar

from django.contrib.auth.models import User
from django.db.models import Model

from agent.models import Approval, Run
from intake.models import PolicyVersion, RefundRequest
from payments.models import Charge, Order, OrderLine, Refund

Row = TypeVar("Row", bound=Model)

class Makes(Protocol[Row]):
    def __call__(self, **given: Any) -> Row: ...
    def create(self, **given: Any) -> Row: ...
    def build(self, **given: Any) -> Row: ...
    def create_batch(self, size: int, **given: Any) -> list[Row]: ...

SUPPORT_PERMISSIONS: tuple[str, ...]

CustomerFactory: Makes[User]
StaffFactory: Makes[User]
OrderFactory: Makes[Order]
LineFactory: Makes[OrderLine]
ChargeFactory: Makes[Charge]
RefundFactory: Makes[Refund]
PolicyFactory: Makes[PolicyVersion]
RequestFactory: Makes[RefundRequest]
RunFactory: Makes[Run]
ApprovalFactory: Makes[Approval]

def __getattr__(name: str) -> Any: ...
