"""Fixtures with real programs behind them, and what a run does with tests that its database or machine cannot carry."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.core.files.storage import FileSystemStorage
from django.utils.module_loading import import_string

from intake.models import Photo
from refunddesk.celery import app
from tests.postgres_cluster import NoPostgres, cluster
from tests.processes import DeskPrograms, RedisServer

MEASURED = "measured"
ROWS = frozenset({"db", "transactional_db"})
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--nothing-skipped", action="store_true", help="a skipped test fails the run, as in CI")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Row locks need PostgreSQL; what no PostgreSQL below it can change runs once, beside SQLite.

    Those with real programs go first, so that two test processes share the waiting.
    """
    on_postgres = settings.DATABASES["default"]["ENGINE"].endswith("postgresql")
    left_out = _runs_once if on_postgres else _needs_row_locks
    deselected = [item for item in items if left_out(item)]
    if deselected:
        config.hook.pytest_deselected(items=deselected)
    kept = [item for item in items if not left_out(item)]
    items[:] = sorted(kept, key=_starts_programs, reverse=True)


def _needs_row_locks(item: pytest.Item) -> bool:
    return item.get_closest_marker("postgres") is not None


def _runs_once(item: pytest.Item) -> bool:
    """A desk of its own, a browser, or no rows at all; faults are caused on both."""
    if any(item.get_closest_marker(name) for name in ("once", "browser")):
        return True
    return not item.get_closest_marker("faults") and not _asks_the_database(item)


def _asks_the_database(item: pytest.Item) -> bool:
    fixtures = getattr(item, "fixturenames", ())
    return item.get_closest_marker("django_db") is not None or not ROWS.isdisjoint(fixtures)


def _starts_programs(item: pytest.Item) -> bool:
    return any(item.get_closest_marker(name) for name in ("once", "worker"))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if session.config.getoption("--nothing-skipped") and reporter and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        reporter.write_line("Nothing may be skipped in this run.", red=True)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What tests measured is told at the end, whether they ran here or in another process."""
    reports = [report for outcome in ("passed", "failed") for report in terminalreporter.stats.get(outcome, [])]
    for report in reports:
        for name, sentence in report.user_properties:
            if name == MEASURED:
                terminalreporter.write_line(f"{report.nodeid}: {sentence}")


@pytest.fixture
def tell(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """For numbers that are worth reading although the test passed."""
    return lambda sentence: record_property(MEASURED, sentence)


@pytest.fixture(autouse=True)
def own_shelf_of_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process keeps the looks of pictures by digest; tests make digests up, and must not find each other's."""
    monkeypatch.setattr("intake.look_alikes.keeper", import_string("intake.shelf_of_looks.ShelfKeeper")())


@pytest.fixture
def own_photo_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Photos kept by this test lie in a folder of their own."""
    folder = tmp_path / "photos"
    folder.mkdir()
    monkeypatch.setattr(Photo._meta.get_field("file"), "storage", FileSystemStorage(location=folder))
    return folder


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    yield server
    server.kill()


@pytest.fixture
def real_redis(redis_server: RedisServer) -> Iterator[RedisServer]:
    """A real Redis, empty; a test may kill it or freeze it."""
    redis_server.empty()
    yield redis_server
    redis_server.thaw()
    if not redis_server.answers():
        redis_server.start_again()


@pytest.fixture
def real_broker(real_redis: RedisServer, monkeypatch: pytest.MonkeyPatch) -> RedisServer:
    """What this process itself sends to Celery goes to the real Redis."""
    monkeypatch.setitem(app.conf, "broker_url", real_redis.url)
    monkeypatch.setattr(app, "_pool", None)
    monkeypatch.setattr(app.amqp, "_producer_pool", None)
    monkeypatch.setattr(settings, "REDIS_URL", real_redis.url)
    return real_redis


@pytest.fixture
def programs(transactional_db: None, real_redis: RedisServer, tmp_path: Path) -> Iterator[DeskPrograms]:
    """Real workers, beat and web on this test's committed rows."""
    started = DeskPrograms(real_redis.url, tmp_path)
    yield started
    started.stop()


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A private PostgreSQL for tests that bring their own desk."""
    try:
        with cluster() as url:
            yield url
    except NoPostgres as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def chromium_path() -> str:
    found = next((path for path in map(shutil.which, CHROMIUM) if path), None)
    if found is None:
        pytest.skip("Chromium was not found: install the package chromium (apt-get install chromium).")
    return found
