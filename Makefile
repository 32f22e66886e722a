SHELL := /bin/sh
# All targets run on the pinned Node.js.
node := scripts/node
mocha := $(node) node_modules/mocha/bin/mocha.js $(if $(CI),--forbid-pending)
tsc := $(node) node_modules/typescript/bin/tsc
installed := node_modules/.package-lock.json
# Override the user's settings, because engine-strict would refuse the tools on Node.js 18, and NODE_ENV=production
# would leave them out. Retry, because a registry may fail for a moment.
install := npm ci --include=dev --include=optional --engine-strict=false --ignore-scripts \
  --fetch-retries=5 --no-audit --no-fund --no-update-notifier --loglevel=error

.DEFAULT_GOAL := help
.PHONY: help setup demo dev fix check test test-fast test-slow test-options test-programs test-newcomers test-binary
.PHONY: test-browsers test-all test-clients test-generators test-faults test-providers test-systemd coverage
.PHONY: bench bench-quick docs-site screenshots client binary package image release test-release clean

# All dates in built files are the date of the commit, so that builds are reproducible.
export SOURCE_DATE_EPOCH := $(or $(SOURCE_DATE_EPOCH),$(shell git log -1 --format=%ct 2>/dev/null || echo 0))

# Lists the targets that have a comment with ##, in their groups.
help:
	@awk -F ':.*## ' '/^## / { printf "\n%s\n", substr($$0, 4) } \
	  /^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo 'scripts/long lists the tests and measurements that take minutes or hours.'

# Installs the pinned runtime and the libraries. Does nothing if they are up to date.
setup: $(installed)

$(installed): package.json package-lock.json
	@echo "Installing the libraries: about a minute …"
	@$(install)
	@touch $@

# Installs a folder that has its own libraries. The versions of Node.js and npm for newcomers install no commands,
# because their commands have the same names.
nested = $(addsuffix /node_modules/.package-lock.json,$1)
%/node_modules/.package-lock.json: %/package.json %/package-lock.json $(installed)
	@$(install) --prefix $* $(if $(findstring machines,$*),--no-bin-links)
	@touch $@

## Try it

demo: $(installed) ## run a provider, the relay and a front end on this machine
	@$(node) bin/login-relay.ts demo

dev: $(installed) ## run the demo, and restart it when a source file changes
	@$(node) --watch-path=src --watch-preserve-output bin/login-relay.ts demo

## Change it

fix: $(installed) ## format the code, and fix what lint can fix
	@$(node) node_modules/@biomejs/biome/bin/biome check --write .

check: $(installed) ## check types, lint, and unused code
	@$(tsc)
	@$(tsc) -p client
	@$(node) node_modules/@biomejs/biome/bin/biome check --error-on-warnings .
	@$(node) node_modules/knip/bin/knip.js

# The relay and its libraries in one script, as in the executable. Tests start hundreds of relays, and a relay starts
# in half the time from this script. A suite that is run without make starts relays from the sources.
script := dist/login-relay.cjs
with_script := LOGIN_RELAY=$(CURDIR)/$(script)
$(script): $(installed) $(wildcard package.json bin/* src/* src/*/* src/*/*/* client/* scripts/binary/*)
	@$(node) scripts/binary/make-script.ts bin/login-relay.ts $@

subjects := {client,config,contract,grants,http,login,oauth,origins,providers,upstream}
test-fast: $(script) ## run the tests that start no process, and a few others (20 seconds on two free cores)
	@$(with_script) $(mocha) --parallel --jobs 2 'test/$(subjects)/!(*.blackbox|*.flow|*.property).test.ts' \
	  $(addprefix test/contract/,$(addsuffix .blackbox.test.ts,start-login login-callback current-user)) \
	  test/project/documented.test.ts test/project/what-is-kept.test.ts

test: $(script) ## run the tests that need no other program (less than two minutes)
	@$(with_script) $(mocha) --parallel --jobs 2 --ignore 'test/slow/**' 'test/**/*.test.ts'; status=$$?; \
	  echo '  left out: test/slow, which takes minutes or needs browsers, balancers or packages; make test-all'; \
	  exit $$status

# CI runs this with -j2 on two cores, because most tests wait for processes. The longest targets come first. Nothing
# runs twice. make test runs in the fresh clone of a newcomer, where programs are missing, and test-programs runs the
# tests that it leaves out there. In Chromium, test-slow runs all tests of test-browsers and more.
test-all: export ENGINES ?= Firefox WebKitGTK
test-all: BENCH ?= --contender relay --contender 'grant on Koa'
test-all: test-slow test-newcomers test-binary test-options test-browsers bench-quick check test-programs ## run all that CI runs

# Runs the tests that take longer, or need browsers, balancers or packages. The tests of the process run in
# test-binary.
test-slow: $(script) $(call nested,test/slow/cms)
	@$(with_script) $(mocha) --parallel --jobs 2 --ignore '**/node_modules/**' --ignore 'test/slow/operations/**' \
	  'test/slow/**/*.test.ts'

# Runs tests of logins again, for each way to log in. Each relay has every option that its test leaves free: shared
# memory, metrics, JSON log, TLS, a path in its address, two keys. Needs redis-server.
test-options: $(script)
	@EVERY_OPTION=1 $(with_script) $(mocha) --parallel --jobs 2 \
	  'test/session/@(refresh-and-logout|session).blackbox.test.ts' \
	  'test/oauth-server/@(authorize|metadata|revocation|token-endpoint).blackbox.test.ts' \
	  'test/registrations/@(cms|log-in-again|selection).blackbox.test.ts' \
	  'test/access/@(deliveries|refused-page).test.ts' 'test/clients/@(native|registration).test.ts' \
	  'test/browsers/!(diagonal|records|websockets).test.ts' \
	  'test/resources/!(gateway.flow).test.ts' 'test/providers/several-oddities.test.ts'

# Runs the tests that `make test` leaves out on a machine without the programs that they need.
test-programs: $(script)
	@$(with_script) $(mocha) $$(grep -rlE --include='*.test.ts' --exclude-dir=slow 'needs(Programs|Root)?\(' test)

newcomers := $(addprefix test-newcomer-,node-18 node-20 node-22 node-24 node-26)
.PHONY: $(newcomers)
# Runs the two commands of the README in fresh clones with Node.js 18 to 26, and the tests with two of them. Needs Debian.
test-newcomers: $(newcomers)
$(newcomers): test-newcomer-%: $(call nested,test/slow/newcomer/machines)
	@MACHINE=$* $(mocha) test/slow/newcomer/newcomer.ts

# Runs the executable in an empty root, and the black-box tests of the process. The other black-box tests run with the
# same script in make test.
test-binary: binary
	@LOGIN_RELAY=$(CURDIR)/dist/login-relay $(mocha) --parallel --jobs 2 \
	  'test/{cli,operations,server}/*.blackbox.test.ts' test/contract/start-login.blackbox.test.ts \
	  'test/slow/operations/*.blackbox.test.ts' 'test/slow/executable/*.executable.ts'

# Logs in with every browser engine. To select some: ENGINES="Chromium Firefox WebKitGTK".
test-browsers: $(script) $(call nested,test/slow/engines)
	@$(tsc) -p test/slow/engines
	@$(with_script) $(mocha) 'test/slow/engines/*.engine.ts'

test-clients: $(call nested,test/slow/clients test/slow/clients/programs) ## log in with published, unregistered clients
	@$(tsc) -p test/slow/clients
	@$(mocha) 'test/slow/clients/*.client.ts'

# Installs the examples from a relay, builds and drives them. Needs the package registry.
test-generators: $(installed)
	@$(mocha) test/slow/front-end/examples.generator.ts

# Logs in at real OAuth and OpenID servers, and checks them. Needs their Debian packages, and Chromium.
test-providers: $(installed)
	@$(mocha) 'test/slow/providers/*.provider.ts'

# Runs the executable as a service of a real systemd. Needs Linux and root.
test-systemd: binary
	@LOGIN_RELAY=$(CURDIR)/dist/login-relay $(mocha) test/slow/systemd/service.ts

test-faults: $(installed) ## run the relay on a full disk, without memory, with a wrong clock… (Linux, root)
	@$(mocha) 'test/slow/faults/*.{test,fault}.ts' 'test/slow/shared-memory/*.fault.ts'

# Runs the tests and reports their coverage.
coverage: $(installed)
	@$(node) node_modules/c8/bin/c8.js $(mocha) 'test/**/*.test.ts'

## Measure it

# To measure a part: make bench BENCH='--workload user-lookup --contender relay'. To put the figures into docs/:
# make bench BENCH=--write. Beside an earlier version: make bench BEFORE=<its checkout, with node_modules>.
bench: binary $(call nested,bench/peers) ## measure the relay and similar programs (twenty minutes)
	@taskset -c 1 $(node) bench/run.ts $(BENCH)

# Runs every measurement once, in a minute. This tests the benchmark. Its figures have no meaning.
bench-quick: $(call nested,bench/peers)
	@taskset -c 1 $(node) bench/run.ts --quick $(BENCH)

## Build it

# Builds the browser client, which the relay serves, and its npm package.
client: $(installed)
	@$(node) scripts/build-client.ts

docs-site: $(call nested,docs-site) ## build a site from README and docs, with search: dist/docs
	@$(node) docs-site/node_modules/vitepress/bin/vitepress.js build docs-site

# Takes the pictures of the README, in docs. Needs Chromium.
screenshots: $(installed)
	@$(node) scripts/screenshots.ts

binary: $(installed) ## build the executable for this machine
	@$(node) scripts/binary/make-binary.ts bin/login-relay.ts dist/login-relay

# Builds the container image on a base image that is named by its digest, which it prints. To build on the same base
# image again: make image BASE=node@sha256:…
BASE = node:26-bookworm
image:
	@case $(BASE) in *@*) base=$(BASE) ;; *) base=$(BASE)@$$(docker buildx imagetools inspect \
	  --format '{{.Manifest.Digest}}' $(BASE)) || exit ;; esac; echo "BASE=$$base"; \
	  docker build --build-arg BASE="$$base" --file deploy/docker/Dockerfile --tag login-relay .

platforms := linux-x64 linux-arm64 macos-x64 macos-arm64 windows-x64
executables := $(platforms:%=dist/%/login-relay)
.PHONY: $(executables)
$(executables): dist/%/login-relay: $(installed)
	@$(node) scripts/binary/make-binary.ts bin/login-relay.ts $@ $*

# The other files in packages and archives: the manual page, the shell completions, the licences.
.PHONY: share
share: $(installed)
	@scripts/share.sh dist/share
	@$(node) scripts/third-party-licenses.ts >dist/THIRD-PARTY-LICENSES.txt

package: binary share ## build the Debian package for this machine
	@$(node) scripts/debian-package.ts $$(dpkg --print-architecture) dist/login-relay dist

# The results include the bill of materials, and the notes of the release.
release: $(executables) share ## build archives and packages for all platforms
	@$(node) scripts/sbom.ts >dist/login-relay.cdx.json
	@$(node) scripts/release-notes.ts >dist/NOTES.md
	@$(node) scripts/debian-package.ts amd64 dist/linux-x64/login-relay dist
	@$(node) scripts/debian-package.ts arm64 dist/linux-arm64/login-relay dist
	@for platform in $(platforms); do \
	  $(node) --disable-warning=ExperimentalWarning scripts/binary/make-archive.ts dist/$$platform/login-relay $$platform || exit; \
	done
	@cp client/client.tgz dist/login-relay-client-$$($(node) -p 'require("./package.json").version').tgz
	@cd dist && sha256sum NOTES.md login-relay*.* >SHA256SUMS && cat SHA256SUMS

# Builds the release again in another directory, and compares the bytes.
test-release: release
	@scripts/test-release.sh

clean: ## remove installed and built files
	rm -rf node_modules coverage dist
