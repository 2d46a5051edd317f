# Every target sets up .venv from the lock by itself and needs no root. ARGS reaches pytest: make test ARGS="-k carafe"
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready-$(shell cksum requirements/dev.txt 2>/dev/null | cut -d' ' -f1)
PYTEST := $(BIN)/python -m pytest
TWO_AT_ONCE := -n 2 --dist loadfile --no-loadscope-reorder
ON_POSTGRES := $(BIN)/python -m tests.postgres_cluster
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test test-postgres check faults evaluate lock setup

setup: $(READY)

$(READY): requirements/dev.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed: make PYTHON=/path/to/python3 ..."; exit 1; }
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	@echo "Installing the lock into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --require-hashes -r requirements/dev.txt
	@rm -f $(VENV)/ready-*
	@touch $@

demo: setup
	@$(BIN)/python manage.py demo

test: setup
	$(PYTEST) $(TWO_AT_ONCE) $(ARGS)

test-postgres: setup
	$(ON_POSTGRES) $(PYTEST) $(TWO_AT_ONCE) $(ARGS)

# In full: every crash point and many more random lives than `make test` plays; closes with one table.
faults: setup
	$(BIN)/python -m tests.faults.in_full $(ARGS)

# ARGS reaches the command: make evaluate ARGS="--provider groq --only attacks".
evaluate: setup
	@$(BIN)/python manage.py migrate --no-input --verbosity 0
	@$(BIN)/python manage.py evaluate --trials 8 $(ARGS)

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
