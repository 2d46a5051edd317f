"""One line of the doctor's: about what, whether it is well, and what was found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "note", "missing"]


@dataclass(frozen=True)
class Finding:
    """`missing`: the desk needs it and does not have it; `note`: worth knowing, nothing to do."""

    state: State
    about: str
    words: str

    def __str__(self) -> str:
        return f"{self.state:<8} {self.about:<9} {self.words}"
