# Commands of the project. Each sets up what it needs in .venv; Python 3.11 or newer and make are enough.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# A change of these has to be compiled again.
COMPILED := hatch_build.py $(wildcard ledgerframes/decoding/compiled/*.cpp ledgerframes/decoding/compiled/*.hpp)

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-quick test-long test-python coverage test-oldest test-matrix soak simulate mutants fuzz fuzz-decoders sanitize interop lint notebooks lab bench docs sample pages wheel release clean

help:  ## list the commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 15

$(READY): pyproject.toml constraints.txt $(COMPILED)
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "ledgerframes needs Python 3.11 or newer; set PYTHON=")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[all,dev]"
	touch $(READY)

setup: $(READY)  ## make the virtual environment

# What a user needs, without the tools of developers; where those are installed, they suffice.
USABLE := $(if $(wildcard $(READY)),$(READY),$(VENV)/.usable)
$(VENV)/.usable: pyproject.toml constraints.txt $(COMPILED)
	@echo "installing ledgerframes into $(VENV), which takes about two minutes"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "ledgerframes needs Python 3.11 or newer; set PYTHON=")'
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[all]"
	@touch $@

demo: $(USABLE)  ## load the simulated ledger, write Parquet, a lake, charts and a report
	@$(BIN)/ledgerframes demo

# xdist runs one process per processor; PYTEST_XDIST_AUTO_NUM_WORKERS=1 sets another number.
SPREAD := -n logical --dist worksteal
# Otherwise every program that a test starts would compile all modules anew.
test test-quick test-long test-python coverage: export PYTHONDONTWRITEBYTECODE =
# Each processor has a process of tests: more threads of deltalake's in each would only wait for it.
test test-quick test-long test-python coverage: export TOKIO_WORKER_THREADS = 1

test: $(READY)  ## the tests, in a few minutes: of what takes long, the first parameters
	$(BIN)/python -m pytest $(SPREAD)

# Of every room what a change breaks first; a folder or file that takes more than some seconds is not among them.
QUICK := tests/tables tests/paging tests/interfaces tests/decoding/test_pages.py tests/loaders/test_captures.py \
  tests/transport/test_transport_retries.py tests/sandbox/test_scan_routes.py tests/store/test_reading.py \
  tests/export/test_export_values.py tests/cli/test_load.py tests/test_docstrings.py
test-quick: $(READY)  ## a few tests of every room, within a minute on two processors
	$(BIN)/python -m pytest $(SPREAD) $(QUICK)

test-long: $(READY)  ## the rest of the tests: those that take long
	$(BIN)/python -m pytest $(SPREAD) -m "long and not soak and not interop"

# What reads pages, items, rejects, extra and texts of them, or holds them against what was sent. The other tests of lakes begin
# where a page has become columns, which tests/decoding finds equal; paging asks no decoder. Members of payloads are expanded.
PYTHON_PATH := tests/decoding tests/loaders tests/analysis/test_expanding.py $(patsubst %,tests/store/test_%.py,active_contracts_in_a_lake \
  reading rejects sync syncing_objects trust workers)
test-python: $(READY)  ## the tests of what decoding gives, without the compiled decoder
	LEDGERFRAMES_DECODER=python $(BIN)/python -m pytest $(SPREAD) $(PYTHON_PATH)

coverage: $(READY)  ## the branches of the package that make test does not reach, in all processes; takes half as long again
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[coverage]"
	$(BIN)/coverage erase
	-$(BIN)/coverage run -m pytest $(SPREAD)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

# Old libraries call what newer libraries have deprecated, so deprecation warnings are not errors here.
test-oldest:  ## every test, long ones too, with the oldest versions that pyproject allows
	$(PYTHON) -m venv --clear .venv-oldest
	.venv-oldest/bin/python tests/oldest.py > .venv-oldest/oldest.txt
	.venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check -c .venv-oldest/oldest.txt -e ".[all,dev]"
	.venv-oldest/bin/python -m pytest $(SPREAD) -m "not soak and not interop" -W ignore::DeprecationWarning -W ignore::PendingDeprecationWarning

PYTHONS ?= python3.11 python3.12 python3.13
test-matrix:  ## the tests of make test on each Python of PYTHONS that is installed
	for python in $(PYTHONS); do \
	  if command -v $$python > /dev/null; then $(MAKE) test PYTHON=$$python VENV=.venv-$$(basename $$python) || exit 1; \
	  else echo "$$python is not installed: skipped"; fi; \
	done

soak: $(READY)  ## the long runs: five hundred loads under each fault, a sync broken off at every place
	$(BIN)/python -m pytest -m soak

MINUTES ?= 5
SEED ?= 0
simulate: $(READY)  ## simulate histories of a sync on all cores, for MINUTES=5, from SEED=0
	$(BIN)/python -m tests.simulation --minutes $(MINUTES) --seed $(SEED)

mutants: $(READY)  ## take back each rule and look for a simulated history that notices, among 20,000 per rule
	$(BIN)/python -m tests.simulation --mutant all

interop: $(READY)  ## read exports with Spark; installs pyspark (490 MB), needs Java 17
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[interop]"
	$(BIN)/python -m pytest -m interop tests/interop

fuzz: $(READY)  ## thousands of simulated requests to the sandbox and of broken answers to the client
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[fuzz]"
	$(BIN)/python -m tests.fuzz
	$(BIN)/python -m tests.fuzz.answers --minutes 2

PAGES ?= 1000000
fuzz-decoders: $(READY)  ## PAGES=1000000 broken pages through the compiled decoder and the Python path
	$(BIN)/python -W ignore -m tests.fuzz.decoders --pages $(PAGES)

sanitize: $(READY)  ## broken pages through a decoder with address and undefined-behaviour sanitizers; needs gcc
	$(BIN)/python -m tests.fuzz.sanitized --pages 20000
	$(BIN)/python -m tests.fuzz.sanitized --plain --pages 20000

lint: $(READY)  ## style, types, layers, spelling, words
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/codespell ledgerframes tests docs data *.md Makefile
	$(BIN)/python -m docs.prose

notebooks: $(READY)  ## run the notebooks and store what they print and draw; read the difference
	$(BIN)/python -m docs.refresh_notebooks

lab: $(READY)  ## JupyterLab on the notebooks
	$(BIN)/jupyter lab --notebook-dir notebooks

bench: $(READY)  ## write benchmarks to docs/figures.md, as ratios against a baseline in the same run
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[bench]"
	$(BIN)/python -m tests.benchmarks --write docs/figures.md

pages: $(READY)  ## run the pages' code blocks and write what they print beneath them; read the difference
	$(BIN)/python -m docs.refresh_documents

docs: $(READY)  ## make the stubs, the data dictionary, the table of endpoints, the README's chart, the gallery, the cheat sheet, and the site in docs/site
	$(BIN)/python -m docs.stubs
	$(BIN)/python -m docs.dictionary
	$(BIN)/python -m docs.endpoints
	cd docs && MPLBACKEND=agg ../$(BIN)/python front.py && MPLBACKEND=agg ../$(BIN)/python gallery.py && ../$(BIN)/python cheat_sheet.py
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs docs/site
	@echo "the site is in docs/site/index.html"

sample: $(READY)  ## make the sample in data/
	$(BIN)/python data/make_sample.py

wheel: $(READY)  ## build the sdist and both wheels into dist/, compiled and pure, and try them on each Python of PYTHONS
	$(BIN)/python -m tests.wheels $(PYTHONS)

release: wheel  ## build and check what would be uploaded: everything of a release but the upload itself
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[release]"
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl

clean:  ## remove what the other commands made
	rm -f ledgerframes/decoding/compiled/_decoder*.so
	rm -rf $(VENV) .venv-* dist build docs/site docs/numbers docs/dictionary docs/reference/command-line*.md demo-output .coverage* .schemathesis .pytest_cache .mypy_cache .ruff_cache .hypothesis
