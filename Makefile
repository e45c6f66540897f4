# Every target can be the first and only command on a fresh machine: each one sets up what it needs.
#
#   make setup     the virtual environment in .venv, and the system libraries the window needs
#   make run       the program; ARGS="--model NAME --data NAME" are handed on
#   make test      what must hold every day: lint, types, core tests without Qt, GUI tests on a virtual display
#   make test-slow the tests marked `slow`: training, large data, whole programs, and the rest of the long sweeps, of
#                  which `make test` does a few cases; EQUISCOPE_TEST_PART=2/6 does the second sixth
#   make fuzz      100,000 changed files of every format are read or refused; ARGS="--seed 5 --count 1000"
#   make test-processors   the report of every card, compared between instruction sets, threads and orders of hashes
#   make soak      10,000 random interactions with the window, then what is left behind; ARGS="--count 500 --seed 3"
#   make kills     the program killed at 500 random moments of writing, and before each change of the disk
#   make lint      the fast part of that: style and types
#   make format    rewrite the sources in the style that lint asks for
#   make bench     what the program costs, timed on this machine
#   make gallery   a picture of every card in every view, in out/gallery
#   make clean     remove everything made, but for .venv (`make distclean` removes that too)
#
# PYTHON=python3.12 chooses the interpreter. PIP_ARGS is handed on to pip: PyPI's torch for Linux carries CUDA, and
# PIP_ARGS="--extra-index-url https://download.pytorch.org/whl/cpu" takes the small CPU build instead.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := setup
# The two test runs would compete for the same cores and their timeouts would count the waiting.
.NOTPARALLEL:

ARGS ?=
PIP_ARGS ?=
PYTEST_ARGS ?=
# Processes that run the tests; each GUI test process has a virtual display of its own.
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
# Each process begins with a half of the files, so what the tests of a file share is made once; who is done first helps.
PYTEST := .venv/bin/python -m pytest -n $(JOBS) --dist worksteal
# Which tests run; `make test-slow` asks for the others.
MARKED ?= not slow
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: setup system run test lint format check-style check-types test-core test-gui test-slow fuzz test-processors soak kills bench gallery clean distclean

setup: system $(STAMP)

system:
	@.ci/system-packages

# An environment whose interpreter has gone (a link to nowhere) is out of date whatever its stamp says.
ifeq ($(wildcard $(BIN)/python),)
.PHONY: $(STAMP)
endif

# `system` comes first but by order only (after the bar): it is never up to date, the environment is.
# A half-made environment is made again rather than repaired.
$(STAMP): pyproject.toml constraints.txt .ci/system-packages | system
	@if ! $(BIN)/python -c 'import pip' >/dev/null 2>&1; then \
		python=$$(.ci/system-packages --python); \
		rm -rf .venv; \
		echo "making .venv with $$($$python --version)"; \
		"$$python" -m venv .venv; \
	fi
	$(BIN)/python -m pip install --disable-pip-version-check $(PIP_ARGS) -c constraints.txt -e '.[dev]'
	@# compiled once, as pip does with a wheel: a start reads that also where Python is told to write nothing
	-$(BIN)/python -m compileall -q explorer models widgets equiscope main.py
	@touch $@

run: setup
	$(BIN)/python main.py $(ARGS)

# One failing step must not hide what the others would say: --keep-going runs all and still fails at the end.
test: setup
	@$(MAKE) --no-print-directory --keep-going check-style check-types test-core test-gui

lint: setup
	@$(MAKE) --no-print-directory --keep-going check-style check-types

format: setup
	$(BIN)/python -m ruff check --fix .
	$(BIN)/python -m ruff format .

check-style: setup
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .

check-types: setup
	$(BIN)/python -m mypy

# These conftests make Qt impossible to import, hence the process of their own.
test-core: setup
	$(PYTEST) -m "$(MARKED)" tests/structure tests/hostile tests/equiscope tests/explorer tests/models tests/foreign $(PYTEST_ARGS)

# A timeout by signal waits for Python code to run, which a modal dialog or a hang in C++ never lets happen.
test-gui: setup
	$(PYTEST) -m "$(MARKED)" --timeout-method=thread tests/widgets $(PYTEST_ARGS)

test-slow: setup
	@$(MAKE) --no-print-directory --keep-going test-core test-gui MARKED=slow

# Verdicts, culprits and sentences are the same on every processor, figures but for rounding.
test-processors: setup
	$(BIN)/python -m tests.processors.every_report

# Interactions follow from the seed; a failure is cut to the shortest sequence of interactions that fails.
soak: setup
	$(BIN)/python -m tests.widgets.soak.run $(ARGS)

# Each time the old file is there or the new one, whole, and the next start works.
kills: setup
	$(BIN)/python -m tests.hostile.kills $(ARGS)

# The slow tests do 3,000; what is found is told with its seed and number, which give the same file again.
fuzz: setup
	$(BIN)/python -m tests.hostile.fuzz $(ARGS)

bench: setup
	$(BIN)/python main.py bench $(ARGS)

gallery: setup
	$(BIN)/python main.py gallery --out out/gallery $(ARGS)

clean:
	rm -rf out build dist *.egg-info .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -not -path './.venv/*' -prune -exec rm -rf {} +

distclean: clean
	rm -rf .venv
