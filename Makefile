SHELL := /bin/sh
# The project's own pinned Node and tools come first, whatever the machine has.
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)
installed := node_modules/.package-lock.json

.DEFAULT_GOAL := help
.PHONY: help setup demo test check coverage bench-protection clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(installed) ## install the pinned runtime and libraries (does nothing when up to date)

$(installed): package.json package-lock.json
	@npm ci --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error
	@touch $@

demo: $(installed) ## try it: a provider, the relay and a front end on this machine
	@node bin/login-relay.ts demo

test: $(installed) ## run every test
	@mocha $(if $(CI),--forbid-pending) 'test/**/*.test.ts'

check: $(installed) ## types, lint, imports, unused code
	@tsc
	@biome check --error-on-warnings .
	@knip

coverage: $(installed) ## run every test and report coverage
	@c8 mocha 'test/**/*.test.ts'

bench-protection: $(installed) ## what login protection costs, in CPU time
	@node bench/login-protection.ts

clean: ## remove what was installed and built
	rm -rf node_modules coverage dist
