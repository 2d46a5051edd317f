"""The ordinary admin pages: what happened is read here, never rewritten. Importing registers them with the desk."""

from desk.admin import brake, decisions, orders, people, policy, provider_events, refunds, runs

__all__ = ["brake", "decisions", "orders", "people", "policy", "provider_events", "refunds", "runs"]
