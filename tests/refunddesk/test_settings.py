"""What the environment may say, each case in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.processes import CODE

SECRET = "a secret of at least fifty characters, for this test"
PRINT = """
import json, os
os.environ["DJANGO_SETTINGS_MODULE"] = "refunddesk.settings"
from django.conf import settings
print(json.dumps({name: getattr(settings, name) for name in %r}, default=str))
"""


def read(data_dir: Path, *names: str, **env: str) -> dict[str, Any]:
    ran = _run(PRINT % (names,), data_dir, env)
    assert ran.returncode == 0, ran.stderr
    return dict(json.loads(ran.stdout))


def refusal(data_dir: Path, **env: str) -> str:
    ran = _run(PRINT % (("DEMO",),), data_dir, env)
    assert ran.returncode != 0
    return ran.stderr.splitlines()[-1].removeprefix("django.core.exceptions.ImproperlyConfigured: ")


def test_an_empty_value_means_the_default(tmp_path: Path) -> None:
    names = ("ALLOWED_HOSTS", "DEMO", "PORT", "LLM_API_KEY")
    empty = dict.fromkeys(("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "ALLOWED_HOSTS", "LLM_API_KEY"), "")

    found = read(tmp_path, *names, "DATABASES", **empty)

    assert found.pop("DATABASES")["default"]["NAME"] == str(tmp_path / "desk.sqlite3")
    assert found == {
        "ALLOWED_HOSTS": ["localhost", "127.0.0.1", "[::1]"],
        "DEMO": True,
        "PORT": 8000,
        "LLM_API_KEY": "",
    }


def test_two_demos_on_one_machine_keep_their_cookies_apart(tmp_path: Path) -> None:
    names = ("SESSION_COOKIE_NAME", "CSRF_COOKIE_NAME")
    first, second = (read(tmp_path, *names, PORT=port) for port in ("8000", "8001"))
    assert set(first.values()).isdisjoint(second.values())


def test_the_demo_says_where_its_redis_is_and_a_given_one_counts_more(tmp_path: Path) -> None:
    (tmp_path / "redis-url").write_text("redis://127.0.0.1:7001/0")
    assert read(tmp_path, "REDIS_URL") == {"REDIS_URL": "redis://127.0.0.1:7001/0"}
    given = "redis://127.0.0.1:7002/0"
    assert read(tmp_path, "REDIS_URL", REDIS_URL=given) == {"REDIS_URL": given}


@pytest.mark.parametrize("secret", ["", "short"])
def test_production_without_a_secret_of_its_own_does_not_start(tmp_path: Path, secret: str) -> None:
    assert "set SECRET_KEY" in refusal(tmp_path, DEMO="off", SECRET_KEY=secret)


def test_production_shows_no_internals(tmp_path: Path) -> None:
    assert "DEBUG must be off" in refusal(tmp_path, DEMO="off", SECRET_KEY=SECRET, DEBUG="on")


@pytest.mark.parametrize("name", ["AUTO_REFUND_LIMIT_CENTS", "REFUND_WINDOW_DAYS", "RETURN_CHECK_DELAY_MINUTES"])
@pytest.mark.parametrize("value", ["0", "-1", "fifty", "9" * 5_000])
def test_a_rule_that_is_no_number_above_zero_is_refused(tmp_path: Path, name: str, value: str) -> None:
    said = refusal(tmp_path, **{name: value})
    assert said.startswith(f"{name} must be a whole number from 1 to ")
    assert len(said) < 200


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("PORT", "99999999", "PORT must be a whole number from 1 to 65,535, not '99999999'."),
        ("CALL_MAX_SECONDS", "1e9", "CALL_MAX_SECONDS must be a whole number from 1 to 3,600, not '1e9'."),
        ("REVIEW_MAX_ROUNDS", "-1", "REVIEW_MAX_ROUNDS must be a whole number from 1 to 50, not '-1'."),
        ("WORKER_THREADS", "0", "WORKER_THREADS must be a whole number from 1 to 1,000, not '0'."),
        (
            "SCRIPTED_MODEL_DELAY_SECONDS",
            "nan",
            "SCRIPTED_MODEL_DELAY_SECONDS must be a number of seconds from 0 to 40, not 'nan'.",
        ),
        ("SHOP_CURRENCY", "XXXX", "SHOP_CURRENCY must be an ISO code such as USD, not 'XXXX'."),
        (
            "EMAIL_URL",
            "pigeon://secret",
            "EMAIL_URL must be written like smtp+tls://user:password@mail.example.com:587.",
        ),
        (
            "EMAIL_URL",
            "smtp://mail:port",
            "EMAIL_URL must be written like smtp+tls://user:password@mail.example.com:587.",
        ),
        ("SHOP_TIME_ZONE", "Nowhere/City", "SHOP_TIME_ZONE must be a zone such as Europe/Berlin, not 'Nowhere/City'."),
    ],
)
def test_what_cannot_be_is_refused_by_its_name(tmp_path: Path, name: str, value: str, sentence: str) -> None:
    assert refusal(tmp_path, **{name: value}) == sentence


def test_production_has_no_address_no_mail_and_no_model_of_the_demo(tmp_path: Path) -> None:
    names = ("RETURN_ADDRESS", "SCRIPTED_MODEL", "EMAIL_BACKEND")
    assert read(tmp_path, *names, DEMO="off", SECRET_KEY=SECRET) == {
        "RETURN_ADDRESS": [],
        "SCRIPTED_MODEL": "never",
        "EMAIL_BACKEND": "django.core.mail.backends.dummy.EmailBackend",
    }


def test_the_shop_s_post_and_mail_are_read_as_they_are_written(tmp_path: Path) -> None:
    env = {"RETURN_ADDRESS": "Bohne GmbH | Hafenstr. 4, Hof | 20457 Hamburg |", "SHOP_EMAIL": "hallo@bohne.example"}
    mail = "smtp+tls://hallo%40bohne.example:a%2Fb@mail.bohne.example:587"
    names = ("EMAIL_HOST", "EMAIL_PORT", "EMAIL_USE_TLS", "EMAIL_HOST_USER", "EMAIL_HOST_PASSWORD")
    assert read(tmp_path, *names, "RETURN_ADDRESS", "DEFAULT_FROM_EMAIL", EMAIL_URL=mail, **env) == {
        "EMAIL_HOST": "mail.bohne.example",
        "EMAIL_PORT": 587,
        "EMAIL_USE_TLS": True,
        "EMAIL_HOST_USER": "hallo@bohne.example",
        "EMAIL_HOST_PASSWORD": "a/b",
        "RETURN_ADDRESS": ["Bohne GmbH", "Hafenstr. 4, Hof", "20457 Hamburg"],
        "DEFAULT_FROM_EMAIL": "hallo@bohne.example",
    }


def test_production_sends_people_to_https(tmp_path: Path) -> None:
    names = ("SECURE_SSL_REDIRECT", "SESSION_COOKIE_SECURE", "CSRF_COOKIE_SECURE", "ALLOWED_HOSTS")
    found = read(tmp_path, *names, DEMO="off", SECRET_KEY=SECRET)
    assert found == {**dict.fromkeys(names[:3], True), "ALLOWED_HOSTS": []}


def _run(program: str, data_dir: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name in {"PATH", "HOME", "LANG"}}
    command = [sys.executable, "-c", program]
    return subprocess.run(
        command, cwd=CODE, env={**kept, "DATA_DIR": str(data_dir), **env}, capture_output=True, text=True, check=False
    )
