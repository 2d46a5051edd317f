"""The shop's picture of an article, where there is one."""

from __future__ import annotations

import re
from functools import lru_cache

from django import template
from django.conf import settings
from django.contrib.staticfiles import finders
from django.templatetags.static import static

register = template.Library()

PLAIN_SKU = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


@register.simple_tag
def product_picture(sku: str) -> str:
    """The address of `products/<sku>.jpg` among the static files (in the demo `demo/products/<sku>.jpg`); empty when
    the shop has no such file, or the SKU could not be a file's name."""
    if not PLAIN_SKU.fullmatch(sku):
        return ""
    name = f"{'demo/' if settings.DEMO else ''}products/{sku}.jpg"
    if not _is_there(name):
        return ""
    try:
        return static(name)
    except ValueError:  # it was added after the static files were collected
        return ""


@lru_cache(maxsize=2000)
def _is_there(name: str) -> bool:
    return finders.find(name) is not None
