from django.urls import URLPattern, URLResolver, path

from payments.webhooks import stripe_webhook

urlpatterns: list[URLPattern | URLResolver] = [path("stripe", stripe_webhook, name="stripe-webhook")]
