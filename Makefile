# Each target sets up what it needs: a virtual environment with pinned packages. Start with `make help`.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
SHELL := bash

VENV := .venv
BIN := $(VENV)/bin
DATA := data
STAMP := $(VENV)/.installed
# dbt wants older versions of some packages than our tools: an environment of its own.
DBT := $(VENV)/dbt
# So does Flink, which benchmarks are run beside.
FLINK := $(VENV)/flink
# And DuckDB and Polars, which say how near jobs over files are to what the machine can do.
TABLES := $(VENV)/tables
# Versions of Spark, each with the Delta that fits it (docs/platforms.md); .venv has the newest.
SPARKS ?= $(VENV)/spark40 $(VENV)/spark41 $(VENV)
# The oldest again, with fewer packages: quick to make.
OLDEST := $(VENV)/oldest
PAIR_40 := pyspark==4.0.2 delta-spark==4.0.1
PAIR_41 := pyspark==4.1.1 delta-spark==4.3.1
# Tests wait more than they work: two processes, each with a Spark of its own, on two cores.
PROCESSES ?= 2
# The first Python that is new enough and can make virtual environments (Debian splits that off).
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python3.10; do \
	$$p -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null && echo $$p && break; done)

.PHONY: help demo test test-versions test-oldest simulate kills defences unit lint format bench measure kafka docs ui jupyterlab vscode lock check setup spark clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 15

demo: spark  ## real flights through tumbling, hopping and session windows, and a cascade
	@$(BIN)/python -m sqlext.demo $(DATA)
	@$(BIN)/sqlext explain sql_examples/01_flights.sql --define IN=$(abspath $(DATA)) --define OUT=$(abspath $(DATA))/out --catalog $(DATA)/catalog \
		| sed -n 's/^ *\(.*: read and decoded once\)/\1/p' | sort -u
	@$(BIN)/sqlext run sql_examples/01_flights.sql --define IN=$(abspath $(DATA)) --define OUT=$(abspath $(DATA))/out --catalog $(DATA)/catalog

test: spark lint $(DBT)/.installed  ## ruff, mypy, and every test
	@$(BIN)/pytest --numprocesses $(PROCESSES) --no-loadscope-reorder $(ARGS)

test-versions: $(SPARKS:=/.installed)  ## chosen tests on Spark 4.0, 4.1 and 4.2: how many pass, what is refused
	@$(BIN)/python tools/versions.py $(SPARKS:=/bin/python) --pytest='$(ARGS)'

test-oldest: $(OLDEST)/.installed  ## a few recorded cases on Spark 4.0, in two minutes
	@$(BIN)/python tools/versions.py $(OLDEST)/bin/python --few --pytest='$(ARGS)'

unit: setup  ## the tests that need no Spark, in seconds
	@$(BIN)/pytest tests/unit -m "not spark" $(ARGS)

MINUTES ?= 480
SEED ?= $(shell date +%s)
simulate: spark  ## a night of made-up jobs whose drivers die: MINUTES=480 or SCENARIOS=40, SEED=1
	@echo "seed $(SEED)"
	@$(BIN)/pytest tests/simulation --minutes=$(MINUTES) $(SCENARIOS:%=--scenarios=%) --hypothesis-seed=$(SEED) -s $(ARGS)

KILLS ?= 100
kills: spark  ## kill -9 of real jobs amid their batches, and the rows that come out: KILLS=100, SEED=1
	@$(BIN)/python -m tests.kills --kills $(KILLS) --seed $(SEED) $(ARGS)

defences: spark  ## takes defences against faults out, one by one, and sees that a test of the fault fails: ARGS='5 6'
	@$(BIN)/python -m tests.defences $(ARGS)

lint: setup  ## ruff and mypy
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

format: setup  ## let ruff rewrite the code
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

bench: spark $(FLINK)/.installed $(TABLES)/.installed  ## beside Flink, hand-written Spark, DuckDB and Polars: tables and a plot in data/bench
	@$(BIN)/python -m tests.benchmarks.limits --tables $(TABLES)/bin/python --report $(DATA)/bench $(LIMITS)
	@$(BIN)/python -m tests.benchmarks.peers --flink $(FLINK)/bin/python --report $(DATA)/bench $(ARGS)

measure: spark  ## speed of the parts, with ratios to Spark's own
	@set -e; for script in $(filter-out %/peers.py %/limits.py %/questions.py,$(wildcard tests/benchmarks/*.py)); do \
		echo "== $$script"; PYTHONPATH=$(CURDIR) $(BIN)/python $$script; done

kafka: setup  ## a Kafka broker to play with, at localhost:9092, until Ctrl-C
	@$(BIN)/python -m tests.kafka_broker $(DATA)/kafka

docs: $(VENV)/.docs  ## the documentation site, in build/site; refuses broken links
	@$(BIN)/python tools/site.py $(ARGS)

ui:  ## build the page of queries into sqlext/ui/static; needs Node.js
	@cd tools/ui && npm ci --no-audit --no-fund --loglevel=error && npm run --silent build

jupyterlab:  ## build the colours of notebook cells into sqlext/notebook/labextension; needs Node.js 20
	@cd tools/jupyterlab && npm ci --no-audit --no-fund --loglevel=error && npm test && npm run --silent build

vscode:  ## the extension for VS Code, tools/vscode/sqlext.vsix; needs Node.js 20
	@cd tools/vscode && npm install && npm test && npm run package

lock: setup  ## choose new exact versions (give PYTHONS='python3.10 python3.11 ...')
	@$(BIN)/python tools/lock.py $(PYTHONS)

setup: check $(STAMP)

spark: setup $(VENV)/.spark

# Before anything is downloaded: one sentence about a missing or wrong Python or Java.
check:
	@test -n "$(PYTHON)" || { echo "ENV-003: no Python 3.10 or newer with the venv module was found on PATH;" \
		"install one (Debian and Ubuntu: apt-get install python3 python3-venv) or run make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -I sqlext/environment.py

$(STAMP): pyproject.toml setup.py constraints.txt
	@echo "installing into $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt \
		--editable '.[dev,demo]' > $(VENV)/pip.log 2>&1 \
		|| $(PYTHON) -I sqlext/environment.py --pip-log $(VENV)/pip.log
	@touch $@

$(DBT)/.installed: pyproject.toml setup.py constraints-dbt.txt | $(STAMP)
	@echo "installing dbt into $(DBT) ..."
	@$(PYTHON) -m venv $(DBT)
	@$(DBT)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints-dbt.txt \
		--editable '.[dbt,objects]' > $(DBT)/pip.log 2>&1 \
		|| $(PYTHON) -I sqlext/environment.py --pip-log $(DBT)/pip.log
	@touch $@

# $(1): the extra with what tests need, $(2): a Spark and a Delta.
define install_spark
	@echo "installing $(2) into $(@D) ..."
	@$(PYTHON) -m venv $(@D)
	@grep -vE '^(pyspark|delta[-_]spark)==' constraints.txt > $(@D)/constraints.txt
	@$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --constraint $(@D)/constraints.txt \
		--editable '.[$(1)]' $(2) > $(@D)/pip.log 2>&1 \
		|| $(PYTHON) -I sqlext/environment.py --pip-log $(@D)/pip.log
	@touch $@
endef

$(VENV)/spark%/.installed: pyproject.toml setup.py constraints.txt Makefile | $(STAMP)
	$(call install_spark,harness,$(PAIR_$*))

$(OLDEST)/.installed: pyproject.toml setup.py constraints.txt Makefile | $(STAMP)
	$(call install_spark,tested,$(PAIR_40))

$(TABLES)/.installed: | $(STAMP)
	@echo "installing DuckDB and Polars into $(TABLES) ..."
	@$(PYTHON) -m venv $(TABLES)
	@$(TABLES)/bin/python -m pip install --quiet --disable-pip-version-check duckdb==2.0.1 polars==2.1.0 \
		> $(TABLES)/pip.log 2>&1 || $(PYTHON) -I sqlext/environment.py --pip-log $(TABLES)/pip.log
	@touch $@

$(FLINK)/.installed: | $(STAMP)
	@echo "installing Flink into $(FLINK) ..."
	@$(PYTHON) -m venv $(FLINK)
	@$(FLINK)/bin/python -m pip install --quiet --disable-pip-version-check apache-flink==2.3.0 > $(FLINK)/pip.log 2>&1 \
		|| $(PYTHON) -I sqlext/environment.py --pip-log $(FLINK)/pip.log
	@touch $@

$(VENV)/.docs: pyproject.toml | setup
	@echo "installing MkDocs into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt \
		--editable '.[docs]' >> $(VENV)/pip.log 2>&1 \
		|| $(PYTHON) -I sqlext/environment.py --pip-log $(VENV)/pip.log
	@touch $@

# Spark's first start downloads the Delta jar; the class archive halves the time of every later start.
$(VENV)/.spark: $(STAMP) sqlext/spark/class_archive.py sqlext/spark/local.py sqlext/spark/worker_processes.py
	@echo "starting Spark for the first time ..."
	@$(BIN)/python -m sqlext.spark.class_archive
	@touch $@

clean:  ## remove the environment, the data and all caches
	rm -rf $(VENV) $(DATA) build *.egg-info .sqlext .pytest_cache .mypy_cache .ruff_cache .hypothesis
