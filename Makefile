# Two commands, each alone on a fresh clone: `make check` (the main job) and `make test`. Slow proofs: `make prove`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 2

.PHONY: check test lint types unit prove bench clean

check: $(VENV)/.installed
	$(BIN)/guard check

test: lint types unit

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed
	$(BIN)/mypy

unit: $(VENV)/.installed
	$(BIN)/python -m pytest tests -q -p no:benchmark -n $(WORKERS) --dist worksteal -m "not prove"

prove: $(VENV)/.installed
	$(BIN)/python -m pytest tests -q -p no:benchmark -n $(WORKERS) --dist worksteal -m prove

bench: $(VENV)/.installed
	$(BIN)/python -m pytest benchmarks -q -s

# The stamp is written last: an interrupted install is begun anew.
$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[torch]" --group dev
	touch $@

clean:
	rm -rf $(VENV) .guard .mypy_cache .ruff_cache .pytest_cache .hypothesis .benchmarks build dist *.egg-info
