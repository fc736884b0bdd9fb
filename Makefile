# Every target makes its own virtual environment where there is none: nothing but python3 is needed.
PYTHON ?= python3
VENV := .venv
LOWEST := .venv-lowest
# Windows has its programs elsewhere.
PROGRAMS := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
BIN := $(VENV)/$(PROGRAMS)

.PHONY: demo test test-long test-bounds test-lowest bench lint docs accessibility clean

# What the demo needs ...
$(VENV)/runs: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .[cli,sklearn]
	touch $@

# ... and what development does.
$(VENV)/ready: $(VENV)/runs
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .[test]
	touch $@

demo: $(VENV)/runs
	$(BIN)/abstain demo

test: $(VENV)/ready
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not long"

test-long: $(VENV)/ready
	$(BIN)/python -m pytest -n 2 --dist loadfile -m long --hypothesis-profile long

# The kernels once more, every index checked.
test-bounds: $(VENV)/ready
	NUMBA_BOUNDSCHECK=1 $(BIN)/python -m pytest -n 2 --dist loadfile -q -m "not long" tests/learners/test_equal_reference.py tests/learners/test_ucb_abs.py \
	tests/learners/test_capacity.py tests/conformance

# The core with the lowest versions of what it needs that pyproject.toml allows.
$(LOWEST)/ready: pyproject.toml tests/lowest.py
	$(PYTHON) -m venv $(LOWEST)
	$(PYTHON) tests/lowest.py > $(LOWEST)/constraints.txt
	$(LOWEST)/$(PROGRAMS)/python -m pip install --quiet --disable-pip-version-check \
	--constraint $(LOWEST)/constraints.txt --editable .[all] \
	hypothesis pandas pytest pytest-benchmark pytest-xdist
	touch $@

# Old packages warn of what is new, and of each other: warnings are no errors here.
test-lowest: $(LOWEST)/ready
	$(LOWEST)/$(PROGRAMS)/python -m pytest -n 2 --dist loadfile -q -o filterwarnings=default -m "not long" \
	tests/conformance tests/engine/test_identity.py tests/engine/test_own_learner.py \
	tests/core/test_files.py tests/test_simulate.py tests/core/test_registry.py tests/test_losses.py tests/cli/test_cli.py \
	tests/experiments/test_results.py tests/experiments/test_jobs.py tests/experiments/test_reproduce.py tests/experiments/test_report.py \
	tests/experiments/test_spec.py \
	tests/datasets/test_load.py tests/replay/test_report.py

bench: $(VENV)/ready
	$(BIN)/python -m benchmarks

lint: $(VENV)/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Pages in out/site; their examples are run by the tests, the gallery's scripts (examples/) here. A warning is an error.
docs: $(VENV)/ready
	$(BIN)/python -m sphinx -q -W --keep-going -d out/doctrees docs out/site
	@echo "out/site/index.html"

# Every page of the site by axe; needs Chromium.
accessibility: docs
	$(BIN)/python docs/accessibility.py out/site

clean:
	rm -rf $(VENV) $(LOWEST) out docs/gallery docs/sg_execution_times.rst
