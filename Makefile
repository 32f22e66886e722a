SHELL := /bin/sh
# Everything runs on the pinned Node.js, whatever the machine has.
node := scripts/node
mocha := $(node) node_modules/mocha/bin/mocha.js $(if $(CI),--forbid-pending)
tsc := $(node) node_modules/typescript/bin/tsc
installed := node_modules/.package-lock.json

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-fast check coverage bench bench-quick clean share sbom deb
.PHONY: binary test-binary test-restarts test-systemd bench-start release test-release
.PHONY: test-rolling
.PHONY: soak cross-talk test-faults test-browsers test-slow test-all
.PHONY: fuzz fuzz-requests fuzz-answers fuzz-properties

# The date of what is built: the same commit yields the same bytes.
export SOURCE_DATE_EPOCH := $(or $(SOURCE_DATE_EPOCH),$(shell git log -1 --format=%ct 2>/dev/null || echo 0))

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-23s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(installed) ## install the pinned runtime and libraries (does nothing when up to date)

$(installed): package.json package-lock.json
	@npm ci --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error
	@touch $@

demo: $(installed) ## try it: a provider, the relay and a front end on this machine
	@$(node) bin/login-relay.ts demo

test: $(installed) ## run the tests that need no other program: under two minutes
	@$(mocha) --ignore 'test/slow/**' 'test/**/*.test.ts'; status=$$?; \
	  echo '  left out: test/slow, which takes minutes or needs browsers, balancers or packages; make test-all'; \
	  exit $$status

subjects := {config,contract,http,login,oauth,providers,upstream}
test-fast: $(installed) ## run the tests that start no process, and a few of the contract: under 15 seconds
	@$(mocha) 'test/$(subjects)/!(*.blackbox|*.flow|*.property).test.ts' \
	  'test/contract/{start-login,login-callback,current-user}.blackbox.test.ts'

test-slow: $(installed) ## run the tests that take longer, and those with browsers, balancers and packages
	@$(mocha) 'test/slow/**/*.test.ts'

# With -j2 they share two cores well: most tests wait for processes.
test-all: test test-slow test-binary test-newcomers test-browsers ## run everything

check: $(installed) ## types, lint, imports, unused code
	@$(tsc)
	@$(node) node_modules/@biomejs/biome/bin/biome check --error-on-warnings .
	@$(node) node_modules/knip/bin/knip.js

engines := test/slow/engines/node_modules/.package-lock.json
$(engines): test/slow/engines/package.json test/slow/engines/package-lock.json $(installed)
	@npm ci --prefix test/slow/engines --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error
	@touch $@

machines := test/slow/newcomer/machines/node_modules/.package-lock.json
$(machines): test/slow/newcomer/machines/package.json test/slow/newcomer/machines/package-lock.json $(installed)
	@npm ci --prefix test/slow/newcomer/machines --no-bin-links --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error
	@touch $@

newcomers := $(addprefix test-newcomer-,node-18 node-20 node-22 node-24 node-26)
.PHONY: test-newcomers $(newcomers)
test-newcomers: $(newcomers) ## run make demo and make test in fresh clones with Node.js 18 to 26 (Debian)
$(newcomers): test-newcomer-%: $(machines)
	@MACHINE=$* $(mocha) test/slow/newcomer/newcomer.ts

test-browsers: $(engines) ## log in with every browser engine (ENGINES="Chromium Firefox WebKitGTK")
	@$(tsc) -p test/slow/engines
	@$(mocha) 'test/slow/engines/*.engine.ts'

test-faults: $(installed) ## break what the relay stands on, and tell what happened (Linux, root)
	@mkdir -p dist
	@FAULTS_TABLE=dist/faults.md $(mocha) 'test/faults/*.test.ts' 'test/slow/faults/*.fault.ts'; \
	  status=$$?; cat dist/faults.md; exit $$status

soak: $(installed) ## log in and look up 1,100,000 times with faults, watching the process (SOAK="--lookups 10000 --logins 1000")
	@$(node) test/slow/endurance/soak.ts $(SOAK)

cross-talk: $(installed) ## compare 1,000,000 answers over abused connections with whose they are
	@$(node) test/slow/endurance/cross-talk.ts $(CROSS_TALK)

fuzz: fuzz-requests fuzz-answers fuzz-properties ## hostile requests, hostile provider answers, properties of the parsers

fuzz-requests: $(installed) ## 1,000,000 hostile requests (FUZZ="--requests 10000 --seed 1")
	@$(node) fuzz/requests.ts $(FUZZ)

fuzz-answers: $(installed) ## 200,000 hostile provider answers (FUZZ="--answers 10000 --seed 1")
	@$(node) fuzz/provider-answers.ts $(FUZZ)

fuzz-properties: $(installed) ## 100,000 cases for each parser
	@FUZZ_RUNS=100000 $(mocha) --timeout 0 test/fuzz/parsers.property.test.ts

coverage: $(installed) ## run the tests and report coverage
	@$(node) node_modules/c8/bin/c8.js $(mocha) 'test/**/*.test.ts'

peers := bench/peers/node_modules/.package-lock.json
$(peers): bench/peers/package.json bench/peers/package-lock.json
	@cd bench/peers && npm ci --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error
	@touch $@

# BENCH chooses a part: make bench BENCH='--workload user-lookup --contender relay'
bench: $(installed) $(peers) binary ## measure the relay beside its peers and its limits: twenty minutes
	@taskset -c 1 $(node) bench/run.ts $(BENCH)

bench-quick: $(installed) $(peers) ## see that everything that is measured works: a minute
	@taskset -c 1 $(node) bench/run.ts --quick $(BENCH)

share: $(installed) ## build the manual page and the shell completions
	@scripts/share.sh dist/share

sbom: $(installed) ## list what is inside the binary, with the licences
	@mkdir -p dist
	@$(node) scripts/sbom.ts >dist/login-relay.cdx.json
	@$(node) scripts/third-party-licenses.ts >dist/THIRD-PARTY-LICENSES.txt

binary: $(installed) ## build the executable for this machine
	@$(node) scripts/binary/make-binary.ts bin/login-relay.ts dist/login-relay

test-binary: binary ## run the black-box tests against the executable, and the executable in an empty root
	@LOGIN_RELAY=$(CURDIR)/dist/login-relay $(mocha) 'test/**/*.blackbox.test.ts' 'test/slow/executable/*.executable.ts'

test-restarts: binary ## stop and start the executable 20 times under 200 requests a second
	@LOGIN_RELAY=$(CURDIR)/dist/login-relay RESTARTS=20 $(mocha) --fgrep 'again and again' test/operations/socket-activation.blackbox.test.ts

test-systemd: binary ## run the executable as a service of a real systemd: needs Linux and root
	@LOGIN_RELAY=$(CURDIR)/dist/login-relay $(mocha) test/slow/systemd/service.ts

test-rolling: binary ## restart each of three replicas behind HAProxy 100 times while people log in
	@LOGIN_RELAY=$(CURDIR)/dist/login-relay RESTARTS=100 $(mocha) test/slow/deploy/rolling-restarts.test.ts

bench-start: binary ## measure how long the executable takes to start
	@$(node) scripts/binary/make-binary.ts scripts/binary/empty.ts dist/build/empty
	@$(node) scripts/binary/measure-start.ts dist/login-relay dist/build/empty

platforms := linux-x64 linux-arm64 macos-x64 macos-arm64 windows-x64
executables := $(platforms:%=dist/%/login-relay)
.PHONY: $(executables)
$(executables): dist/%/login-relay: $(installed)
	@$(node) scripts/binary/make-binary.ts bin/login-relay.ts $@ $*

deb: share sbom dist/linux-x64/login-relay dist/linux-arm64/login-relay ## build the Debian packages
	@$(node) scripts/debian-package.ts amd64 dist/linux-x64/login-relay dist
	@$(node) scripts/debian-package.ts arm64 dist/linux-arm64/login-relay dist

release: deb $(executables) ## build everything that is downloaded, for every platform
	@for platform in $(platforms); do \
	  $(node) --disable-warning=ExperimentalWarning scripts/binary/make-archive.ts dist/$$platform/login-relay $$platform || exit; \
	done
	@cd dist && sha256sum login-relay*.* >SHA256SUMS && cat SHA256SUMS

test-release: release ## build the release once more elsewhere, and compare
	@scripts/test-release.sh

clean: ## remove what was installed and built
	rm -rf node_modules coverage dist
