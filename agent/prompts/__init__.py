"""What the model is told. `PROMPT_VERSION` is kept with each run; it changes whenever a text in this folder does."""

PROMPT_VERSION = "2026-3"
