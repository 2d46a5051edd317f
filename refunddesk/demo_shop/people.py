"""Who works and who buys at the demo shop. Everyone signs in with `settings.DEMO_PASSWORD`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Person:
    """`group` is the staff group (`support`, `lead`); customers have none."""

    first_name: str
    last_name: str
    group: str = ""

    @property
    def email(self) -> str:
        return f"{self.first_name}.{self.last_name}@example.com".lower()

    @property
    def full_name(self) -> str:
        return f"{self.first_name} {self.last_name}"


MAYA = Person("Maya", "Okafor", "lead")
DANIEL = Person("Daniel", "Reyes", "support")
STAFF = (MAYA, DANIEL)

PRIYA = Person("Priya", "Raman")
AIKO = Person("Aiko", "Tanaka")
LUCAS = Person("Lucas", "Moreau")
TOM = Person("Tom", "Becker")
HANNAH = Person("Hannah", "Schulz")
GRACE = Person("Grace", "Liu")
OMAR = Person("Omar", "Haddad")
SAM = Person("Sam", "Patel")
CUSTOMERS = (PRIYA, AIKO, LUCAS, TOM, HANNAH, GRACE, OMAR, SAM)

EVERYONE = STAFF + CUSTOMERS
