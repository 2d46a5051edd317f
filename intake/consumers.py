"""The websockets of a request's page. Staff pages subclass `CaseConsumer` too."""

from __future__ import annotations

import uuid

from django.contrib.auth.models import User

from intake.case_access import requests_of
from intake.live import customer_group
from intake.live_consumer import Fragment, LiveConsumer, News
from intake.models import RefundRequest
from intake.request_news import news_for_customer

__all__ = ["CaseConsumer", "Fragment", "News", "RequestConsumer"]


class CaseConsumer(LiveConsumer):
    """One request's page, gap-free; the URL's keyword argument `uuid` names the request.

    A subclass says three things, each called with a request as the database has it now:

    - `find(user, request_uuid) -> RefundRequest | None`: the request if this user may see it now, else None. Runs in
      a thread, before joining and again before every read, so a lost permission ends the socket at the next news or
      within `check_seconds`.
    - `group_name(request_uuid) -> str`: the group of `intake.live` whose notes concern the page.
    - `render_news(user, request, rev) -> News`: what is newer than `rev` (steps with `rev > rev`, in the order of
      `position`), rendered as fragments; `News(request.rev)` when there is nothing to show. Runs in a thread. Answer
      with `News(request.rev, reload=True)` when there is too much to send.

    `rev` is always `request.rev` as it was when the page or the news was rendered: read the request first and the
    steps after it. Requests with `rev` beyond the row's are answered with a reload here. The frames are described in
    `LiveConsumer`; `static/intake/live.js` speaks them (see its head for the attributes it reads).
    """

    def find(self, user: User, request_uuid: uuid.UUID) -> RefundRequest | None:
        raise NotImplementedError

    def group_name(self, request_uuid: uuid.UUID) -> str:
        raise NotImplementedError

    def render_news(self, user: User, request: RefundRequest, rev: int) -> News:
        raise NotImplementedError

    # -- what LiveConsumer asks ----------------------------------------------------------------------------------------

    @property
    def request_uuid(self) -> uuid.UUID:
        found: uuid.UUID = self.scope["url_route"]["kwargs"]["uuid"]
        return found

    def may_listen(self, user: User) -> bool:
        self.request = self.find(user, self.request_uuid)
        return self.request is not None

    def group_names(self) -> list[str]:
        return [self.group_name(self.request_uuid)]

    def news_since(self, user: User, rev: int) -> News:
        request = self.request  # read by `may_listen` in this same look
        if request is None or request.rev == rev:
            return News(rev)
        if rev > request.rev:
            return News(request.rev, reload=True)
        return self.render_news(user, request, rev)


class RequestConsumer(CaseConsumer):
    """The customer's page of one of their own requests."""

    def find(self, user: User, request_uuid: uuid.UUID) -> RefundRequest | None:
        return requests_of(user).select_related("line__order", "policy").filter(uuid=request_uuid).first()

    def group_name(self, request_uuid: uuid.UUID) -> str:
        return customer_group(request_uuid)

    def render_news(self, user: User, request: RefundRequest, rev: int) -> News:
        return news_for_customer(request, rev)
