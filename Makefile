# Every target sets up .venv from the lock by itself and needs no root.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready-$(shell cksum requirements/dev.txt 2>/dev/null | cut -d' ' -f1)
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test test-postgres check faults evaluate lock setup

setup: $(READY)

$(READY): requirements/dev.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements/dev.txt
	rm -f $(VENV)/ready-*
	touch $@

demo: setup
	$(BIN)/python manage.py demo

test: setup
	$(BIN)/python -m pytest

check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy .
	$(BIN)/lint-imports
	$(BIN)/python manage.py check --fail-level WARNING
	$(BIN)/python manage.py makemigrations --check --dry-run
	$(BIN)/check-jsonschema --builtin-schema vendor.compose-spec docker-compose.yml

lock: setup
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header requirements/base.in -o requirements/base.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header -c requirements/base.txt requirements/dev.in -o requirements/dev.txt
