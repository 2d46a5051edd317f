"""What the schema of the HTTP API says of the staff's calls."""

from __future__ import annotations

from django.test import Client


def test_the_schema_tells_what_was_given_back_by_hand(db: None) -> None:
    schemas = Client().get("/api/v1/schema", headers={"Accept": "application/json"}).json()["components"]["schemas"]
    assert schemas["ApprovalOut"]["properties"]["made_elsewhere"]["items"] == {
        "$ref": "#/components/schemas/MadeElsewhereOut"
    }
    assert set(schemas["MadeElsewhereOut"]["properties"]) == {"amount", "currency", "at", "reference"}


def test_the_schema_tells_how_each_call_of_staff_is_refused(db: None) -> None:
    paths = Client().get("/api/v1/schema", headers={"Accept": "application/json"}).json()["paths"]
    documented = {
        (path.removeprefix("/api/v1/"), method): sorted(call["responses"])
        for path, calls in paths.items()
        for method, call in calls.items()
    }
    looks, acts = ["200", "401", "403", "404"], ["201", "400", "401", "403", "404", "409"]
    assert documented["queue/{slug}", "get"] == ["200", "400", "401", "403", "404"]
    assert documented["approvals/{approval_id}", "get"] == looks
    assert documented["approvals/{approval_id}/decision", "post"] == acts
    assert documented["requests/{request_uuid}/receipts", "post"] == acts


def test_the_schema_names_the_case_against(db: None) -> None:
    answer = Client().get("/api/v1/schema", headers={"Accept": "application/json"})
    shown = answer.json()["components"]["schemas"]["ApprovalOut"]
    assert {"counter_case", "would_change"} < set(shown["required"])
    assert shown["properties"]["would_change"] == {"type": "string"}
    assert shown["properties"]["counter_case"]["nullable"] is True
    assert shown["properties"]["counter_case"]["allOf"] == [{"$ref": "#/components/schemas/PointOut"}]
