"""Works runs in forks that die where they are told to.

Django is set up once and forked for each job, so that a job costs no start. A job is one JSON line on its input:
`{"run": "<id>", "fatal": "after commit 3", "frozen": ""}`, or `{"wake": <pid>}` for one that sleeps; the answer is one
JSON line with the exit code (or the sleeper's process id) and how many commits and calls there were.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
import uuid
from typing import Any

from django.db import connections

from agent import announce
from agent.llm.scripted_eyes import known_pictures
from agent.runs import claim
from agent.tasks import work
from tests.faults.crash.bank import open_bank
from tests.faults.crash.points import Moments, watch

# Process id of a sleeping fork -> where its counts will come.
ASLEEP: dict[int, int] = {}


def serve() -> None:
    warm_up()
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        job = json.loads(line)
        answer = wake(int(job["wake"])) if "wake" in job else work_in_a_fork(job)
        print(json.dumps(answer), flush=True)


def warm_up() -> None:
    """What every fork would otherwise do again: modules, the eyes' pictures, the first queries' classes."""
    announce.ring = lambda run_id: True
    known_pictures()
    open_bank()
    claim(uuid.uuid4())
    connections.close_all()


def work_in_a_fork(job: dict[str, Any]) -> dict[str, Any]:
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        work_and_exit(job, writing)
    os.close(writing)
    _, status = os.waitpid(pid, os.WUNTRACED)
    if os.WIFSTOPPED(status):
        ASLEEP[pid] = reading
        return {"asleep": pid}
    return ended(status, reading)


def wake(pid: int) -> dict[str, Any]:
    os.kill(pid, signal.SIGCONT)
    _, status = os.waitpid(pid, 0)
    return ended(status, ASLEEP.pop(pid))


def ended(status: int, reading: int) -> dict[str, Any]:
    with os.fdopen(reading) as pipe:
        counts = json.loads(pipe.read() or "{}")
    return {"exit": os.waitstatus_to_exitcode(status), **counts}


def work_and_exit(job: dict[str, Any], writing: int) -> None:
    """Never returns: a fork that fell through would serve beside its template."""
    code = 1
    try:
        moments = Moments(fatal=job.get("fatal", ""), frozen=job.get("frozen", ""))
        watch(moments)
        work(job["run"])
        counts = {"commits": moments.seen["commit"], "calls": moments.seen["call"]}
        os.write(writing, json.dumps(counts).encode())
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)
