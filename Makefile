SHELL := /bin/sh
# All targets run on the pinned Node.js.
node := scripts/node
mocha := $(node) node_modules/mocha/bin/mocha.js $(if $(CI),--forbid-pending)
tsc := $(node) node_modules/typescript/bin/tsc
installed := node_modules/.package-lock.json
# The user's settings do not matter: engine-strict would refuse the tools on Node.js 18, and
# NODE_ENV=production would leave them out.
install := npm ci --include=dev --include=optional --engine-strict=false --ignore-scripts \
  --no-audit --no-fund --no-update-notifier --loglevel=error

.DEFAULT_GOAL := help
.PHONY: help setup demo dev fix test test-fast check coverage bench bench-quick clean share sbom deb
.PHONY: client binary image test-binary test-restarts test-systemd bench-start release test-release
.PHONY: test-options bench-steady test-rolling test-generators test-clients
.PHONY: soak cross-talk test-faults test-browsers test-programs test-providers test-slow test-all
.PHONY: fuzz fuzz-requests fuzz-answers fuzz-costs fuzz-properties

# All dates in built files are the date of the commit, so that builds are reproducible.
export SOURCE_DATE_EPOCH := $(or $(SOURCE_DATE_EPOCH),$(shell git log -1 --format=%ct 2>/dev/null || echo 0))

# Lists the targets that have a comment with ##, in their groups.
help:
	@awk -F ':.*## ' '/^## / { printf "\n%s\n", substr($$0, 4) } \
	  /^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo 'The Makefile has more targets. A comment explains each.'

# Installs the pinned runtime and the libraries. Does nothing if they are up to date.
setup: $(installed)

$(installed): package.json package-lock.json
	@$(install)
	@touch $@

## Try it

demo: $(installed) ## run a provider, the relay and a front end on this machine
	@$(node) bin/login-relay.ts demo

dev: $(installed) ## run the demo, and restart it when a source file changes
	@$(node) --watch-path=src --watch-preserve-output bin/login-relay.ts demo

## Change it

fix: $(installed) ## format the code, and fix what lint can fix
	@$(node) node_modules/@biomejs/biome/bin/biome check --write .

test: $(installed) ## run the tests that need no other program (less than two minutes)
	@$(mocha) --parallel --jobs 2 --ignore 'test/slow/**' 'test/**/*.test.ts'; status=$$?; \
	  echo '  left out: test/slow, which takes minutes or needs browsers, balancers or packages; make test-all'; \
	  exit $$status

subjects := {client,config,contract,grants,http,login,oauth,origins,providers,upstream}
test-fast: $(installed) ## run the tests that start no process, and a few others (less than 15 seconds)
	@$(mocha) --parallel --jobs 2 'test/$(subjects)/!(*.blackbox|*.flow|*.property).test.ts' \
	  $(addprefix test/contract/,$(addsuffix .blackbox.test.ts,start-login login-callback current-user))

cms := test/slow/cms/node_modules/.package-lock.json
$(cms): test/slow/cms/package.json test/slow/cms/package-lock.json $(installed)
	@$(install) --prefix test/slow/cms
	@touch $@

# Installs the examples from a relay, builds and drives them. Needs the package registry.
test-generators: $(installed)
	@$(mocha) test/slow/front-end/examples.generator.ts

# Runs tests of logins again. Each relay has every option that its test leaves free: shared memory, metrics, JSON log,
# TLS, a path in its address, two keys. Needs redis-server.
test-options: $(installed)
	@EVERY_OPTION=1 $(mocha) --parallel --jobs 2 'test/{session,oauth-server,registrations}/*.blackbox.test.ts' \
	  'test/access/{deliveries,openid.blackbox,refreshes,refused-page}.test.ts' \
	  'test/clients/{native,registration}.test.ts' test/slow/config/option-pairs.test.ts

# Runs the tests of `make test` that it leaves out on a machine without their programs.
test-programs: $(installed)
	@$(mocha) $$(grep -rlE --include='*.test.ts' --exclude-dir=slow 'needs(Programs|Root)?\(' test)

# Runs the tests that take longer, or need browsers, balancers or packages.
test-slow: $(installed) $(cms)
	@$(mocha) --parallel --jobs 2 --ignore '**/node_modules/**' 'test/slow/**/*.test.ts'

# Run it with -j2 on two cores: most tests wait for processes. The longest targets come first.
test-all: test-slow test test-newcomers test-binary test-browsers test-generators test-clients test-options ## run all tests

check: $(installed) ## check types, lint, and unused code
	@$(tsc)
	@$(tsc) -p client
	@$(node) node_modules/@biomejs/biome/bin/biome check --error-on-warnings .
	@$(node) node_modules/knip/bin/knip.js

engines := test/slow/engines/node_modules/.package-lock.json
$(engines): test/slow/engines/package.json test/slow/engines/package-lock.json $(installed)
	@$(install) --prefix test/slow/engines
	@touch $@

machines := test/slow/newcomer/machines/node_modules/.package-lock.json
$(machines): test/slow/newcomer/machines/package.json test/slow/newcomer/machines/package-lock.json $(installed)
	@$(install) --prefix test/slow/newcomer/machines --no-bin-links
	@touch $@

newcomers := $(addprefix test-newcomer-,node-18 node-20 node-22 node-24 node-26)
.PHONY: test-newcomers $(newcomers)
# Runs the two commands of the README in fresh clones with Node.js 18 to 26. Needs Debian.
test-newcomers: $(newcomers)
$(newcomers): test-newcomer-%: $(machines)
	@MACHINE=$* $(mocha) test/slow/newcomer/newcomer.ts

clients := test/slow/clients/node_modules/.package-lock.json
$(clients): test/slow/clients/package.json test/slow/clients/package-lock.json $(installed)
	@$(install) --prefix test/slow/clients

test-clients: $(clients) ## log in with published clients that nobody registered
	@$(tsc) -p test/slow/clients
	@$(mocha) 'test/slow/clients/*.client.ts'

# Logs in with every browser engine. To select some: ENGINES="Chromium Firefox WebKitGTK".
test-browsers: $(engines)
	@$(tsc) -p test/slow/engines
	@$(mocha) 'test/slow/engines/*.engine.ts'

## Try to break it

test-faults: $(installed) ## run the relay on a full disk, without memory, with a wrong clock… (Linux, root)
	@$(mocha) 'test/slow/faults/*.{test,fault}.ts' 'test/slow/shared-memory/*.fault.ts'

# Logs in at real OAuth and OpenID servers, and checks them. Needs their Debian packages, and Chromium.
test-providers: $(installed)
	@$(mocha) $(if $(CI),--forbid-pending) 'test/slow/providers/*.provider.ts'

# Sends 1,100,000 logins and lookups with faults of the provider, and watches the process.
# For other counts: make soak LOOKUPS=10000 LOGINS=1000.
LOOKUPS = 1000000
LOGINS = 100000
soak: $(installed)
	@LOOKUPS=$(LOOKUPS) LOGINS=$(LOGINS) $(mocha) test/slow/endurance/soak.test.ts

# Checks 1,000,000 answers over disturbed connections: each client must get its own answer.
REPLIES = 1000000
cross-talk: $(installed)
	@REPLIES=$(REPLIES) $(mocha) --fgrep 'own answers' test/slow/upstream/cross-talk.blackbox.test.ts

fuzz: fuzz-requests fuzz-answers fuzz-costs fuzz-properties ## send hostile requests and provider responses, and random input to the parsers

# Sends 1,000,000 hostile requests. For another count: make fuzz-requests REQUESTS=10000 SEED=1.
REQUESTS = 1000000
fuzz-requests: $(installed)
	@REQUESTS=$(REQUESTS) $(mocha) --fgrep 'hostile requests' test/slow/fuzz/hostile.test.ts

# Sends 200,000 hostile provider responses. For another count: make fuzz-answers ANSWERS=10000 SEED=1.
ANSWERS = 200000
fuzz-answers: $(installed)
	@ANSWERS=$(ANSWERS) $(mocha) --fgrep 'hostile answers' test/slow/fuzz/hostile.test.ts

# Measures what 3,000 requests cost beside a start of a login. For others: make fuzz-costs COSTS=100 SEED=1.
COSTS = 3000
fuzz-costs: $(installed)
	@COSTS=$(COSTS) $(mocha) --fgrep 'expensive requests' test/slow/fuzz/hostile.test.ts

# Tests each parser with 100,000 random inputs.
fuzz-properties: $(installed)
	@FUZZ_RUNS=100000 $(mocha) --timeout 0 'test/fuzz/*.property.test.ts'

# Runs the tests and reports their coverage.
coverage: $(installed)
	@$(node) node_modules/c8/bin/c8.js $(mocha) 'test/**/*.test.ts'

peers := bench/peers/node_modules/.package-lock.json
$(peers): bench/peers/package.json bench/peers/package-lock.json
	@$(install) --prefix bench/peers
	@touch $@

## Measure it

# To measure a part: make bench BENCH='--workload user-lookup --contender relay'. To put the figures into docs/:
# make bench BENCH=--write. Beside an earlier version: make bench BEFORE=<its checkout, with node_modules>.
bench: $(installed) $(peers) binary ## measure the relay and similar programs (twenty minutes)
	@taskset -c 1 $(node) bench/run.ts $(BENCH)

# Completes logins at half of the capacity for ten minutes. Fails if a garbage collection takes more than 50 ms.
# For another time: make bench-steady MINUTES=1.
MINUTES = 10
bench-steady: $(installed)
	@taskset -c 1 $(node) bench/steady.ts $(MINUTES)

# Runs every measurement once, in a minute. This tests the benchmark; the figures mean nothing.
bench-quick: $(installed) $(peers)
	@taskset -c 1 $(node) bench/run.ts --quick $(BENCH)

## Build it

# Builds the browser client, which the relay serves, and its npm package.
client: $(installed)
	@$(node) scripts/build-client.ts

# Builds the manual page and the shell completions.
share: $(installed)
	@scripts/share.sh dist/share

# Builds the bill of materials of the executable, and the list of licences.
sbom: $(installed)
	@mkdir -p dist
	@$(node) scripts/sbom.ts >dist/login-relay.cdx.json
	@$(node) scripts/third-party-licenses.ts >dist/THIRD-PARTY-LICENSES.txt

binary: $(installed) ## build the executable for this machine
	@$(node) scripts/binary/make-binary.ts bin/login-relay.ts dist/login-relay

# Runs the black-box tests with the executable, and the executable in an empty root. The long ones in test/slow
# run only from source, except those of the process itself.
test-binary: binary
	@LOGIN_RELAY=$(CURDIR)/dist/login-relay $(mocha) --parallel --jobs 2 'test/!(slow)/**/*.blackbox.test.ts' \
	  'test/slow/operations/*.blackbox.test.ts' 'test/slow/executable/*.executable.ts'

# Restarts the executable 20 times under 200 requests per second.
test-restarts: binary
	@LOGIN_RELAY=$(CURDIR)/dist/login-relay RESTARTS=20 $(mocha) --fgrep 'again and again' test/slow/operations/socket-activation.blackbox.test.ts

# Runs the executable as a service of a real systemd. Needs Linux and root.
test-systemd: binary
	@LOGIN_RELAY=$(CURDIR)/dist/login-relay $(mocha) test/slow/systemd/service.ts

# Restarts each of three replicas behind HAProxy 100 times during logins.
test-rolling: binary
	@LOGIN_RELAY=$(CURDIR)/dist/login-relay RESTARTS=100 $(mocha) test/slow/deploy/rolling-restarts.test.ts

# Measures how long the executable takes to start.
bench-start: binary
	@$(node) scripts/binary/make-binary.ts scripts/binary/empty.ts dist/build/empty
	@LOGIN_RELAY=dist/login-relay $(node) scripts/binary/measure-start.ts dist/build/empty

# Builds the container image on a base image that is named by its digest, which it prints. To build on the same one
# again: make image BASE=node@sha256:…
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

# Builds the Debian packages.
deb: share sbom dist/linux-x64/login-relay dist/linux-arm64/login-relay
	@$(node) scripts/debian-package.ts amd64 dist/linux-x64/login-relay dist
	@$(node) scripts/debian-package.ts arm64 dist/linux-arm64/login-relay dist

release: deb $(executables) ## build archives and packages for all platforms
	@for platform in $(platforms); do \
	  $(node) --disable-warning=ExperimentalWarning scripts/binary/make-archive.ts dist/$$platform/login-relay $$platform || exit; \
	done
	@cp client/client.tgz dist/login-relay-client-$$($(node) -p 'require("./package.json").version').tgz
	@cd dist && sha256sum login-relay*.* >SHA256SUMS && cat SHA256SUMS

# Builds the release again in another directory, and compares the bytes.
test-release: release
	@scripts/test-release.sh

clean: ## remove installed and built files
	rm -rf node_modules coverage dist
