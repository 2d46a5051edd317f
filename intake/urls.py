from django.urls import URLPattern, URLResolver, path

from intake import answer_views, password_views, refund_views, views
from intake.sign_in_views import SignIn, SignOut

urlpatterns: list[URLPattern | URLResolver] = [
    path("", views.orders, name="orders"),
    path("sign-in", SignIn.as_view(), name="sign-in"),
    path("sign-out", SignOut.as_view(), name="sign-out"),
    path("password", password_views.AskForLink.as_view(), name="password"),
    path("password/sent", password_views.LinkSent.as_view(), name="password-sent"),
    path("password/set/<uidb64>/<token>", password_views.SetPassword.as_view(), name="password-set"),
    path("password/done", password_views.PasswordDone.as_view(), name="password-done"),
    path("orders/<path:number>/refund/<path:sku>", refund_views.refund_new, name="refund-new"),
    path("requests", views.requests, name="requests"),
    path("requests/<str:uuid>", answer_views.request_page, name="request"),
    path("requests/<str:uuid>/news", answer_views.request_news, name="request-news"),
    path("requests/<str:uuid>/answer", answer_views.answer, name="answer"),
    path("policy", views.policy, name="policy"),
    path("photos/<str:uuid>", views.photo, name="photo"),
]
