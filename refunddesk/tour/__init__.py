"""The demo's ten stories, played through the HTTP API against a running demo."""
