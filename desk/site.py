"""The desk: Django's admin with the queue as its first page and our own pages beside the ordinary ones."""

from __future__ import annotations

from functools import update_wrapper
from typing import Any

from django.conf import settings
from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import URLPattern, URLResolver, path, reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from desk import act_views, evaluation_pages, live_views, run_again_pages, save_scenario_pages, views
from desk.acts import Act
from desk.forms import StaffSignInForm
from desk.frame import frame_of
from desk.lost_session import sign_in_and_back
from desk.models_page import models_page
from desk.not_allowed import not_allowed
from desk.proof import proof
from intake.case_access import NOT_FOR_YOU, may_see_requests
from intake.sign_in_views import demo_context


class DeskSite(AdminSite):
    """Named "admin", so that Django's own admin pages and templates find their addresses."""

    site_title = f"{settings.SHOP_NAME} Desk"
    site_header = f"{settings.SHOP_NAME} Desk"
    index_title = "Needs approval"
    site_url = None
    enable_nav_sidebar = False
    login_form = StaffSignInForm

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:  # type: ignore[override]
        return redirect("admin:queue", slug="needs-approval")

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return super().login(request, {**demo_context(staff_only=True), **(extra_context or {})})

    def logout(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:  # type: ignore[override]
        """Only a button signs out; whoever comes by the address finds one."""
        return super().logout(request, extra_context) if request.method == "POST" else redirect("sign-out")

    def get_urls(self) -> list[URLResolver | URLPattern]:
        return [
            self._page("queue/<slug:slug>/", views.queue, "queue"),
            self._page("queue/<slug:slug>/<uuid:request_uuid>/", views.queue, "case"),
            self._page("requests/<uuid:request_uuid>/", views.find_case, "find-case"),
            self._page("requests/<uuid:request_uuid>/card", live_views.card, "case-card"),
            self._page("requests/<uuid:request_uuid>/steps", live_views.steps, "case-steps"),
            self._page("requests/<uuid:request_uuid>/decide", act_views.Decide.as_view(), "decide"),
            self._page("requests/<uuid:request_uuid>/receive", act_views.Receive.as_view(), "receive"),
            self._page("requests/<uuid:request_uuid>/take-back", act_views.TakeBack.as_view(), "take-back"),
            self._page("refunds/<uuid:refund_id>/proof/", proof, "proof"),
            self._page("models/", models_page, "models"),
            self._page("evaluations/", evaluation_pages.evaluations, "evaluations"),
            self._page("evaluations/trials/<int:trial_id>/", evaluation_pages.trial, "trial"),
            self._page("evaluations/<uuid:evaluation_id>/", run_again_pages.played_again, "played-again"),
            self._page("requests/<uuid:request_uuid>/again", run_again_pages.RunAgain.as_view(), "run-again"),
            self._page("requests/<uuid:request_uuid>/scenario", save_scenario_pages.save_as_scenario, "save-scenario"),
            self._page(
                "requests/<uuid:request_uuid>/scenario.zip", save_scenario_pages.download_scenario, "download-scenario"
            ),
            path("pause", self.admin_view(act_views.Pause.as_view()), name="pause"),
            self._page("counts", live_views.counts, "counts"),
            *super().get_urls(),
        ]

    def _page(self, route: str, view: Any, name: str) -> URLPattern:
        """A page about requests, for staff who may see them. One that only shows something takes nothing else."""
        shown = view if _is_act(view) else require_safe(view)

        def for_who_sees_requests(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not may_see_requests(request.user):
                raise PermissionDenied(NOT_FOR_YOU)
            answer: HttpResponseBase = shown(request, *args, **kwargs)
            return answer

        return path(route, self.admin_view(update_wrapper(for_who_sees_requests, view)), name=name)

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        """As Django's, but a button pressed after the session ran out leads the whole page to sign in and back."""
        inner = super().admin_view(view, cacheable)
        is_act = _is_act(view)

        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not self.has_permission(request) and request.path != reverse("admin:logout"):
                return sign_in_and_back(request, gives_draft_back=is_act)
            try:
                return inner(request, *args, **kwargs)
            except PermissionDenied as denied:
                if not may_see_requests(request.user):
                    raise  # the desk's frame counts requests, which this account may not see
                return not_allowed(request, denied)

        return never_cache(update_wrapper(guarded, inner))

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        context = super().each_context(request)
        if self.has_permission(request):
            context["frame"] = frame_of(request)
        return context


def _is_act(view: Any) -> bool:
    return issubclass(getattr(view, "view_class", object), Act)


site = DeskSite(name="admin")
