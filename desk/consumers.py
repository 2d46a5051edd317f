"""The desk's websockets: the open request with its timeline, and the queues with their counts."""

from __future__ import annotations

import asyncio
import uuid
from typing import ClassVar

from django.contrib.auth.models import User

from desk.case import find_request
from desk.frame import frame_for
from desk.news import case_news, counts_and_brake
from desk.presence import PresentConsumer
from intake.case_access import may_see_requests
from intake.live import DESK_GROUP, staff_group
from intake.live_consumer import Fragment, LiveConsumer, News
from intake.models import RefundRequest
from intake.refusals import Refusal


class StaffCaseConsumer(PresentConsumer):
    """Every step of one request, for staff, and who of them is there."""

    def find(self, user: User, request_uuid: uuid.UUID) -> RefundRequest | None:
        if not may_see_requests(user):
            return None
        try:
            return find_request(request_uuid)
        except Refusal:
            return None

    def group_name(self, request_uuid: uuid.UUID) -> str:
        return staff_group(request_uuid)

    def render_news(self, user: User, request: RefundRequest, rev: int) -> News:
        return case_news(request, rev)


class QueueConsumer(LiveConsumer):
    """Counts and brake, for every page of the desk; the page fetches its list when it is told something.

    The desk as a whole has no `rev`: each telling says how things stand and counts one up, so nothing can be missed.
    """

    # Every step of every request is a note; one telling a second is as live as a count needs to be.
    pace_seconds: ClassVar[float] = 1.0

    def may_listen(self, user: User) -> bool:
        return may_see_requests(user)

    def group_names(self) -> list[str]:
        self.noted = True
        self.told: tuple[Fragment, ...] = ()
        return [DESK_GROUP]

    def news_since(self, user: User, rev: int) -> News:
        """Without a note only what differs from the last telling is news."""
        fragments = counts_and_brake(frame_for(user))
        if not self.noted and fragments == self.told:
            return News(rev)
        self.noted, self.told = False, fragments
        return News(rev + 1, fragments)

    def _note(self) -> None:
        self.noted = True
        super()._note()

    async def _tell_once(self) -> bool:
        goes_on = await super()._tell_once()
        await asyncio.sleep(self.pace_seconds if goes_on else 0)
        return goes_on
