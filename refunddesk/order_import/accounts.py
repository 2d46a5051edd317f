"""The customer's account: found by the e-mail in lower case, which is the username, or made without a password."""

from __future__ import annotations

from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.db.models import Q

from refunddesk.order_import.given import GivenCustomer
from refunddesk.order_import.refused import Refused

FIELD = "customer.email"


def names_of_staff() -> frozenset[str]:
    """Usernames and e-mails of staff in lower case, also of one whose username was typed with capitals."""
    staff = User.objects.filter(Q(is_staff=True) | Q(is_superuser=True)).values_list("username", "email")
    return frozenset(name.lower() for names in staff for name in names if name)


def account_of(customer: GivenCustomer, staff: frozenset[str]) -> User:
    """An account that is there stays as it is, whatever name the file gives. Raises Refused."""
    if customer.email in staff:
        raise _belongs_to_staff(customer.email)
    account, _ = User.objects.get_or_create(
        username=customer.email,
        defaults={
            "email": customer.email,
            "first_name": customer.first_name,
            "last_name": customer.last_name,
            "password": make_password(None),
        },
    )
    if account.is_staff or account.is_superuser:
        raise _belongs_to_staff(customer.email)
    return account


def _belongs_to_staff(email: str) -> Refused:
    return Refused(FIELD, f"{email} is a staff account; an order belongs to a customer. Nothing was changed there.")
