# Everything a person needs, from nothing but Python 3.11 or newer and make:
#   make demo    record a real workload, leave demo.dinsight and demo.html
#   make lab     JupyterLab with the extension and a guided notebook (LAB="--no-browser --port 8890" for its options)
#   make test    every test: Python, TypeScript, the report and JupyterLab in Chromium
#   make lint    style, types and import rules of both languages
#   make bench   measure the bars (QUICK=1 for a smoke run)
#   make dist    sdist and wheel, built from a clean copy
#   make screenshots  the README's pictures of JupyterLab, anew
#   make format  put the code into the agreed form
#   make clean   take away what the others made

ifndef PYTHON
PYTHON := $(shell for each in python3 python3.14 python3.13 python3.12 python3.11; do \
  $$each -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && command -v $$each && break; done)
endif
VENV ?= .venv
BIN := $(abspath $(VENV))/bin

export PATH := $(BIN):$(PATH)
export PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_NO_INPUT := 1

FRONTEND := $(shell find src-ts labextension -type f -not -path '*/node_modules/*' -not -path '*/lib/*' -not -name '*.test.ts')
BUNDLES := dask_insight/labextension/package.json
LABEXTENSIONS := $(VENV)/share/jupyter/labextensions
PIP := "$(BIN)/python" -m pip install --quiet

.PHONY: demo lab test test-python test-typescript test-browser \
  lint lint-python lint-typescript format bench screenshots dist clean

demo: $(VENV)/package.stamp $(BUNDLES)
	"$(BIN)/dask-insight" demo

lab: $(VENV)/lab.stamp $(BUNDLES) build/lab/guide.ipynb
	cd build/lab && "$(BIN)/jupyter" lab $(if $(filter 0,$(shell id -u)),--allow-root) $(LAB) guide.ipynb

build/lab/guide.ipynb: docs/guide.ipynb
	mkdir -p build/lab
	cp docs/guide.ipynb $@

test: test-typescript test-python test-browser

test-python: $(VENV)/dev.stamp $(BUNDLES)
	CHROMIUM_PATH="$$(sh ui-tests/find-chromium.sh)" && export CHROMIUM_PATH && "$(BIN)/python" -m pytest $(PYTEST)

test-typescript: $(VENV)/dev.stamp
	"$(BIN)/npm" test

test-browser: $(VENV)/dev.stamp $(BUNDLES)
	CHROMIUM_PATH="$$(sh ui-tests/find-chromium.sh)" && export CHROMIUM_PATH && "$(BIN)/npm" run ui

screenshots: $(VENV)/dev.stamp $(BUNDLES)
	CHROMIUM_PATH="$$(sh ui-tests/find-chromium.sh)" && export CHROMIUM_PATH && "$(BIN)/npm" run screenshots

lint: lint-python lint-typescript

lint-python: $(VENV)/dev.stamp
	"$(BIN)/ruff" check
	"$(BIN)/ruff" format --check
	"$(BIN)/mypy"
	"$(BIN)/lint-imports" --no-cache

lint-typescript: $(VENV)/dev.stamp
	"$(BIN)/npm" run lint
	"$(BIN)/npm" run types

format: $(VENV)/dev.stamp
	"$(BIN)/ruff" check --fix
	"$(BIN)/ruff" format
	"$(BIN)/npm" run fix

bench: $(VENV)/dev.stamp $(BUNDLES)
	CHROMIUM_PATH="$$(sh ui-tests/find-chromium.sh)" && export CHROMIUM_PATH && "$(BIN)/python" -m benchmarks $(if $(QUICK),--quick)

dist: $(VENV)/dev.stamp
	rm -rf dist build/clean
	git clone --quiet . build/clean
	"$(BIN)/python" -m build --outdir dist build/clean
	rm -rf build/clean

clean:
	rm -rf $(VENV) node_modules */node_modules benchmarks/drawing/node_modules build dist *.egg-info
	rm -rf dask_insight/static dask_insight/labextension labextension/lib
	rm -rf demo.dinsight demo.html test-results playwright-report

# The environment, in steps: each stamp is younger than what it was made from.

$(VENV)/python.stamp:
	@test -n "$(PYTHON)" || \
	  { echo "dask_insight needs Python 3.11 or newer; name one: make PYTHON=/path/to/python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' || \
	  { echo "$(PYTHON) cannot make environments; on Debian: apt-get install python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	touch $@

$(VENV)/build.stamp: $(VENV)/python.stamp pyproject.toml
	$(PIP) $$("$(BIN)/python" -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['build-system']['requires'])")
	touch $@

$(VENV)/package.stamp: $(VENV)/build.stamp package-lock.json dask_insight/_build/dask_insight_backend.py
	$(PIP) --no-build-isolation --editable '.[demo]'
	mkdir -p $(LABEXTENSIONS)
	ln -sfn "$(CURDIR)/dask_insight/labextension" $(LABEXTENSIONS)/dask-insight
	touch $@

$(VENV)/lab.stamp: $(VENV)/package.stamp
	$(PIP) $$("$(BIN)/python" -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['optional-dependencies']['lab'])")
	touch $@

$(VENV)/dev.stamp: $(VENV)/package.stamp
	$(PIP) --no-build-isolation --editable '.[dev]'
	"$(BIN)/npm" ci
	touch $@

$(BUNDLES): $(FRONTEND) | $(VENV)/package.stamp
	"$(BIN)/npm" run build
	touch $@
