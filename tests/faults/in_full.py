"""Runs every fault test, on SQLite in bounded form and on PostgreSQL in full, and closes with one table.

    python -m tests.faults.in_full [arguments for pytest]

Ends 0 only if both runs passed, nothing was skipped, and (without arguments) something of every kind was tried.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from tests.faults.report import FaultReport, read_line, table

CRASHES, RANDOM_LIVES = "tests.faults.crash", "tests.faults.test_random_lives"
# The beginning of a test module's name -> what its tests are counted as, unless they count for themselves.
KINDS = {
    CRASHES: "crash points",
    "tests.faults.races": "races",
    "tests.agent.test_races": "races",
    RANDOM_LIVES: "random lives",
    "tests.faults.test_time_cases": "time cases",
    "tests.faults": "outages and kills",
    "tests.payments.test_provider": "outages and kills",
    "tests": "other faults",
}
COUNT_FOR_THEMSELVES = (CRASHES, RANDOM_LIVES)
TWO_AT_ONCE = ["-n", "2", "--dist", "loadfile", "--no-loadscope-reorder"]
PYTEST = [
    sys.executable,
    "-m",
    "pytest",
    "-m",
    "faults",
    "--nothing-skipped",
    "-o",
    "junit_family=xunit1",
    *TWO_AT_ONCE,
]
ON_POSTGRES = [sys.executable, "-m", "tests.postgres_cluster"]


def main(arguments: list[str]) -> int:
    with tempfile.TemporaryDirectory(prefix="refunddesk-faults-") as folder:
        runs = {
            "SQLite, bounded": ([], {}, Path(folder) / "sqlite.xml"),
            "PostgreSQL, in full": (ON_POSTGRES, {"FAULTS_FULL": "1"}, Path(folder) / "postgres.xml"),
        }
        passed, found = True, {}
        for name, (before, env, results) in runs.items():
            command = [*before, *PYTEST, f"--junitxml={results}", *arguments]
            ended = subprocess.run(command, env={**os.environ, **env}, check=False).returncode
            passed &= ended == 0
            found[name] = counted(results)
    tried = arguments or all(report.tried for reports in found.values() for report in reports.values())
    print(table(found, passed=bool(passed and tried)))
    return 0 if passed and tried and not any_failure(found) else 1


def any_failure(found: dict[str, dict[str, FaultReport]]) -> bool:
    return any(report.failures for reports in found.values() for report in reports.values())


def counted(results: Path) -> dict[str, FaultReport]:
    """Kind -> what was tried of it, from pytest's JUnit file; nothing of any kind when there is no file."""
    reports = {kind: FaultReport(kind) for kind in KINDS.values()}
    cases = ElementTree.parse(results).iter("testcase") if results.exists() else ()
    for case in cases:
        _count(case, reports)
    return reports


def _count(case: ElementTree.Element, reports: dict[str, FaultReport]) -> None:
    """What pytest itself stumbled over has no module, and counts as well."""
    module, name = case.get("classname", ""), case.get("name", "")
    kind = next((kind for start, kind in KINDS.items() if module.startswith(start)), KINDS["tests"])
    report = reports[kind]
    failed = case.find("failure") is not None or case.find("error") is not None
    for told in filter(None, (read_line(each.get("value", "")) for each in case.iter("property"))):
        reports.setdefault(told.what, FaultReport(told.what)).add(told)
        failed &= not told.failures
    if not module.startswith(COUNT_FOR_THEMSELVES):
        report.tried += 1
    if failed:
        report.failures.append(f"{module}::{name}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
