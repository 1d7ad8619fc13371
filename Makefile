# `make demo` and `make test` need Python 3.11 or newer and nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check

# Small matrices are faster on one thread, and results are then repeatable bit for bit.
export OPENBLAS_NUM_THREADS = 1
export OMP_NUM_THREADS = 1
export MKL_NUM_THREADS = 1

.PHONY: demo test test-slow bench experiments clean help

help:
	@echo "make demo         fit the bundled data sets; reports, figures and models go to demo/"
	@echo "make test         lint, types and the quick tests"
	@echo "make test-slow    the slow tests"
	@echo "make bench        compare with other packages (writes docs/benchmarks.md)"
	@echo "make experiments  the papers' tables and figures, with few repetitions"
	@echo "make clean        remove the environment and everything made by the above"

# An interrupted or failed installation leaves no stamp, so it is started again.
$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	  || { echo "error: Python 3.11 or newer is needed; name one with: make PYTHON=/path/to/python" >&2; exit 1; }
	@echo "creating $(VENV) (once; it takes a minute or two)"
	@$(PYTHON) -m venv --clear $(VENV)
	@$(PIP) install -e ".[dev,plots,persistence]"
	@touch $@

demo: $(STAMP)
	@mkdir -p demo
	$(BIN)/sparsebayes fit -o demo/model.skops --figures demo
	@echo
	$(BIN)/sparsebayes fit --task classification -o demo/classifier.skops --figures demo/classification

test: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest --doctest-modules sparsebayes -q
	$(BIN)/python -m pytest -n 2 -q

test-slow: $(STAMP)
	$(BIN)/python -m pytest -m slow -q

bench: $(STAMP)
	@$(PIP) install -e ".[bench]"
	$(BIN)/python -m benchmarks

experiments: $(STAMP)
	$(BIN)/python -m experiments --quick all

clean:
	rm -rf $(VENV) demo results build dist .mypy_cache .ruff_cache .pytest_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
