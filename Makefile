# Everything here works on a fresh machine: it first sets up what it needs, and does nothing twice.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules
# cargo and the others share out the cores themselves, and apt does not run twice at a time.
.NOTPARALLEL:

# The Python that the environment is made from; 3.11 or newer.
PYTHON ?= python3
PYTEST_ARGS ?=

# The interpreter itself, also when an environment is active: an environment cannot be made anew from its own.
BASE_PYTHON := $(shell $(PYTHON) -c 'import sys; print(sys._base_executable)' 2>/dev/null || echo $(PYTHON))

PY := .venv/bin/python
UV := .build/uv/bin/uv
STAMPS := .build/stamps
ASSETS := src/firstlight/assets
# Guests of other architectures than the default one.
OTHER_GUESTS := $(addprefix $(ASSETS)/firstlight-guest-,aarch64 arm mips64el ppc64le riscv64)
# And what the study of tree walks runs in them.
OTHER_WALKERS := $(addprefix $(ASSETS)/firstlight-,walk-aarch64 restat-aarch64.so)
COMPILE := $(UV) pip compile -q --generate-hashes --universal --python-version 3.11 --no-annotate \
	--custom-compile-command 'make lock'

# The environment's own tools come first, and cargo builds the binding for its Python.
export PATH := $(CURDIR)/.venv/bin:$(CURDIR)/.build/node/bin:$(CURDIR)/.build/uv/bin:$(PATH)
export VIRTUAL_ENV := $(CURDIR)/.venv
export PYO3_PYTHON := $(CURDIR)/$(PY)
export UV_PYTHON_DOWNLOADS := never
# The machine's own certificates, so that a mirror with one of its own serves.
export UV_SYSTEM_CERTS := true

rust = $(shell find $(addprefix crates/,$(1)) -type f) Cargo.toml Cargo.lock
WEB := $(shell find web -not -path 'web/node_modules*' -not -path 'web/dist*' -type f 2>/dev/null)

# What a target needs of the system is looked for at once, so that a person gets one command to run.
NEEDS_python := python
NEEDS_build := python build
NEEDS_run := python build run
NEEDS_test := python build run test
NEEDS_lint := python build lint
NEEDS_studies := python build run studies
NEEDS_clusters := clusters
NEEDS_loaders := loaders
PACKAGES := $(addprefix packages-,python build run test lint studies clusters loaders)
.PHONY: help demo check test foreign-debian loader-symbols lint studies matrix docs reference pictures page-pictures bench planted predictions causes corpus kconfig-tuning fleet-spark farm farm-clusters farm-stores hostile fuzz mutants vocabulary build web guest plugin oracle storage binding collector wheel reader-wheels foreign-reader image lock clean $(PACKAGES)

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  \1\t\2/' | expand -t 14

demo: packages-run build ## set up, build, record a boot into demo.boot, show it, write demo.html
	firstlight record -o demo.boot --force
	firstlight show demo.boot
	firstlight report demo.boot -o demo.html --force

# Some tests wait for a board, a server or a browser: one process more than there are processors keeps these busy.
test: packages-test build ## set up, build, and run every test
	cargo test --workspace --locked --quiet
	cd web && npm run --silent test
	make/other-qemu.sh || echo 'no second QEMU to be had: the test with one is skipped' >&2
	$(PY) -m pytest -n $$(($$(nproc) + 1)) --dist loadfile $(PYTEST_ARGS)

# Debian's packages for arm64 are configured under emulation the first time, which takes 10 to 20 minutes.
foreign-debian: packages-test build ## build Debian for arm64 and riscv64 once, and test that it boots exactly
	$(PY) -m firstlight image build debian --arch arm64
	$(PY) -m firstlight image build debian --arch riscv64
	$(PY) -m pytest tests/end_to_end/test_foreign_debian.py $(PYTEST_ARGS)

# What tells most within a minute, after each change; it needs what was built once, and builds nothing.
check: $(STAMPS)/python ## check formatting, types, layers and the unit tests, in under a minute of CPU
	cargo fmt --all --check
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	.venv/bin/lint-imports --no-logo
	$(PY) -m mypy
	$(PY) -m pytest -q tests/unit

loader-symbols: packages-test packages-loaders build ## build U-Boot for arm64 with its symbols once, and test that its instructions belong to functions
	firstlight image build u-boot-symbols --arch arm64
	$(PY) -m pytest tests/end_to_end/test_loaders_boot.py $(PYTEST_ARGS)

lint: packages-lint build ## check formatting, types and common faults
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked --quiet -- --deny warnings
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	.venv/bin/lint-imports --no-logo
	$(PY) -m mypy
	MYPYPATH=src $(PY) -m mypy --config-file make/macos/mypy.ini src
	$(PY) -m mypy.stubtest firstlight._core
	.venv/bin/shellcheck --shell=sh --severity=style collector/firstlight-collect.sh
	cd web && npm run --silent lint

# As many studies run at a time as there are processors, each with one guest at a time; the longest comes first. The last one has all processors,
# because nothing else is left to run beside it. A study that lacks an arm does not keep the others from running.
studies: packages-studies build ## run every classic study, quick, into studies/; the laboratory's kernel is built first, once
	firstlight image build kernel
	run() { firstlight study "$$1" --quick --force "$${@:2}" -o "studies/$$1" 2>&1 | sed -u "s/^/$$1: /"; }; export -f run; lacking=0; \
	printf '%s\n' udev-ptys lvm-activation root-filesystems kernel-hotspots \
		| xargs -P "$$(nproc)" -I STUDY bash -o pipefail -c 'run STUDY -j 1' || lacking=1; \
	run tree-walk || lacking=1; \
	if [ "$$lacking" = 1 ]; then echo "error: something is missing in a study: its lines above say what" >&2; exit 1; fi

# The second QEMU is that of the tests; cells measured before with the same digests are not booted again.
matrix: packages-test build ## audit every cell of the support matrix, into docs/reference/support-matrix.md; EXTENT=quick for some
	make/other-qemu.sh
	firstlight audit --matrix $(or $(EXTENT),full) --qemu "$$(command -v qemu-system-x86_64)" \
		--qemu .build/other-qemu/qemu-system-x86_64 -o docs/reference/support-matrix.md --force

pictures: packages-test build ## draw a boot of Debian with other programs, for the docs; they go into .build; MIRRORS=DIR has their sources
	make/other-tools.sh $(MIRRORS)
	$(PY) make/other_tools.py

page-pictures: packages-test build ## draw the report page for the docs; its boots go into .build/page-pictures
	$(PY) make/page_pictures.py

bench: packages-run build ## run every benchmark in benches/; each prints its figure and what it is compared with
	for bench in benches/*.py; do $(PY) $$bench; done

corpus: packages-run build ## score the importer on records derived from exact boots of many kernels; KEEP=1 stores the scores
	PYTHONPATH=benches $(PY) -m corpus $(if $(KEEP),--keep)

planted: packages-run build ## plant 76 changes into boots and check that the first line of compare names each cause
	$(PY) benches/planted_change.py

predictions: packages-run build ## predict ten boots without some of their work, boot them, and print the errors
	$(PY) benches/whatif.py

causes: packages-run build ## plant known causes into boots and check that explain names each with its true cost
	$(PY) benches/planted_causes.py

breakages: packages-run build ## plant 18 breakages into boots and check that health catches each, and nothing in sound boots
	$(PY) benches/planted_breakages.py

kconfig-tuning: packages-studies build ## search two kernels, hours of builds: the smallest for the minimal guest, and one for Debian with its features
	firstlight tune minimal --goal kernel --allow kconfig,cmdline,machine --smallest -o .build/kconfig-tuning/smallest
	firstlight tune debian --goal kernel --allow kconfig,cmdline,machine --budget 60 --keep virtio,ext4,network,cgroups -o .build/kconfig-tuning/debian

fleet-spark: packages-run build ## run the analyses of fleets on Spark, in one process and on a cluster of two workers; needs Java 17, and downloads Spark into .build/spark
	test -x .build/spark/bin/python || $(UV) venv --quiet --python $(PY) .build/spark
	$(UV) pip install --quiet --python .build/spark/bin/python 'pyspark>=4,<4.1' setuptools
	PYTHONPATH=$$(echo $(CURDIR)/.venv/lib/python3*/site-packages):src .build/spark/bin/python -m pytest -p no:cacheprovider -W ignore \
		tests/unit/test_fleet_on_spark.py tests/unit/test_fleet_analyses.py -k 'spark or written'

farm: packages-run build ## 100 boots by workers that die, differ or lie, against the same boots made here; BOOTS="--boots 20" for fewer
	$(PY) benches/farm_run.py $(BOOTS)

capture-stamps: packages-run build ## print how late stamps are beside labgrid and grabserial; installs into .build/grabserial; LOAD="--load 25"
	test -x .build/grabserial/bin/python || $(UV) venv --quiet --python $(PY) .build/grabserial
	$(UV) pip install --quiet --python .build/grabserial/bin/python 'grabserial>=2.0.4,<3'
	$(PY) benches/capture_stamps.py $(LOAD)

farm-stores: packages-run build ## run the tests of stores on S3, Google's and Azure's, too, by servers on this machine; needs Go and npm, and installs into .build/stores
	test -x .build/stores/bin/python || $(UV) venv --quiet --python $(PY) .build/stores
	$(UV) pip install --quiet --python .build/stores/bin/python 'moto[server]>=5.2,<6' 's3fs>=2026.9' 'gcsfs>=2026.9' 'adlfs>=2026.8'
	npm install --silent --no-fund --no-audit --prefix .build/stores/azurite azurite@3
	GOBIN=$(CURDIR)/.build/stores/bin go install github.com/fsouza/fake-gcs-server@v1.56.1
	PATH=$(CURDIR)/.build/stores/bin:$(CURDIR)/.build/stores/azurite/node_modules/.bin:$$PATH \
	PYTHONPATH=src:$$(echo $(CURDIR)/.build/stores/lib/python3*/site-packages):$$(echo $(CURDIR)/.venv/lib/python3*/site-packages) \
		.build/stores/bin/python -m pytest -p no:cacheprovider -W ignore tests/unit/test_farm_places.py

farm-clusters: packages-run packages-clusters build ## start workers by Slurm on this machine, and check the manifest of Kubernetes; needs root
	test -x .build/clusters/bin/python || $(UV) venv --quiet --python $(PY) .build/clusters
	$(UV) pip install --quiet --python .build/clusters/bin/python 'kubernetes-validate>=1.37'
	PYTHONPATH=$$(echo $(CURDIR)/.build/clusters/lib/python3*/site-packages) $(PY) -m pytest -p no:cacheprovider -W ignore \
		tests/end_to_end/test_farm_clusters.py

hostile: packages-run build ## try every verb on every kind of hostile bundle
	EVERY_VERB=1 EXAMPLES=1000 TABLES=20 $(PY) -m pytest -n auto tests/integration/test_hostile_bundles.py tests/integration/test_damaged_bundles.py

fuzz: packages-build ## fuzz every reader of boot records, each for SECONDS_EACH (60) seconds; FORMATS="a b" for some
	SECONDS_EACH=$(or $(SECONDS_EACH),60) make/fuzz.sh $(FORMATS)

vocabulary: $(STAMPS)/python ## write crates/schema/vocabulary.toml as Rust, Python, TypeScript and Markdown
	$(PY) make/vocabulary.py

mutants: packages-build build ## change the code that differs from BASE (where main was left) in small ways, and print what no test notices; FILES="a b", TESTS="tests/unit/test_a.py"
	$(PY) make/mutants.py $(if $(BASE),--base $(BASE)) $(if $(TESTS),--tests "$(TESTS)") $(FILES)

build: binding plugin oracle storage guest web collector ## build everything that Firstlight is made of

binding: $(STAMPS)/binding ## build firstlight._core and install the package into .venv, editable
plugin: $(ASSETS)/firstlight-plugin.so ## build the plugin that QEMU loads
oracle: $(ASSETS)/firstlight-oracle.so ## build the second observer of `firstlight audit`
storage: $(ASSETS)/firstlight-storage.so ## build the disk with a model for `firstlight record --storage`
guest: $(ASSETS)/firstlight-guest $(OTHER_GUESTS) $(ASSETS)/firstlight-walk $(ASSETS)/firstlight-restat.so $(OTHER_WALKERS) ## build what runs in the guest
web: $(ASSETS)/page.html ## build the report page
collector: $(ASSETS)/firstlight-collect.sh $(ASSETS)/firstlight-collect.service ## copy the collector to where the wheel takes it

wheel: build ## build the wheel into dist/
	$(PY) -m maturin build --release --locked --out dist

READERS := aarch64-unknown-linux-gnu aarch64-apple-darwin x86_64-apple-darwin
reader-wheels: packages-build $(STAMPS)/python $(STAMPS)/zig web collector ## build wheels that only read boots, for Linux on aarch64 and for macOS, into dist/; READERS=TARGET for one
	for target in $(READERS); do make/reader-wheel.sh $$target dist; done

foreign-reader: packages-run reader-wheels ## run the wheel for Linux on aarch64 under emulation, and compare what it prints with this machine's
	$(PY) make/foreign_reader.py "$$(ls -t dist/firstlight-*_aarch64.whl | head -n 1)"

# The site of the image is of the Python of its base; a wheel with compiled parts is of one version.
IMAGE_PYTHON ?= 3.11
image: wheel ## build the reader as an OCI image into dist/firstlight-reader.tar; BASE=IMAGE@sha256:DIGEST with Python $(IMAGE_PYTHON)
	@case "$(BASE)" in *@sha256:*|oci-archive:*) ;; *) echo "BASE must name an image by its digest: BASE=IMAGE@sha256:DIGEST" >&2; exit 2;; esac
	rm -rf .build/image dist/firstlight-reader.tar
	$(UV) pip install -q --target .build/image/site --python-version $(IMAGE_PYTHON) --python-platform x86_64-manylinux_2_34 \
	  --only-binary :all: --require-hashes -r requirements-reader.txt
	$(UV) pip install -q --target .build/image/site --python-version $(IMAGE_PYTHON) --no-deps \
	  "$$(ls -t dist/firstlight-*.whl | head -n 1)"
	buildah --storage-driver vfs build --isolation chroot --build-arg BASE=$(BASE) --timestamp 0 \
	  --tag oci-archive:dist/firstlight-reader.tar:firstlight-reader --file Containerfile .build/image

# Apart from .venv: the generator is large, and nothing but the site needs it.
docs: $(STAMPS)/docs ## build the site of docs/ into site/; a broken link is an error
	.build/docs/bin/zensical build --clean --strict

reference: build ## write the manual pages, the JSON schemas and the generated parts of docs/reference/commands
	PYTHONPATH=make $(PY) -m reference

lock: $(UV) ## write the locked requirements anew, from pyproject.toml and requirements-*.in
	$(COMPILE) requirements-uv.in -o requirements-uv.txt
	$(COMPILE) requirements-node.in -o requirements-node.txt
	$(COMPILE) requirements-docs.in -o requirements-docs.txt
	$(COMPILE) requirements-zig.in -o requirements-zig.txt
	$(COMPILE) --all-extras pyproject.toml requirements-dev.in -o requirements.txt
	$(COMPILE) --extra ui -c requirements.txt pyproject.toml -o requirements-reader.txt

clean: ## remove what was built; the environment in .venv and .build/uv stays
	rm -rf $(STAMPS) $(ASSETS) target dist web/dist web/node_modules demo.boot demo.html src/firstlight/_core*.so

$(PACKAGES): packages-%:
	@PYTHON=$(BASE_PYTHON) make/packages.sh $(NEEDS_$*)

$(UV): requirements-uv.txt | packages-python
	@$(BASE_PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo 'error: Python 3.11 or newer is needed; `$(PYTHON)` is older or missing' >&2; \
		echo 'hint: name another one: `make PYTHON=python3.12 $(MAKECMDGOALS)`' >&2; exit 1; }
	$(BASE_PYTHON) -m venv --clear .build/uv
	.build/uv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	touch $@

.venv/pyvenv.cfg: $(UV)
	$(UV) venv --quiet --clear --python $(BASE_PYTHON) .venv

$(STAMPS)/python: requirements.txt .venv/pyvenv.cfg
	$(UV) pip sync --quiet --compile-bytecode --python $(PY) --require-hashes requirements.txt
	mkdir -p $(@D) && touch $@

$(STAMPS)/binding: $(STAMPS)/python pyproject.toml $(call rust,schema model isa profile formats merge export python) | packages-build
	$(PY) -m maturin develop --release --locked --uv --quiet
	mkdir -p $(@D) && touch $@

$(ASSETS)/firstlight-plugin.so: $(call rust,schema isa elf profile qemu plugin) | packages-build
	cargo build --release --locked --quiet -p firstlight-plugin
	install -D -m 755 target/release/libfirstlight_plugin.so $@

$(ASSETS)/firstlight-oracle.so: $(call rust,qemu oracle) | packages-build
	cargo build --release --locked --quiet -p firstlight-oracle
	install -D -m 755 target/release/libfirstlight_oracle.so $@

$(ASSETS)/firstlight-storage.so: $(call rust,qemu storage) | packages-build
	cargo build --release --locked --quiet -p firstlight-storage
	install -D -m 755 target/release/libfirstlight_storage.so $@

# The static C library makes a guest's program one file; the target is named so that build scripts keep the host's flags.
GUEST = CARGO_PROFILE_RELEASE_OPT_LEVEL=s CARGO_PROFILE_RELEASE_STRIP=symbols \
	RUSTFLAGS="-C target-feature=+crt-static -C relocation-model=static --remap-path-prefix=$${CARGO_HOME:-$$HOME/.cargo}=/cargo --remap-path-prefix=$(CURDIR)=/firstlight" \
	cargo build --release --locked --quiet --target x86_64-unknown-linux-gnu --target-dir target/guest
$(ASSETS)/firstlight-guest: $(call rust,isa guest) | packages-build
	$(GUEST) -p firstlight-guest
	install -D -m 755 target/guest/x86_64-unknown-linux-gnu/release/firstlight-guest $@

$(OTHER_GUESTS): $(ASSETS)/firstlight-guest-%: $(call rust,isa guest) make/cross-guest.sh | packages-build
	make/cross-guest.sh $* firstlight-guest $@

$(ASSETS)/firstlight-walk: $(call rust,isa walk) | packages-build
	$(GUEST) -p firstlight-walk
	install -D -m 755 target/guest/x86_64-unknown-linux-gnu/release/firstlight-walk $@

$(ASSETS)/firstlight-walk-%: $(call rust,isa walk) make/cross-guest.sh | packages-build
	make/cross-guest.sh $* firstlight-walk $@

$(ASSETS)/firstlight-restat-%.so: $(call rust,restat) make/cross-guest.sh | packages-build
	make/cross-guest.sh $* firstlight-restat $@

# Preloaded by programs of the distribution, whose C library it shares.
$(ASSETS)/firstlight-restat.so: $(call rust,restat) | packages-build
	CARGO_PROFILE_RELEASE_PANIC=abort CARGO_PROFILE_RELEASE_STRIP=symbols RUSTFLAGS="--remap-path-prefix=$${CARGO_HOME:-$$HOME/.cargo}=/cargo --remap-path-prefix=$(CURDIR)=/firstlight" \
		cargo build --release --locked --quiet -p firstlight-restat --target x86_64-unknown-linux-gnu --target-dir target/preload
	install -D -m 755 target/preload/x86_64-unknown-linux-gnu/release/libfirstlight_restat.so $@

# A distribution's Node may be older than the page's tools can do with: then one is taken as a Python package.
$(STAMPS)/node: web/package.json requirements-node.txt | $(UV)
	wanted=$$(sed -n 's/.*"node": ">=\(.*\)".*/\1/p' web/package.json); found=$$(node --version 2>/dev/null | tr -d v || true); \
	if ! command -v npm >/dev/null || [ "$$(printf '%s\n' "$$wanted" "$${found:-0}" | sort -V | head -n 1)" != "$$wanted" ]; then \
		$(UV) venv --quiet --clear --python $(BASE_PYTHON) .build/node; \
		$(UV) pip install --quiet --python .build/node/bin/python --require-hashes -r requirements-node.txt; \
	fi
	mkdir -p $(@D) && touch $@

$(STAMPS)/docs: requirements-docs.txt | $(UV)
	$(UV) venv --quiet --clear --python $(BASE_PYTHON) .build/docs
	$(UV) pip install --quiet --python .build/docs/bin/python --require-hashes -r $<
	mkdir -p $(@D) && touch $@

$(STAMPS)/zig: requirements-zig.txt | $(UV)
	$(UV) venv --quiet --clear --python $(BASE_PYTHON) .build/zig
	$(UV) pip install --quiet --python .build/zig/bin/python --require-hashes -r $<
	mkdir -p $(@D) && touch $@

$(STAMPS)/npm: web/package-lock.json $(STAMPS)/node
	cd web && npm ci --no-audit --no-fund --loglevel=error
	mkdir -p $(@D) && touch $@

$(ASSETS)/page.html: $(STAMPS)/npm $(WEB)
	cd web && npm run --silent build
	install -D -m 644 web/dist/index.html $@

$(ASSETS)/firstlight-collect.%: collector/firstlight-collect.%
	install -D -m 644 $< $@
