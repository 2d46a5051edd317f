"""All settings, read from the environment in this one place by typed readers that fail loudly. See `.env.example`."""

from __future__ import annotations

import sys
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any
from zoneinfo import available_timezones

import environ
from babel.numbers import is_currency
from django.core.exceptions import ImproperlyConfigured

from agent.llm.provider import Provider
from refunddesk.fixed_settings import (  # noqa: F401 - Django reads them from here
    ASGI_APPLICATION,
    CONTENT_SECURITY_POLICY,
    INSTALLED_APPS,
    MIDDLEWARE,
    REST_FRAMEWORK,
    ROOT_URLCONF,
    SECURE_REFERRER_POLICY,
    SPECTACULAR_SETTINGS,
    X_FRAME_OPTIONS,
)
from refunddesk.model_settings import read_chain, read_dollars, read_limit, read_scripted
from refunddesk.read_number import seconds, whole_number
from refunddesk.schedule import RUNS_QUEUE, timetable
from refunddesk.shop_settings import read_address, read_mail

BASE_DIR = Path(__file__).resolve().parent.parent
env = environ.Env()
environ.Env.read_env(str(BASE_DIR / ".env"), overwrite=False)
_read = partial(env.str, default="")

DEMO_SECRET_KEY = "demo-only-not-a-secret-demo-only-not-a-secret-demo-only"  # noqa: S105 - refused below outside the demo
DEMO_PASSWORD = "pourhaven-demo-2026"  # noqa: S105 - printed by `make demo`
DEMO_RETURN_ADDRESS = "Pourhaven Returns | 1200 Harbor Way, Unit 4 | Oakland, CA 94607"

# -- what kind of installation this is ----------------------------------------------------------------------------

# The demo shop on one machine: known passwords, plain HTTP, `manage.py reset`. Off means production.
DEMO: bool = env.bool("DEMO", default=True)
DEBUG: bool = env.bool("DEBUG", default=False)
SECRET_KEY: str = env.str("SECRET_KEY", default="") or DEMO_SECRET_KEY
if not DEMO and (SECRET_KEY == DEMO_SECRET_KEY or len(SECRET_KEY) < 50):
    raise ImproperlyConfigured("DEMO is off: set SECRET_KEY to a secret of your own, of at least 50 characters.")
if not DEMO and DEBUG:
    raise ImproperlyConfigured("DEMO is off: DEBUG must be off too, it would show internals to visitors.")

PORT: int = whole_number(_read, "PORT", 8000, high=65_535)
DATA_DIR = Path(env.str("DATA_DIR", default="") or BASE_DIR / "var").resolve()
_innermost = DATA_DIR / "static" if DEMO else DATA_DIR
try:
    # The innermost first; a demo that cannot start takes back what was not there before.
    MADE_FOLDERS: list[Path] = [folder for folder in (_innermost, *_innermost.parents) if not folder.exists()]
    _innermost.mkdir(parents=True, exist_ok=True)
except OSError as _error:
    raise ImproperlyConfigured(f"DATA_DIR: {DATA_DIR} cannot be made or written ({_error.strerror}).") from _error
_LOOPBACK = ["localhost", "127.0.0.1", "[::1]"]
ALLOWED_HOSTS: list[str] = env.list("ALLOWED_HOSTS", default=[]) or (_LOOPBACK if DEMO else [])
CSRF_TRUSTED_ORIGINS: list[str] = env.list("CSRF_TRUSTED_ORIGINS", default=[])

# -- the shop and its rules ---------------------------------------------------------------------------------------

SHOP_NAME: str = env.str("SHOP_NAME", default="Pourhaven")
# Where returned goods go, line by line. Empty outside the demo until it is set, which a system check refuses.
RETURN_ADDRESS: tuple[str, ...] = read_address(
    env.str("RETURN_ADDRESS", default="") or (DEMO_RETURN_ADDRESS if DEMO else "")
)
SHOP_CURRENCY: str = env.str("SHOP_CURRENCY", default="USD")
if not is_currency(SHOP_CURRENCY):
    raise ImproperlyConfigured(f"SHOP_CURRENCY must be an ISO code such as USD, not {SHOP_CURRENCY!r}.")
SHOP_TIME_ZONE: str = env.str("SHOP_TIME_ZONE", default="America/Los_Angeles")
if SHOP_TIME_ZONE not in available_timezones():
    raise ImproperlyConfigured(f"SHOP_TIME_ZONE must be a zone such as Europe/Berlin, not {SHOP_TIME_ZONE!r}.")
# These three only fill policy version 1; afterwards the newest policy version is what holds.
AUTO_REFUND_LIMIT_CENTS: int = whole_number(_read, "AUTO_REFUND_LIMIT_CENTS", 5000)
REFUND_WINDOW_DAYS: int = whole_number(_read, "REFUND_WINDOW_DAYS", 30, high=3_650)
RETURN_CHECK_DELAY_MINUTES: int = whole_number(_read, "RETURN_CHECK_DELAY_MINUTES", 10_080, high=525_600)
REQUESTS_PER_DAY: int = whole_number(_read, "REQUESTS_PER_DAY", 20, high=10_000)

STRIPE_SECRET_KEY: str = env.str("STRIPE_SECRET_KEY", default="")
STRIPE_WEBHOOK_SECRET: str = env.str("STRIPE_WEBHOOK_SECRET", default="")
STRIPE_API_BASE: str = env.str("STRIPE_API_BASE", default="")

# Where mail goes out; the demo writes it into its log, and without an address none is offered.
EMAIL_URL: str = env.str("EMAIL_URL", default="consolemail://" if DEMO else "")
vars().update(read_mail(EMAIL_URL))
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL: str = env.str("SHOP_EMAIL", default="") or "refunds@example.com"

# -- the model ----------------------------------------------------------------------------------------------------

LLM_API_KEY: str = env.str("LLM_API_KEY", default="")
LLM_BASE_URL: str = env.str("LLM_BASE_URL", default="https://openrouter.ai/api/v1")
LLM_MODEL: str = env.str("LLM_MODEL", default="openai/gpt-6-luna")
LLM_VISION_MODEL: str = env.str("LLM_VISION_MODEL", default="") or LLM_MODEL
# The providers in the order they are asked; without a chain, LLM_API_KEY is one of one.
LLM_CHAIN: tuple[Provider, ...] = read_chain(_read)
SCRIPTED_MODEL: str = read_scripted(_read, default="last" if DEMO else "never")
LLM_CUSTOMER_TOKENS_PER_DAY: int | None = read_limit(_read, "LLM_CUSTOMER_TOKENS_PER_DAY")
LLM_RUN_TOKENS: int | None = read_limit(_read, "LLM_RUN_TOKENS")
LLM_RUN_COST: Decimal | None = read_dollars(_read, "LLM_RUN_COST")
# Seconds the scripted model waits before each answer, so that a demo can be watched and a kill test has a middle.
SCRIPTED_MODEL_DELAY_SECONDS: float = seconds(_read, "SCRIPTED_MODEL_DELAY_SECONDS", 0.0, high=40)

# Between the tries of a call that met a passing trouble, unless the provider names a time.
MODEL_PAUSES_SECONDS = (1.0, 3.0)
# Put at the end of a review's instructions; only a scratch process that tries another prompt sets it.
REVIEW_PROMPT_ADDITION = ""

# -- runs ---------------------------------------------------------------------------------------------------------

RUN_LEASE_SECONDS: int = whole_number(_read, "RUN_LEASE_SECONDS", 60, high=3_600)
RUN_MAX_SECONDS: int = whole_number(_read, "RUN_MAX_SECONDS", 300, high=3_600)
RUN_MAX_TRIES: int = whole_number(_read, "RUN_MAX_TRIES", 3, high=20)
REVIEW_MAX_ROUNDS: int = whole_number(_read, "REVIEW_MAX_ROUNDS", 8, high=50)
REVIEW_MAX_SECONDS: int = whole_number(_read, "REVIEW_MAX_SECONDS", 150, high=3_600)
CALL_MAX_SECONDS: int = whole_number(_read, "CALL_MAX_SECONDS", 45, high=3_600)
SWEEP_SECONDS: int = whole_number(_read, "SWEEP_SECONDS", 15, high=3_600)
ANNOUNCE_AGAIN_SECONDS: int = whole_number(_read, "ANNOUNCE_AGAIN_SECONDS", 60, high=3_600)

# -- applications -------------------------------------------------------------------------------------------------

TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "csp.context_processors.nonce",
            ],
        },
    },
]

# -- rows ---------------------------------------------------------------------------------------------------------

DATABASES: dict[str, dict[str, Any]] = {
    "default": env.db_url_config(env.str("DATABASE_URL", default="") or f"sqlite:///{DATA_DIR / 'desk.sqlite3'}")
}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    }
else:
    # A frozen process must not hold a row for longer than this (ms).
    DATABASES["default"].setdefault("OPTIONS", {}).update(
        options="-c idle_in_transaction_session_timeout=15000", connect_timeout=5
    )
    DATABASES["default"]["CONN_MAX_AGE"] = 0
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# -- people -------------------------------------------------------------------------------------------------------

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
LOGIN_URL = "sign-in"
LOGIN_REDIRECT_URL = "orders"
LOGOUT_REDIRECT_URL = "sign-in"
if DEMO:
    # Browsers send a cookie to every port of a host: two demos side by side must not sign each other's people out.
    SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = f"sessionid-{PORT}", f"csrftoken-{PORT}"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_FAILURE_VIEW = "intake.views.csrf_failure"
if not DEMO:
    SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = True
    SECURE_SSL_REDIRECT = env.bool("SECURE_SSL_REDIRECT", default=True)
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_HSTS_SECONDS = whole_number(_read, "SECURE_HSTS_SECONDS", 31_536_000, low=0)
    SECURE_REDIRECT_EXEMPT = [r"^healthz$"]

# -- language and time --------------------------------------------------------------------------------------------

LANGUAGE_CODE = "en-us"
TIME_ZONE = SHOP_TIME_ZONE
USE_TZ = True
USE_I18N = False
FORMAT_MODULE_PATH = "refunddesk.formats"

# -- files --------------------------------------------------------------------------------------------------------

STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "static" if DEMO else BASE_DIR / "staticfiles"
PHOTO_DIR = DATA_DIR / "photos"
PHOTO_BUCKET: str = env.str("PHOTO_BUCKET", default="")
STORAGES: dict[str, dict[str, Any]] = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": DATA_DIR / "files"}},
    "photos": {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": PHOTO_DIR, "base_url": None},
    },
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEMO
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}
if PHOTO_BUCKET:
    from boto3.s3.transfer import TransferConfig
    from botocore.config import Config

    STORAGES["photos"] = {
        "BACKEND": "storages.backends.s3.S3Storage",
        "OPTIONS": {
            "bucket_name": PHOTO_BUCKET,
            "endpoint_url": env.str("PHOTO_ENDPOINT_URL", default="") or None,
            "default_acl": "private",
            "querystring_auth": True,
            # A store that hangs must not hold a run past its lease.
            "client_config": Config(connect_timeout=5, read_timeout=15, retries={"total_max_attempts": 2}),
            "transfer_config": TransferConfig(num_download_attempts=1),
        },
    }
WHITENOISE_USE_FINDERS = DEMO
WHITENOISE_AUTOREFRESH = False
PHOTO_MAX_BYTES = 5 * 1024 * 1024
# A form with five photos at their limit, and room for its text.
DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
FILE_UPLOAD_MAX_MEMORY_SIZE = 6 * 1024 * 1024
FILE_UPLOAD_HANDLERS = ["intake.upload_limit.PhotoUploadHandler"]

# -- broker and live news -----------------------------------------------------------------------------------------

# `make demo` starts its own server on a free port and writes the address here for the other commands.
REDIS_URL_FILE = DATA_DIR / "redis-url"


def _redis_url_of_the_demo() -> str:
    return REDIS_URL_FILE.read_text().strip() if REDIS_URL_FILE.exists() else "redis://127.0.0.1:6379/0"


REDIS_URL_GIVEN: str = env.str("REDIS_URL", default="")
REDIS_URL: str = REDIS_URL_GIVEN or _redis_url_of_the_demo()
# `memory://`: one process alone, without a broker, as when scenarios are played.
ALONE: bool = REDIS_URL.startswith("memory:")
# Counts wrong passwords: shared by all web processes where Redis is given, else in each one's own memory.
CACHES: dict[str, dict[str, Any]] = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "OPTIONS": {"socket_connect_timeout": 1, "socket_timeout": 1},
    }
    if REDIS_URL_GIVEN and not ALONE
    else {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "OPTIONS": {"MAX_ENTRIES": 100_000}}
}
CELERY_BROKER_URL = REDIS_URL
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SERIALIZER = "json"
CELERY_TASK_PUBLISH_RETRY = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
# A publish never waits for a broker that is away (one try) or that does not answer (one second); the sweep rings again.
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "max_retries": 0,
    "socket_timeout": 1,
    "socket_connect_timeout": 1,
    "socket_keepalive": True,
    "health_check_interval": 10,
}
CELERY_BROKER_POOL_LIMIT = 50
CELERY_BROKER_POOL_ACQUIRE_TIMEOUT = 1
CELERY_BEAT_SCHEDULE = timetable(SWEEP_SECONDS)
CELERY_BEAT_SCHEDULE_FILENAME = str(DATA_DIR / "beat-schedule")
CELERY_TASK_DEFAULT_QUEUE = RUNS_QUEUE
CELERY_WORKER_POOL = "threads"
CELERY_WORKER_CONCURRENCY: int = whole_number(_read, "WORKER_THREADS", 64, high=1_000)
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TIMEZONE = "UTC"
CHANNEL_LAYERS: dict[str, dict[str, Any]] = {
    "default": {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": [{"address": REDIS_URL, "socket_connect_timeout": 1, "socket_timeout": 5}]},
    }
}
if ALONE:
    CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}

# -- log ----------------------------------------------------------------------------------------------------------

LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "stream": sys.stderr, "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": env.str("LOG_LEVEL", default="INFO")},
    "loggers": {name: {"level": "WARNING"} for name in ("httpx", "httpx2", "openai", "stripe")},
}
