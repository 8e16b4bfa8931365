# make run   set up, then do the main job
# make test  set up, then run the tests
# make lint  set up, then ruff and mypy
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: run test lint format clean

run: $(STAMP)
	$(BIN)/distal reproduce

test: $(STAMP)
	$(BIN)/python -m pytest -n auto

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis

# Installed once; again only when the project's needs change. The package is
# editable, so a change in src needs no reinstall.
$(STAMP): pyproject.toml
	@echo "Setting up $(VENV) (once) ..."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $(STAMP)
