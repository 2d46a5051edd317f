from django.urls import URLPattern, URLResolver, include, path

from desk.site import site
from refunddesk.health import healthz

urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", healthz, name="healthz"),
    path("api/v1/", include("desk.api_urls")),
    path("api/v1/", include("intake.api_urls")),
    path("webhooks/", include("payments.urls")),
    path("desk/", site.urls),
    path("", include("intake.urls")),
]

handler404 = "refunddesk.not_found.not_found"
handler500 = "refunddesk.try_again.try_again_or_server_error"
