"""Why an order of the file is not taken."""

from __future__ import annotations


class Refused(Exception):
    """`field` is where it stands in the order, like `lines[0].paid`; `sentence` says what is wrong with it."""

    def __init__(self, field: str, sentence: str) -> None:
        super().__init__(sentence)
        self.field = field
        self.sentence = sentence

    def __str__(self) -> str:
        return f"{self.field}: {self.sentence}"
