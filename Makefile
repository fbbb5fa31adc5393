# The only entry point. `make help` lists the targets.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= python3.11
UV_VERSION := 0.13.8

# finsy's wheel ships the P4Runtime .proto files; the Rust build reads them there.
export P4CC_PROTO_DIR ?= $(CURDIR)/$(VENV)/lib/python3.11/site-packages/finsy/proto
export UV_PROJECT_ENVIRONMENT := $(CURDIR)/$(VENV)
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# What `make setup` installs, and what lint, tests, packet tests and the site install beyond it when they first run.
SYNC := $(BIN)/uv sync --quiet --frozen --inexact --no-install-project
SETUP_PACKAGES := --group build --extra figures --extra report --extra live --extra lab
TEST_PACKAGES := --group test --extra ray --extra notebook
DEPS_STAMP := $(VENV)/.deps-stamp
FORMAT_STAMP := $(VENV)/.format-stamp
LINT_STAMP := $(VENV)/.lint-stamp
TEST_STAMP := $(VENV)/.test-stamp
# Tests and clippy share with `make setup` the build of all that p4cc depends on. Behind the command: `cargo clippy`
# is a program of its own, and cargo hands it nothing that stands in front.
CHECKED := --config engine/tests.toml
ENGINE_STAMP := $(VENV)/.engine-stamp
ENGINE_SOURCES := Cargo.toml Cargo.lock $(shell find engine host_agents \
	\( -name '*.rs' -o -name Cargo.toml -o -path '*/p4include/*.p4' \) -not -path '*/tests/*' 2>/dev/null)

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# ---- set-up -------------------------------------------------------------------------------------------------------

.PHONY: setup
setup: $(ENGINE_STAMP) ## Install everything into .venv and build the engine (does nothing when up to date)

.PHONY: venv
venv: $(DEPS_STAMP) ## Only the Python environment, without the engine

.PHONY: clean
clean: ## Remove everything that setup and runs made
	@rm -rf $(VENV) target results dist .pytest_cache .ruff_cache .hypothesis p4cc/_engine*.so
	@find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +

# Where Python may not write bytecode, as in many images, it comes with set-up: each command would compile for a second
# all that it imports.
BYTECODE := $(if $(PYTHONDONTWRITEBYTECODE),--compile-bytecode)
# What Ctrl-C cuts short is done again, whole: an environment without its mark, packages beside theirs.
$(DEPS_STAMP): pyproject.toml uv.lock
	@$(MAKE) check-tools
	@[ -e $(VENV)/.made ] || { echo "setup: creating $(VENV)"; $(PYTHON) -m venv $(VENV); touch $(VENV)/.made; }
	@[ "$$($(BIN)/uv --version 2>/dev/null | cut -d' ' -f2)" = $(UV_VERSION) ] || \
		$(BIN)/python -m pip install --quiet --ignore-installed uv==$(UV_VERSION)
	@echo "setup: installing the locked Python packages"
	@reinstall=(); [ ! -e $(VENV)/.packages-under-way ] || reinstall=(--reinstall); touch $(VENV)/.packages-under-way; \
	$(SYNC) $(SETUP_PACKAGES) $(BYTECODE) "$${reinstall[@]}"; \
	rm $(VENV)/.packages-under-way
	@touch $@

$(ENGINE_STAMP): $(DEPS_STAMP) $(ENGINE_SOURCES)
	@echo "setup: building the engine in release mode (minutes the first time)"
	@touch $@.begun
	@$(BIN)/python engine/build.py $(VENV)
	@$(if $(BYTECODE),$(BIN)/python -m compileall -q p4cc controller topos)
	@mv $@.begun $@  # A file that changed while the engine was built is newer.

$(FORMAT_STAMP): $(DEPS_STAMP)
	@$(SYNC) --group format
	@touch $@

$(LINT_STAMP): $(DEPS_STAMP)
	@echo "lint: installing what pyright reads"
	@$(SYNC) --group lint $(SETUP_PACKAGES) $(TEST_PACKAGES)
	@touch $@

$(TEST_STAMP): $(DEPS_STAMP)
	@echo "test: installing what only tests need"
	@$(SYNC) $(SETUP_PACKAGES) $(TEST_PACKAGES)
	@touch $@

# Names every tool that is missing, with the remedy; as root it installs Debian's packages itself.
.PHONY: check-tools
check-tools:
	@packages=(); missing=(); \
	if ! command -v $(PYTHON) >/dev/null; then packages+=(python3.11 python3.11-venv); \
	elif ! $(PYTHON) -c 'import ensurepip, venv' 2>/dev/null; then packages+=(python3.11-venv); fi; \
	command -v cc >/dev/null || packages+=(gcc libc6-dev); \
	if [ $${#packages[@]} -gt 0 ]; then \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
			echo "setup: installing Debian packages: $${packages[*]}"; \
			{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$${packages[@]}" >/dev/null; } \
				|| missing+=("Debian packages: apt-get install $${packages[*]}"); \
		else missing+=("Debian packages: sudo apt-get install $${packages[*]}"); fi; \
	fi; \
	command -v cargo >/dev/null || missing+=("Rust 1.88 or newer, with cargo on PATH: https://rustup.rs"); \
	if [ $${#missing[@]} -gt 0 ]; then \
		echo "setup: missing on this machine:" >&2; printf '  %s\n' "$${missing[@]}" >&2; exit 1; fi

# ---- the main job -------------------------------------------------------------------------------------------------

P4_PROGRAMS := $(wildcard p4src/v1model/*.p4 p4src/tna/*.p4)
SCENARIO ?= experiments/gst/incast.yaml

.PHONY: run
run: setup ## DCTCP against GST over DCTCP under incast: table, figure and a report to read (SCENARIO=file.yaml for another)
	@echo "run: $(SCENARIO)$(if $(filter command line environment,$(origin SCENARIO)),, (some 10 s on two cores))"
	@$(BIN)/p4cc run $(SCENARIO) --report
	@echo "run: open the report, the last file above, in a browser"

.PHONY: figures
figures: setup ## Every figure of the papers, compared with their numbers (`p4cc reproduce --list`)
	@for study in gst rfb_ss timely hpcc skew; do \
		$(BIN)/p4cc reproduce $$study || { code=$$?; [ $$code = 1 ] || exit $$code; unmet+=($$study); }; done; \
	[ -z "$${unmet:-}" ] || echo "figures: expectations of p4cc that are not met: $${unmet[*]} (tables above)"

LAB ?= experiments/lab/incast.yaml
ARGS ?=

.PHONY: lab
lab: setup lab-tools ## A network with real packets on this machine, as root (LAB=scenario.yaml, ARGS="--no-cli"; docs/how-to/lab.md)
	@$(BIN)/p4cc lab $(LAB) $(ARGS)

.PHONY: lab-tools
lab-tools: venv
	@read -ra packages <<<"$$($(BIN)/python -m p4cc.lab.tools)"; \
	if [ $${#packages[@]} -gt 0 ]; then \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
			echo "lab: installing Debian packages: $${packages[*]}"; \
			apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$${packages[@]}" >/dev/null; \
		else echo "lab: missing on this machine: sudo apt-get install $${packages[*]}" >&2; exit 1; fi; fi

LINUX_HOSTS := target/linux-hosts/release/p4cc-hosts

.PHONY: linux-hosts
linux-hosts: linux-tools ## p4cc's senders for this machine's kernel, and the command that loads them (docs/how-to/linux-hosts.md)
	@CARGO_TARGET_DIR=$(CURDIR)/target/linux-hosts cargo build --quiet --release --locked --manifest-path host_agents/linux/loader/Cargo.toml
	@echo "linux-hosts: $(LINUX_HOSTS)"

# Tests load senders where the kernel can; elsewhere one line says what is missing.
.PHONY: linux-hosts-tested
linux-hosts-tested:
	@if [ "$$(id -u)" != 0 ]; then echo "test: tests of senders in the kernel are skipped: they need root" >&2; \
	elif [ ! -e /sys/kernel/btf/vmlinux ]; then echo "test: tests of senders in the kernel are skipped: it has no BTF" >&2; \
	elif ! command -v apt-get >/dev/null; then echo "test: tests of senders in the kernel are skipped: make linux-hosts installs Debian packages" >&2; \
	else $(MAKE) linux-hosts || echo "test: tests of senders in the kernel are skipped: make linux-hosts failed" >&2; fi

.PHONY: linux-tools
linux-tools:
	@packages=(); \
	command -v clang >/dev/null || packages+=(clang); \
	for file in bpf/bpf_helpers.h:libbpf-dev libelf.h:libelf-dev zlib.h:zlib1g-dev; do \
		[ -e "/usr/include/$${file%%:*}" ] || packages+=("$${file##*:}"); done; \
	command -v pkg-config >/dev/null || packages+=(pkg-config); \
	if [ $${#packages[@]} -gt 0 ]; then \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
			echo "linux-hosts: installing Debian packages: $${packages[*]}"; \
			apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$${packages[@]}" >/dev/null; \
		else echo "linux-hosts: missing on this machine: sudo apt-get install $${packages[*]}" >&2; exit 1; fi; fi

# ---- checks -------------------------------------------------------------------------------------------------------

.PHONY: test
test: test-rust test-python ## All tests: Rust, then Python and the P4 programs

.PHONY: test-rust
test-rust: venv
	@$(LINTER) cargo test $(CHECKED) --release --locked --quiet --lib --bins --tests
	@$(LINTER) cargo test $(CHECKED) --release --locked --quiet --doc

# With LINTED=1 clippy is the compiler of p4cc's crates: what `make lint` finds, without checking all that they
# depend on as well. cargo hands the words to clippy as `cargo clippy` does.
ifdef LINTED
LINTER := RUSTC_WORKSPACE_WRAPPER=$$(rustc --print sysroot)/bin/clippy-driver CLIPPY_ARGS=-D__CLIPPY_HACKERY__warnings
test-rust: test-benches-build
endif

.PHONY: test-benches-build
test-benches-build: venv
	@$(LINTER) cargo test $(CHECKED) --release --locked --quiet --benches --no-run

# Tests wait for processes and pages much of their time: two workers more than there are processors, one of which
# has all labs. Files come in the order of tests/conftest.py, not by their count of tests.
.PHONY: test-python
test-python: setup $(TEST_STAMP) browser extension linux-hosts-tested
	@$(BIN)/p4cc check $(P4_PROGRAMS)
	@$(BIN)/pytest --numprocesses $$(($$(nproc) + 2)) --dist loadfile --no-loadscope-reorder

.PHONY: test-labs
test-labs: setup $(TEST_STAMP) lab-tools
	@$(BIN)/pytest --numprocesses 2 --dist loadfile tests/lab tests/switchd tests/p4cc/dissector tests/p4cc/running/test_captures.py
	@$(BIN)/p4cc lab $(LAB) --no-cli --out target/lab --force

# Tests of pages are skipped where there is no browser.
.PHONY: browser
browser:
	@command -v chromium >/dev/null || { \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
			echo "test: installing Debian packages: chromium"; \
			apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium >/dev/null; \
		else echo "test: tests of pages are skipped without a browser: sudo apt-get install chromium" >&2; fi; }

# Some ten seconds once, without scripts of packages. Its tests are skipped without npm, or without its registry.
.PHONY: extension
extension:
	@[ -e editors/vscode/node_modules/.package-lock.json ] || ! command -v npm >/dev/null || { \
		echo "test: installing the packages of editors/vscode"; \
		(cd editors/vscode && npm ci --silent --no-audit --no-fund --ignore-scripts) \
			|| { rm -rf editors/vscode/node_modules; echo "test: npm ci failed: the extension's tests are skipped" >&2; }; }

.PHONY: tofino-report
tofino-report: setup ## What p4src/tna takes of a Tofino, by p4c's back end (P4C=driver of p4c, ARGS="mine.p4 --markdown"; docs/tofino.md)
	@$(BIN)/p4cc tofino-report $(ARGS)

ifndef SEED
SEED := $(shell od -An -N4 -tu4 /dev/urandom | tr -d ' ')
endif

.PHONY: properties
properties: setup $(TEST_STAMP) ## Property tests on new random examples, where `make test` draws the same ones (SEED=17 for those of a run)
	@echo "properties: SEED=$(SEED)"
	@PROPTEST_RNG_SEED=$(SEED) cargo test $(CHECKED) --release --locked --quiet --lib --tests
	@$(BIN)/pytest --hypothesis-profile=new --hypothesis-seed=$(SEED) -m hypothesis --numprocesses $$(nproc)

SECONDS ?= 60
TARGETS ?=

.PHONY: fuzz
fuzz: venv ## Fuzz targets under libFuzzer, SECONDS=60 each (TARGETS="source grpc" for some; docs/how-to/fuzzing.md)
	@fuzz/run.sh $(SECONDS) $(TARGETS)

MUTANTS_STAMP := $(VENV)/.mutants-stamp
KIND ?= p4
FILES ?=

.PHONY: mutants
mutants: setup $(MUTANTS_STAMP) ## Changes of the code that no test notices (KIND=p4, cc, tm or planners, FILES=some; docs/how-to/mutation-testing.md)
	@case $(KIND) in \
		p4) $(BIN)/python -m tests.mutants.p4_controls $(FILES) ;; \
		planners) $(BIN)/python -m tests.mutants.python_sources $(FILES) ;; \
		*) $(BIN)/python -m tests.mutants.rust_sources $(KIND) $(FILES) ;; \
	esac

$(MUTANTS_STAMP): $(DEPS_STAMP)
	@$(SYNC) $(SETUP_PACKAGES) --group mutants
	@touch $@

PTF_STAMP := $(VENV)/.ptf-stamp
TARGET ?= p4cc
TESTS ?=

.PHONY: ptf
ptf: setup $(PTF_STAMP) ## Packet tests with PTF (TARGET=bmv2 for BMv2, TESTS="ecn forwarding.Ttl" for some)
	@$(BIN)/python -m ptf_tests.run --target $(TARGET) $(TESTS)

# ptf's netifaces is built from source.
$(PTF_STAMP): $(DEPS_STAMP)
	@[ -e "$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_paths()["include"])')/Python.h" ] || { \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
			apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends python3.11-dev >/dev/null; \
		else echo "ptf: Python's headers are missing: sudo apt-get install python3.11-dev" >&2; exit 1; fi; }
	@echo "ptf: installing PTF"
	@$(SYNC) $(SETUP_PACKAGES) --extra ptf
	@touch $@

.PHONY: lint
lint: lint-quick ## rustfmt, clippy, ruff, pyright strict; needs no engine
	@cargo clippy $(CHECKED) --release --locked --quiet --workspace --all-targets -- -D warnings

.PHONY: lint-quick
lint-quick: $(LINT_STAMP)
	@cargo fmt --all --check
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check .
	@$(BIN)/pyright

.PHONY: audit
audit: venv ## Licences and sources of what p4cc uses, then known weaknesses (needs cargo-deny; the network for the latter)
	@command -v cargo-deny >/dev/null || { echo "audit: cargo-deny is missing: cargo install --locked cargo-deny" >&2; exit 1; }
	@cargo deny --offline check licenses bans sources
	@cargo deny check advisories
	@$(BIN)/uv export --quiet --frozen --no-emit-project --all-extras --all-groups --format requirements-txt >$(VENV)/audit.txt
	@$(BIN)/uv tool run --quiet pip-audit --require-hashes --disable-pip --requirement $(VENV)/audit.txt

.PHONY: wheel
wheel: setup ## A wheel for Python 3.11 to 3.14 in dist/ (docs/how-to/install.md); TUNED=1 as released, which takes longer
	@$(BIN)/python engine/wheel.py dist $(if $(TUNED),--tuned)
	@ls dist/*.whl

.PHONY: golden
golden: venv ## Write the committed P4Info of the P4 programs anew, after a change that is meant
	@P4CC_UPDATE_GOLDEN=1 cargo test $(CHECKED) --release --locked --quiet --package p4cc-p4runtime --test golden_p4info

.PHONY: spec
spec: setup $(TEST_STAMP) ## Write p4cc/spec.py anew from the engine's schema of a network, after a change of the description
	@$(BIN)/python -c "from p4cc import _engine; print(_engine.network_schema())" | $(BIN)/datamodel-codegen --output p4cc/spec.py

.PHONY: results-page
results-page: setup ## Write docs/reference/results.md anew from the descriptions of tables
	@$(BIN)/python -m p4cc.results_page >docs/reference/results.md

DOCS_STAMP := $(VENV)/.docs-stamp

.PHONY: docs
docs: setup $(DOCS_STAMP) ## Build the site of docs/ into target/site; warnings are errors
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict
	@echo "docs: target/site/index.html"

$(DOCS_STAMP): $(DEPS_STAMP)
	@echo "docs: installing mkdocs-material"
	@$(SYNC) $(SETUP_PACKAGES) --extra docs
	@touch $@

.PHONY: format
format: $(FORMAT_STAMP) ## Format Rust and Python sources; needs no engine
	@cargo fmt --all
	@$(BIN)/ruff check --quiet --fix .
	@$(BIN)/ruff format --quiet .

.PHONY: bench
bench: setup ## Measure the budgets of docs/reference/performance.md
	@$(BIN)/python -m benches.budgets

.PHONY: bench-table
bench-table: setup ## All of bench and bench-large on a quiet machine, into the table of docs/reference/performance.md
	@$(BIN)/python -m benches.budgets --page

.PHONY: bench-large
bench-large: setup ## 320 hosts on one thread and two (LARGE_NS=5000000 for the whole run), 1,024 and 8,192 hosts
	@$(BIN)/python -m benches.budgets --large

.PHONY: bench-growth
bench-growth: setup ## Time and memory from 16 to 8,192 hosts, memory to 10^8 packet-hops: benches/growth.json and its picture
	@$(BIN)/python -m benches.growth

.PHONY: bench-veth
bench-veth: setup ## Packets a second through the daemon on veth, a null forwarder beside it (root); VETH=--rates for rates and latency
	@$(BIN)/python -m benches.veth $(VETH)

PROFILE := results/profile
.PHONY: profile
profile: setup ## Where the instructions of a short incast go, as a flame graph (needs valgrind)
	@command -v valgrind >/dev/null || { echo "profile: valgrind is missing: apt-get install valgrind" >&2; exit 1; }
	@mkdir -p $(PROFILE)
	@program=$$(CARGO_PROFILE_BENCH_DEBUG=line-tables-only CARGO_PROFILE_BENCH_STRIP=none cargo bench --locked --package p4cc-netsim --bench incast --no-run 2>&1 | sed -n 's/.*Executable.*(\(.*\))$$/\1/p'); \
	valgrind --quiet --tool=callgrind --callgrind-out-file=$(PROFILE)/callgrind.out "$$program" --profile; \
	valgrind --quiet --tool=callgrind --demangle=no --separate-callers=64 \
		--callgrind-out-file=$(PROFILE)/stacks.out "$$program" --profile
	@$(BIN)/python -m benches.flame $(PROFILE)/stacks.out $(PROFILE)
	@callgrind_annotate --inclusive=yes $(PROFILE)/callgrind.out >$(PROFILE)/inclusive.txt
	@callgrind_annotate $(PROFILE)/callgrind.out >$(PROFILE)/self.txt
	@echo "wrote $(PROFILE)/flame.svg, folded.txt, inclusive.txt and self.txt"
