# Three commands matter: `make demo`, `make check` and `make test`. All set everything up first.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Processes that share the tests, which mostly wait for clusters. 1 for a site's own clusters.
WORKERS ?= 4
# Hundreds of processes import the package and the tests; where this is set, each compiles them anew.
export PYTHONDONTWRITEBYTECODE :=
PYTEST := $(BIN)/python -m pytest -q --dist loadgroup --no-loadscope-reorder

.PHONY: help setup demo demo-serve check test lint docs testbed prove trial bench corpus bound-model lock clean
.DEFAULT_GOAL := help

help:
	@echo "make demo   set everything up and run the main job on a real pool's log (about 5 minutes)"
	@echo "make demo-serve  the same data live, as pages in a browser"
	@echo "make check  after every edit: formatter, linter, types, floors, tests without clusters"
	@echo "make test   before every commit: the same with all tests, on real clusters"
	@echo "make docs   what is generated of the code (reference, man page, completion), and the site in site/"
	@echo "make testbed  real HTCondor, Slurm, Redis and Kafka to try things on, until Ctrl-C (root, Debian)"
	@echo "make prove  the long proofs too: all versions of the servers, chaos, sweeps, fuzzing in length"
	@echo "make trial  ways to decide about held jobs, compared on a live pool (5 h; again: what is missing)"
	@echo "make bench  the benchmarks; writes bench/RESULTS.md"
	@echo "make bound-model  the model that ships for jobsight bound, trained on all that is measured"
	@echo "make corpus  what binds the programs of corpus/programs, as far as they changed (root, Debian)"

setup: $(READY)

$(READY): requirements/lock.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "jobsight needs Python 3.11 or later; name one: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || \
		{ echo "this Python lacks venv and ensurepip; on Debian: apt-get install python3-venv" >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/lock.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	$(BIN)/python -m compileall -q src
	@echo "compiling the reader, once"
	@printf '000 (1.000.000) 2026-11-21 01:00:00 Job submitted from host: <192.0.2.1>\n...\n' | \
		$(BIN)/jobsight events - >/dev/null
	@touch $@

demo: $(READY)
	$(BIN)/python examples/demo.py demo

demo-serve: $(READY)
	test -e demo/model || $(BIN)/python examples/demo.py demo
	$(BIN)/python examples/demo.py demo live

check: lint
	$(PYTEST) -p no:schemathesis --numprocesses 2 -m "not slow" tests/unit

test: lint
	$(PYTEST) --numprocesses $(WORKERS)

lint: $(READY)
	$(BIN)/ruff format --check src tests bench docs/generate.py examples corpus
	$(BIN)/ruff check src tests bench docs/generate.py examples corpus
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(READY)
	$(BIN)/python -m docs.generate
	$(BIN)/python -c 'import material' 2>/dev/null || \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet
	@echo "the site is in site/; to read it with its search: python3 -m http.server -d site"

testbed: $(READY)
	$(BIN)/python -m tests.testbed

prove: $(READY)
	$(BIN)/python -m tests.prove
	$(BIN)/python -m tests.trial --seeds 1

trial: $(READY)
	$(BIN)/python -m tests.trial

bench: $(READY)
	$(BIN)/python -m bench

bound-model: $(READY)
	JOBSIGHT_BOUND__TEST_SHARE=0.06 $(BIN)/jobsight train bound corpus/programs \
		--model stack --no-registry -o src/jobsight/questions/bound/default

corpus: $(READY)
	$(BIN)/python -m corpus.programs.measure
	$(BIN)/python -m corpus.programs.benchmarks

lock: $(READY)
	{ sed -n 1p requirements/lock.txt; \
	  $(BIN)/python -m pip freeze --all --exclude-editable | sed -e '/^pip==/d' -e 's/+cpu$$//'; } > requirements/lock.new
	mv requirements/lock.new requirements/lock.txt

# What the test bed built once stays; `python -m tests.testbed clean` removes it.
clean:
	rm -rf $(VENV) demo site .mypy_cache .ruff_cache .pytest_cache .hypothesis
