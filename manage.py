#!/usr/bin/env python
import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line
from django.db import InterfaceError, OperationalError


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "refunddesk.settings")
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(f"Not configured: {error}")
    except (InterfaceError, OperationalError) as error:
        if "--traceback" in sys.argv:
            raise
        words = " ".join(str(error).split())
        sys.exit(f"The database could not be used: {words} (`manage.py doctor` says what answers.)")


if __name__ == "__main__":
    main()
