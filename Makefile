# The front door. `.ci/run` calls some targets, `make nightly` what CI does not. `make` alone lists them.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# One set of flags for every build for tests, so that no step rebuilds what another has built.
# Not optimized, as in debug, but each module is compiled as a whole, in a fifth less time, and securestore's parser
# of arguments doesn't look for faults of its own in each of 2,000 calls: docs/decisions/package.md.
# All traits are on: `make demo` builds programs with the default ones, `make client` with none. Line tables are
# enough for backtraces, and full debug information takes a fifth more time.
export SWIFT_FLAGS ?= -c release -Xswiftc -Onone -Xswiftc -enable-testing --enable-all-traits \
  -Xswiftc -warnings-as-errors -Xswiftc -gline-tables-only --explicit-target-dependency-import-check error

# SwiftPM hands the traits to the compiler in the order of a set, so otherwise a build may build everything again.
export SWIFT_DETERMINISTIC_HASHING = 1

# Where `make install` puts things.
PREFIX ?= /usr/local
DESTDIR ?=
# Whether `make tool` builds securestore with the desktop's keyring, which needs libsecret.
KEYRING ?= yes

# A fork in a threaded process is part of what the tests try.
TSAN = TSAN_OPTIONS=die_after_fork=0:second_deadlock_stack=1:suppressions=$(CURDIR)/scripts/thread.supp \
  SPS_SANITIZER=thread
ASAN = ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1:suppressions=$(CURDIR)/scripts/address.supp \
  LSAN_OPTIONS=suppressions=$(CURDIR)/scripts/leaks.supp SPS_SANITIZER=address

# The long tests, and those of what is said in release as well; those that print times run alone.
RELEASE = -Xswiftc -O --scratch-path .build-soak

# What takes too long for CI, or needs a desktop's daemons or root.
NIGHTLY = soak sanitize fuzz bench client-time client-size keyring-daemons docs-check service service-load service-image

.PHONY: help deps build test tool install demo lint docs docs-check bench keyring-daemons soak fuzz sanitize nightly \
  client client-time client-size service service-load service-image clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

deps: ## Install the distribution's packages that are missing, nothing otherwise
	@scripts/deps.sh

build: deps ## Build the library and securestore; any warning is an error
	SPS_TOOL=1 swift build $(SWIFT_FLAGS)

test: deps ## Run the tests in a private environment (FILTER=regex picks some)
	@scripts/test.sh

tool: ## Build securestore in release; KEYRING=no builds it without the desktop's keyring
	@KEYRING="$(KEYRING)" scripts/deps.sh build
	@KEYRING="$(KEYRING)" scripts/install-tool.sh build

install: ## Install securestore, its manual page and completions (PREFIX=/usr/local DESTDIR=)
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" KEYRING="$(KEYRING)" scripts/install-tool.sh install

demo: deps ## Run the examples in a private environment
	@scripts/demo.sh

lint: deps ## Check format, imports, scripts, links and the README's length
	@scripts/lint.sh

docs: deps ## Build the documentation's site, .build/docs; any warning is an error
	@scripts/docs.sh

docs-check: ## Build the documentation, follow its links and look at it in headless Chromium
	@scripts/docs-check.sh

bench: ## Run the benchmarks in release (BENCH_ARGS='...' are handed on)
	@scripts/deps.sh bench
	swift build -c release --package-path Benchmarks --product bench
	@scripts/private-env.sh \
	  "$$(swift build -c release --package-path Benchmarks --show-bin-path)/bench" $(BENCH_ARGS)
	@scripts/docs-plots.py pictures docs/benchmarks.md

keyring-daemons: ## Run the keyring's tests against the real KeePassXC and KWallet (FILTER=regex)
	@scripts/deps.sh daemons
	@scripts/keyring-daemons.sh keepassxc
	@scripts/keyring-daemons.sh kwallet

soak sanitize: export SPS_TEST_LIMIT = 14400

soak: deps ## Run the long tests in release
	@FILTER='InjectRegistryTests\.(Cycle|Async|Override|Race)' scripts/test.sh $(RELEASE)
	@SPS_SOAK=1 FILTER=ArriveSoonSoak scripts/test.sh $(RELEASE)
	@SPS_SOAK=alone FILTER=FailureTimesSoak scripts/test.sh $(RELEASE)
	@SPS_SOAK=1 scripts/test.sh $(RELEASE)

fuzz: deps ## Hand mutated bytes to every reader, FUZZ_SECONDS=60 each (FUZZ_TARGETS='...' picks some)
	@scripts/fuzz.sh

sanitize: deps ## Run the tests under the thread and the address sanitizer
	@$(TSAN) scripts/test.sh -c debug --sanitize=thread --scratch-path .build-tsan
	@SPS_SOAK=1 FILTER=ForAMinuteIsSafeSoak $(TSAN) scripts/test.sh -c debug --sanitize=thread \
	  --scratch-path .build-tsan
	@$(ASAN) scripts/test.sh -c debug --sanitize=address --scratch-path .build-asan

nightly: ## Run what CI does not, each even if another failed; service-image only as root
	@failed=(); SPS_DEPTH=full SPS_TEST_LIMIT=7200 $(MAKE) test || failed+=(test); \
	for target in $(NIGHTLY); do \
	  [[ $$target != service-image || $$(id -u) -eq 0 ]] || continue; \
	  printf '\n==== make %s (%d s so far)\n' "$$target" "$$SECONDS"; \
	  $(MAKE) "$$target" || failed+=("$$target"); \
	done; \
	[[ $${#failed[@]} -eq 0 ]] || { echo "nightly: failed: $${failed[*]}" >&2; exit 1; }

client: deps ## Build what users write, without libsecret, and look at what it and its tests leave and say
	@scripts/client.sh test

client-time: deps ## Time clean release builds of programs that use the library; fail beyond a limit
	@scripts/client.sh time

client-size: deps ## Print how large a program that reads a vault is, and how long it takes to start
	@scripts/client.sh size

service: ## Run the tests of the example service, and look at its real process and its unit file
	@scripts/deps.sh service
	@scripts/service.sh test
	@scripts/service-unit.sh

service-load: ## Run the example service in release under load, while its keys are rotated
	@scripts/deps.sh service
	@scripts/service.sh load

service-image: ## Run the example service in a system that holds only the packages it needs (as root)
	@scripts/deps.sh service
	@scripts/service-image.sh

clean: ## Remove everything that was built or downloaded
	rm -rf .build .build-* Benchmarks/.build Examples/.build Examples/TokenService/.build Fuzz/.build
