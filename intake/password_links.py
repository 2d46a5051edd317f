"""A link to set a password, for who has forgotten theirs or never had one: asked for on a page, made and mailed by a
worker. Whoever asks learns nothing about who has an account."""

from __future__ import annotations

import logging
from functools import partial

from celery import current_app
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.core.mail import EmailMessage
from django.db import transaction
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from intake.counted import count_up, counts, key_of
from intake.refusals import Refusal
from intake.sign_in_guard import place_of

MAIL_TASK = "intake.tasks.mail_password_link"
# Nobody waits for a mail that comes later than this.
MAIL_WITHIN_SECONDS = 3600
NOBODY = 0
MAX_LINKS = 5
MAX_LINKS_OF_A_PLACE = 50
REST_SECONDS = 60 * 60
TOO_MANY = (
    "A link was asked for several times for this e-mail. Look through your mail, also where unwanted mail goes, or try"
    " again in an hour."
)
TOO_MANY_FROM_HERE = "Many links were asked for from your network. Try again in an hour."
NOT_SENT = "The link could not be sent just now. Try again in a minute."
SPANS = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))

logger = logging.getLogger(__name__)


def are_offered() -> bool:
    """Only a shop that sends mail can send one."""
    return bool(settings.EMAIL_URL)


def bound(request: HttpRequest, email: str) -> None:
    """Counts that a link was asked for. Raises Refusal too_many_requests, for an e-mail nobody has as for any other."""
    account_key, place = key_of("password-links:account", email.lower()), place_of(request)
    place_key = key_of("password-links:place", place) if place else ""
    asked = counts(account_key, place_key)
    if asked.get(account_key, 0) >= MAX_LINKS:
        raise Refusal("too_many_requests", TOO_MANY)
    if asked.get(place_key, 0) >= MAX_LINKS_OF_A_PLACE:
        raise Refusal("too_many_requests", TOO_MANY_FROM_HERE)
    count_up(account_key, place_key, seconds=REST_SECONDS)


def mail_after_commit(user_pk: int, origin: str) -> None:
    """Has a worker mail the link. `NOBODY` is handed over too: it takes as long as for somebody. Raises Refusal
    try_again when the broker is away."""
    transaction.on_commit(partial(_hand_over, user_pk, origin))


def mail_link(user_pk: int, origin: str) -> bool:
    """Makes the link under `origin` and mails it; False when there is no such active account (any more)."""
    user = User.objects.filter(pk=user_pk, is_active=True).first()
    if user is None:
        return False
    uid, token = urlsafe_base64_encode(force_bytes(user.pk)), default_token_generator.make_token(user)
    context = {
        "user": user,
        "link": f"{origin}{reverse('password-set', args=[uid, token])}",
        "valid_for": valid_for(),
        "shop": settings.SHOP_NAME,
    }
    subject = " ".join(render_to_string("intake/password_mail_subject.txt", context).split())
    mail = EmailMessage(subject, render_to_string("intake/password_mail.txt", context), to=[user.username])
    mail.extra_headers["Auto-Submitted"] = "auto-generated"
    mail.send()
    return True


def valid_for() -> str:
    """How long a link works: `3 days`, `1 hour`. Never longer than it does."""
    seconds = settings.PASSWORD_RESET_TIMEOUT
    span, name = next((span, name) for span, name in SPANS if seconds % span == 0 or seconds > 2 * span)
    count = seconds // span
    return f"{count} {name}{'' if count == 1 else 's'}"


def _hand_over(user_pk: int, origin: str) -> None:
    try:
        current_app.send_task(
            MAIL_TASK, args=[user_pk, origin], expires=MAIL_WITHIN_SECONDS, ignore_result=True, retry=False
        )
    except Exception as error:  # whatever the broker's client raises
        logger.warning("a link for a password could not be handed to a worker: %s", error)
        raise Refusal("try_again", NOT_SENT) from error
