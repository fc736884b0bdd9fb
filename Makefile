# Every target makes its own virtual environment where there is none: nothing but python3 is needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test test-long test-bounds bench lint docs clean

$(VENV)/ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .[test]
	touch $@

demo: $(VENV)/ready
	$(BIN)/abstain reproduce main --quick

test: $(VENV)/ready
	$(BIN)/python -m pytest -n 2 -m "not long"

test-long: $(VENV)/ready
	$(BIN)/python -m pytest -n 2 -m long tests

# The kernels once more, every index checked.
test-bounds: $(VENV)/ready
	NUMBA_BOUNDSCHECK=1 $(BIN)/python -m pytest -n 2 -q tests/test_equal_reference.py tests/conformance

bench: $(VENV)/ready
	$(BIN)/python -m benchmarks

lint: $(VENV)/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Pages in out/site; their examples are run by the tests.
docs: $(VENV)/ready
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet
	@echo "out/site/index.html"

clean:
	rm -rf $(VENV) out
