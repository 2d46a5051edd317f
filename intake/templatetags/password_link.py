"""Whether a sign-in page offers a link to set a password."""

from __future__ import annotations

from django import template

from intake.password_links import are_offered

register = template.Library()


@register.simple_tag
def password_link_offered() -> bool:
    return are_offered()
