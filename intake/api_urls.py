from django.urls import URLPattern, URLResolver, path, re_path
from drf_spectacular.views import SpectacularAPIView
from rest_framework.permissions import AllowAny

from intake import api

urlpatterns: list[URLPattern | URLResolver] = [
    path("token", api.TokenView.as_view(), name="api-token"),
    path("orders", api.OrdersView.as_view(), name="api-orders"),
    path("photos", api.PhotosView.as_view(), name="api-photos"),
    path("requests", api.RequestsView.as_view(), name="api-requests"),
    path("requests/<str:uuid>", api.RequestView.as_view(), name="api-request"),
    path("requests/<str:uuid>/replies", api.RepliesView.as_view(), name="api-replies"),
    path("schema", SpectacularAPIView.as_view(permission_classes=[AllowAny]), name="api-schema"),
    re_path(r"^.*$", api.NothingHere.as_view(), name="api-nothing"),
]
