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
# Compiled tests are kept: to compile them again takes each worker as long as to find them.
unexport PYTHONDONTWRITEBYTECODE

# `make test-python` tries these besides the one of .venv; those that are not installed are skipped.
PYTHONS ?= 3.12 3.13 3.14
QUICK_TESTS = -m pytest -n 2 -q
DOC_TESTS = -m pytest --doctest-modules sparsebayes -n 2 -q

.PHONY: demo test lint types mutations test-slow test-devices test-browser test-floor test-python test-prerelease test-wheel docs test-docs linkcheck fuzz faults audit bench experiments clean help
.PRECIOUS: .venv-%/.installed

help:
	@echo "make demo         fit the bundled data sets; reports, figures and models go to demo/"
	@echo "make test         lint, types and the quick tests"
	@echo "make lint, types  these alone"
	@echo "make test-slow    the slow tests"
	@echo "make mutations    put 40 small faults into a copy, one at a time, and see which quick test finds each"
	@echo "make test-devices exported C by gcc, clang and arm-none-eabi-gcc, on an emulated Cortex-M; what is not installed is skipped"
	@echo "make test-browser the explorer's page in Chromium, if it is installed"
	@echo "make docs         the site, in docs/_build/html (its own environment: .venv-docs)"
	@echo "make test-docs    every code block of the site, and its spelling"
	@echo "make linkcheck    links of the site that lead elsewhere"
	@echo "make test-floor   the quick tests with the lowest versions that pyproject.toml allows (Python 3.11)"
	@echo "make test-python  the quick tests with each of Python $(PYTHONS) that is installed"
	@echo "make test-prerelease  the quick tests with the newest numpy, scipy, scikit-learn and pandas, pre-releases too"
	@echo "make faults       kills, interrupts, full disks, writers at once, forks and workers that die; prints counts"
	@echo "make audit        known weaknesses of the packages that .venv has"
	@echo "make test-wheel   build sdist and wheel, install the wheel into an empty environment and try it"
	@echo "make fuzz         every public name with inputs and arguments that nobody chose, for 30 minutes in two processes"
	@echo "make bench        compare with other packages (writes docs/evidence/benchmarks.md)"
	@echo "make experiments  the papers' tables and figures, with few repetitions"
	@echo "make clean        remove the environments and everything made by the above"

# An interrupted or failed installation leaves no stamp, so it is started again.
$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	  || { echo "error: Python 3.11 or newer is needed; name one with: make PYTHON=/path/to/python" >&2; exit 1; }
	@echo "creating $(VENV) (once; it takes a minute or two)"
	@$(PYTHON) -m venv --clear $(VENV)
	@$(PIP) install -e ".[dev]"
	@touch $@

demo: $(STAMP)
	@mkdir -p demo
	$(BIN)/sparsebayes fit -o demo/model.skops --figures demo
	@echo
	$(BIN)/sparsebayes fit --task classification -o demo/classifier.skops --figures demo/classification

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

test: lint types
	$(BIN)/lint-imports
	$(BIN)/python $(DOC_TESTS)
	$(BIN)/python $(QUICK_TESTS)

test-slow: $(STAMP)
	$(BIN)/python -m pytest -n 2 -m slow -q

mutations: $(STAMP)
	$(BIN)/python -m tests.mutations

# Debian: apt install clang gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm
test-devices: $(STAMP)
	$(BIN)/python -m pytest -m slow -q tests/export

# Debian: apt install chromium
test-browser: $(STAMP)
	$(BIN)/python -m pytest -m slow -q -s tests/explore/test_browser.py

.venv-docs/.installed: pyproject.toml
	@echo "creating .venv-docs (once; it takes some minutes)"; $(PYTHON) -m venv --clear .venv-docs
	@.venv-docs/bin/python -m pip --quiet --disable-pip-version-check install -e ".[docs]"
	@touch $@

# A warning is an error: a link that leads nowhere, an example that fails.
SPHINX = .venv-docs/bin/python -m sphinx -j 2 -W --keep-going docs docs/_build
docs: .venv-docs/.installed
	$(SPHINX)/html -b html

linkcheck: .venv-docs/.installed
	$(SPHINX)/linkcheck -b linkcheck

test-docs: $(STAMP)
	$(BIN)/codespell README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md docs
	$(BIN)/python -m pytest -n 2 -q -m "slow or not slow" tests/test_docs.py

# Other environments: .venv-floor, .venv-3.12, ... Each is made once, and again when pyproject.toml changes.
find = python=$$(tools/find_python.sh $(1)) \
  || { echo "error: no Python $(1) on PATH or in pyenv" >&2; exit 1; }

.venv-floor/.installed: pyproject.toml tools/lowest_versions.py
	@$(call find,3.11); echo "creating .venv-floor (once)"; $$python -m venv --clear .venv-floor
	@.venv-floor/bin/python tools/lowest_versions.py test > .venv-floor/lowest.txt
	@.venv-floor/bin/python -m pip --quiet --disable-pip-version-check install -c .venv-floor/lowest.txt -e ".[test]"
	@touch $@

.venv-%/.installed: pyproject.toml
	@$(call find,$*); echo "creating .venv-$* (once)"; $$python -m venv --clear .venv-$*
	@.venv-$*/bin/python -m pip --quiet --disable-pip-version-check install -e ".[test]"
	@touch $@

test-floor: .venv-floor/.installed
	.venv-floor/bin/python $(DOC_TESTS)
	.venv-floor/bin/python $(QUICK_TESTS)

test-python-%: .venv-%/.installed
	.venv-$*/bin/python $(DOC_TESTS)
	.venv-$*/bin/python $(QUICK_TESTS)

test-python:
	@passed= failed= missing=; \
	for version in $(PYTHONS); do \
	  if ! tools/find_python.sh $$version > /dev/null; then missing="$$missing $$version"; \
	  elif $(MAKE) --no-print-directory test-python-$$version; then passed="$$passed $$version"; \
	  else failed="$$failed $$version"; fi; \
	done; \
	echo "passed:$${passed:- none}; failed:$${failed:- none}; not installed, skipped:$${missing:- none}"; \
	test -z "$$failed"

# The newest may be newer than what other packages allow: that is the point.
.venv-prerelease/.installed: pyproject.toml
	@echo "creating .venv-prerelease (once)"; $(PYTHON) -m venv --clear .venv-prerelease
	@.venv-prerelease/bin/python -m pip --quiet --disable-pip-version-check install -e ".[test]"
	@.venv-prerelease/bin/python -m pip --quiet --disable-pip-version-check install --pre --upgrade numpy scipy scikit-learn pandas
	@touch $@

test-prerelease: .venv-prerelease/.installed
	.venv-prerelease/bin/python $(DOC_TESTS)
	.venv-prerelease/bin/python $(QUICK_TESTS)

test-wheel:
	$(PYTHON) tools/check_wheel.py

# `make fuzz MINUTES=5` is shorter; exit status 1 where the law of tests/fuzz/law.py was broken.
MINUTES ?= 30
fuzz: $(STAMP)
	$(BIN)/python -m tests.fuzz --minutes $(MINUTES) --jobs 2

faults: $(STAMP)
	$(BIN)/python -m tests.faults

.venv-audit/.installed:
	@echo "creating .venv-audit (once)"; $(PYTHON) -m venv --clear .venv-audit
	@.venv-audit/bin/python -m pip --quiet --disable-pip-version-check install pip-audit
	@touch $@

audit: $(STAMP) .venv-audit/.installed
	.venv-audit/bin/pip-audit --skip-editable --path $$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')

bench: $(STAMP)
	@$(PIP) install -e ".[bench]"
	$(BIN)/python -m benchmarks

experiments: $(STAMP)
	$(BIN)/python -m experiments --quick --all

clean:
	rm -rf $(VENV) .venv-* demo results build dist docs/_build docs/auto_gallery docs/reference/generated .mypy_cache .ruff_cache .pytest_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
