# make run   install, then do the main job
# make test  install what development needs too, then run the tests
# make lint  the same, then ruff and mypy
# make test-gpu  the tests that need an NVIDIA card, with PYTHON's own CuPy; keeps a summary
# make docs  the same, then build the documentation into site/
# make constraints  write down the versions that the tests are run with
# make fuzz  set up, then damaged folders, wrong calls and random kills for four minutes; keeps a summary
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
STAMP := $(VENV)/.developing

.PHONY: run test test-gpu lint format docs constraints fuzz clean

run: $(INSTALLED)
	$(BIN)/distal learn champion:1
	$(BIN)/distal reproduce
	@echo
	@echo "Type . $(BIN)/activate  to have distal as a command, then for example  distal learn evolved:1"

# With bytecode, even where the environment says no: the tests start many processes, and each would
# compile the package again.
test: $(STAMP)
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n auto --dist worksteal

# On the machine's own Python, which has CuPy; pytest and Hypothesis must be there too, Numba may be. With
# pytest-xdist eight processes share the work, most of which is compiling hundreds of kernels. (The plugin
# pytest-benchmark, where it is installed, warns of that, and warnings are errors here.)
SHARED = $(shell $(PYTHON) -c "import xdist" 2>/dev/null && echo --numprocesses 8 --dist worksteal -p no:benchmark)

test-gpu:
	PYTHONPATH=src $(PYTHON) -m pytest tests/engines/test_gpu.py -m gpu -q $(SHARED) --gpu-summary benchmarks/results/gpu-tests.json

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(STAMP)
	rm -rf docs/api build/site site
	$(BIN)/sphinx-build -W --keep-going -q -d build/doctrees docs build/site
	mv build/site site
	@echo "Open site/index.html"

constraints: $(STAMP)
	@{ echo "# The versions with which the tests were last run, on Python 3.11 and Linux: pip install -c constraints.txt '.[dev]'"; \
	  $(BIN)/python -m pip freeze --exclude-editable | grep -v '@'; } > constraints.txt

fuzz: $(STAMP)
	$(BIN)/python -m tests.fuzz

clean:
	rm -rf $(VENV) dist build site .pytest_cache .mypy_cache .ruff_cache .hypothesis

# Installed once; again only when the project's needs change. The package is editable, so a change in
# src needs no reinstall. What the main job needs comes first, what development needs on top.
$(INSTALLED): pyproject.toml
	@echo "Installing Distal in $(VENV) (once) ..."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(STAMP): pyproject.toml | $(INSTALLED)
	@echo "Installing what development needs (once) ..."
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@
