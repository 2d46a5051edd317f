"""Starts the worker process that dies where it is told to: Django first, then everything that knows models."""

from __future__ import annotations

from importlib import import_module

import django

if __name__ == "__main__":
    django.setup()
    import_module("tests.faults.crash.forks").serve()
