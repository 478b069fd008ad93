# Everything starts here; `make` alone lists what there is.
PYTHON ?= python3

VENV := .venv
BIN := $(VENV)/bin/python
PIP := $(BIN) -m pip --disable-pip-version-check install --quiet --constraint constraints.txt
STAMP := $(VENV)/.installed

# Two test workers, or a benchmark and its peer, must not fight over cores with the threads of BLAS.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

# Paths of another Python (a sourced ROS, a notebook's environment) must not leak into this one.
unexport PYTHONPATH PYTHONHOME VIRTUAL_ENV

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
JUDGED ?= build/judged.jsonl
POSSIBLE ?= build/possible.jsonl
CASES ?= 640
# Cases that nobody looked at while thresholds were set (some of 1000 to 1639 were, since); another number gives others.
FIRST ?= 2000

.PHONY: help setup demo test test-slow judge possible lint bench docs clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo "  PYTHON=python3.12 chooses the interpreter, ARGS='-k scara' goes to pytest."

setup: $(STAMP)-test ## create .venv with dynid and all that its tests need

demo: $(STAMP)-core ## run examples/demo.py, a first tour
	$(BIN) examples/demo.py

test: setup ## run the tests, the linters and the type checker
	$(ONE_THREAD) $(BIN) -m pytest -n 2 $(ARGS)

test-slow: setup ## run the Monte-Carlo and large-log tests
	$(ONE_THREAD) $(BIN) -m pytest -n 2 -m slow $(ARGS)

judge: setup ## rates of the verdict on robots with known defects: 640 sound and some 1200 damaged cases, 20 to 40 minutes
	mkdir -p $(dir $(JUDGED))
	cd tests && $(ONE_THREAD) $(abspath $(BIN)) -m population.run --half showing --first $(FIRST) --cases $(CASES) --page $(abspath docs/judges.md) $(abspath $(JUDGED))

possible: setup ## rates of the possible robot on drawn robots: 300 sound and some 550 damaged cases, 10 minutes
	mkdir -p $(dir $(POSSIBLE))
	cd tests && $(ONE_THREAD) $(abspath $(BIN)) -m population.possible --half showing --page $(abspath docs/consistency.md) $(abspath $(POSSIBLE))

lint: setup ## check style, format and types only
	$(BIN) -m ruff check .
	$(BIN) -m ruff format --check .
	$(BIN) -m mypy

bench: $(STAMP)-bench ## run the benchmarks and renew their tables in the documentation
	@set -e; for script in $(filter-out benchmarks/_%,$(sort $(wildcard benchmarks/*.py))); do \
		echo "== $$script"; $(ONE_THREAD) $(BIN) $$script; \
	done
	$(BIN) benchmarks/_publish.py

docs: $(STAMP)-docs ## build the documentation into build/docs; a broken link is an error
	$(BIN) -m sphinx --fail-on-warning --keep-going --quiet -b html docs build/docs
	@echo "Open build/docs/index.html"

clean: ## remove the environment, builds and caches
	rm -rf $(VENV) build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests benchmarks examples docs -name __pycache__ -type d -prune -exec rm -rf {} +

# One stamp per set of requirements, so that nothing is installed again until a requirement changes.
$(VENV)/pyvenv.cfg:
	@command -v $(PYTHON) >/dev/null || { echo "There is no '$(PYTHON)' on this machine; install Python 3.11 or newer, or name it: make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "dynid needs Python 3.11 or newer, but '$(PYTHON)' is $$($(PYTHON) --version 2>&1); name a newer one: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo "'$(PYTHON) -m venv' failed; some systems keep it in a package of its own, such as python3-venv." >&2; exit 1; }

$(STAMP)-core: $(VENV)/pyvenv.cfg pyproject.toml constraints.txt
	$(PIP) --editable .
	@touch $@

$(STAMP)-test $(STAMP)-docs $(STAMP)-bench: $(STAMP)-%: $(VENV)/pyvenv.cfg pyproject.toml constraints.txt
	$(PIP) --editable '.[$*]'
	@touch $(STAMP)-core $@
