"""Addresses of the staff API, below `/api/v1/`, without a slash at the end."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from desk.api import ApprovalView, DecisionView, QueueView, ReceiptView

urlpatterns: list[URLPattern | URLResolver] = [
    path("queue/<str:slug>", QueueView.as_view(), name="api-queue"),
    path("approvals/<str:approval_id>", ApprovalView.as_view(), name="api-approval"),
    path("approvals/<str:approval_id>/decision", DecisionView.as_view(), name="api-decision"),
    path("requests/<str:request_uuid>/receipts", ReceiptView.as_view(), name="api-receipts"),
]
