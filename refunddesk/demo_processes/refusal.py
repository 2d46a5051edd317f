"""Why the demo does not start or goes on no longer, as a sentence for the terminal."""

from __future__ import annotations


class DemoRefused(Exception):
    """The text says what is wrong and what to do."""
