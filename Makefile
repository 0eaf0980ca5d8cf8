# Every verb sets up what it needs. A fresh machine has Python 3.11 or newer, make and git.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
RUNNABLE := $(VENV)/.runnable
INSTALL = $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; name one: make PYTHON=python3.12 setup"; exit 1; }; \
	command -v git >/dev/null || { echo "git is needed (it keeps the checkpoints): install it first"; exit 1; }; \
	$(PYTHON) scripts/install.py $(VENV)
# Where the environment forbids Python to keep what it compiled, each worker of each run would compile all tests anew.
unexport PYTHONDONTWRITEBYTECODE
CHROMIUM := $(VENV)/.chromium

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-all all-tests all-vscode-tests prepare other-programs compiled-tests check unit lint types layers format docs bench vsix pyz release site vscode real-model small-model crash-matrix fleet random-failures differential clean

help:  ## show the verbs
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: $(STAMP)  ## create .venv with everything; leaves .venv/bin/halo

$(STAMP): requirements.lock pyproject.toml
	@$(INSTALL) requirements.lock
	@touch $(RUNNABLE) $(STAMP)

# What the product itself needs: a third of all.
$(RUNNABLE): run.lock pyproject.toml
	@$(INSTALL) run.lock
	@touch $(RUNNABLE)

demo: $(RUNNABLE)  ## watch the agent repair a small project (scripted model: no key, no network)
	@$(BIN)/halo demo -y

# The gate on system calls needs strace; where it cannot be installed, it compares CPU time only and says so.
$(VENV)/.strace: | $(STAMP)
	@command -v strace >/dev/null || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && apt-get update -qq && apt-get install -y -qq strace >/dev/null; } \
		|| echo "strace is not installed: the benchmark's gate does not count system calls"
	@touch $@

# The sandbox's tests need bubblewrap, and those of small images BusyBox; where it cannot be installed they say so and are skipped.
$(VENV)/.bubblewrap: | $(STAMP)
	@{ command -v bwrap && command -v busybox; } >/dev/null || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && apt-get update -qq && apt-get install -y -qq bubblewrap busybox-static >/dev/null; } \
		|| echo "bubblewrap is not installed: the sandbox's tests are skipped"
	@touch $@

$(CHROMIUM): $(STAMP)
	@scripts/chromium.sh && touch $(CHROMIUM) || true

# Much of what tests take is waiting, for terminals and deadlines, so there are more workers than cores. A test that ran into
# a deadline on a busy machine runs again, twice at most; one of a surface, whatever failed, once (tests/conftest.py). The summary names
# them. Other failures stand.
# What even its time limit of 300 seconds a try does not end is ended here with its worker, and all stacks are shown.
LAST_LIMIT = -o faulthandler_timeout=1000 -o faulthandler_exit_on_timeout=true
PYTEST = $(BIN)/python -m pytest -n 8 --dist worksteal --reruns 2 --only-rerun '(?i)time(d )?out' -rR $(LAST_LIMIT)
# The tests of the extension share one VS Code, so they run in one worker. What fails runs once more and is named.
VS_CODE = $(BIN)/python -m pytest -rs --reruns 1 -rR $(LAST_LIMIT) tests/surfaces/vscode
test: prepare  ## lint, types and tests, without VS Code and what only repeats others at every point (tests/full.txt)
	@SAMPLE=1 $(PYTEST) -m 'not long and not full and not vscode'

test-all: prepare  ## everything: lint, types, all tests
	@$(BIN)/python -m tests.surfaces.vscode.set_up
	@$(BIN)/python -m tests.mcp.set_up all
	@$(BIN)/python -m tests.surfaces.harbor_set_up all
	@$(MAKE) --no-print-directory -j 2 all-tests all-vscode-tests

all-tests:
	@$(PYTEST) -m 'not long and not vscode'

# They wait for windows most of the time, so they run beside the others; each of their lines says whose it is.
all-vscode-tests:
	@bash -c "set -o pipefail; $(VS_CODE) -vv --no-header -m 'not long' 2>&1 | sed -u 's/^/vscode: /'"

prepare: setup $(CHROMIUM) $(VENV)/.bubblewrap $(VENV)/.strace
	@$(MAKE) --no-print-directory -j 4 lint types other-programs compiled-tests

# Real programs that tests run against: mostly downloads, so they come while the code is checked. CI needs VS Code, too.
other-programs:
	@$(BIN)/python -m tests.hosts.language_servers.set_up
	@$(BIN)/python -m tests.mcp.set_up
	@$(BIN)/python -m tests.mcp.conformance.set_up
	@$(BIN)/python -m tests.surfaces.acp.set_up
	@$(BIN)/python -m tests.surfaces.harbor_set_up
	@$(BIN)/python -m tests.surfaces.web.set_up
	@$(if $(CI),$(BIN)/python -m tests.surfaces.vscode.set_up)

# In a fresh clone all workers would compile all tests at the same time.
compiled-tests:
	@find tests -name '*-pytest-*.pyc' | grep -q . || $(BIN)/python -m pytest --collect-only -m 'not long and not vscode' > /dev/null

vsix: setup  ## pack the extension for VS Code into dist/
	@$(BIN)/python -m editors.vscode.pack

pyz: setup  ## pack everything into one file that a Python runs, in dist/
	@$(BIN)/python -m scripts.single_file

release: setup  ## make all files of a release in dist/, and stop before publishing: make release REHEARSE=1 for any commit
	@$(BIN)/python -m scripts.release $(if $(REHEARSE),--rehearse)

vscode: setup $(CHROMIUM)  ## drive the extension in a real VS Code (code-server: 400 MB, downloaded the first time); CI does
	@$(BIN)/python -m tests.surfaces.vscode.set_up
	@$(VS_CODE) -vv --no-header -m 'not full'

check: setup  ## the everyday check: lint, types, layers, unit tests without processes and git
	@$(MAKE) --no-print-directory -j 4 lint types layers unit

# Folders and files that are all about processes, git, whole tasks or a browser are not even collected.
UNIT = $(addprefix --ignore tests/,journeys crashes conformance checkpoints git hosts/sandbox surfaces/web/pages) \
	$(foreach name,test_halo_* hosts/test_browser* test_real_*,--ignore-glob '*/$(name)')

unit: setup
	@SAMPLE=1 $(BIN)/python -m pytest -n 2 --dist worksteal -m 'not slow and not process and not long and not full' $(UNIT)

lint: setup
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/oxlint --quiet src editors docs
	@$(BIN)/oxfmt --check src editors docs/site > /dev/null || { echo "The page's JavaScript is not in form: make format"; exit 1; }

types: setup
	@test -d .mypy_cache || echo "mypy has no cache yet: half a minute …"
	@$(BIN)/mypy

layers: setup
	@$(BIN)/lint-imports --no-logo

format: setup  ## let ruff and oxfmt put the code in form
	@$(BIN)/ruff check --fix --quiet .
	@$(BIN)/ruff format .
	@$(BIN)/oxfmt src editors docs/site

docs: setup  ## regenerate the reference pages from the registries
	@$(BIN)/python -m docs.generate

# It needs what the product needs, and no network.
site: $(RUNNABLE)  ## build the site of these pages in build/site: open build/site/index.html
	@$(BIN)/python -m docs.site.build build/site

bench: setup  ## measure what we claim about speed (see benchmarks/README.md)
	@$(BIN)/python -m benchmarks.run

real-model: setup $(VENV)/.bubblewrap  ## judge the client by a real llama.cpp server, with random weights and with a small real model (ten minutes and 1.1 GB at first)
	@nice $(BIN)/python -m tests.real_server.set_up
	@$(BIN)/python -m tests.real_server.fetch_model
	@$(BIN)/python -m pytest tests/real_server

small-model: setup $(VENV)/.bubblewrap  ## ten small tasks by that real model, as a table: make small-model PI=FOLDER with pi beside it (half an hour)
	@nice $(BIN)/python -m tests.real_server.set_up
	@$(BIN)/python -m tests.real_server.fetch_model
	@nice $(BIN)/python -m benchmarks.small_model $(if $(PI),--pi $(PI))

crash-matrix: setup  ## kill a task 600 times, at every write and at random, and trees of agents and their background 60 times, lose the power on a real disk, take out each sync: nothing is lost unseen (40 minutes)
	@$(BIN)/python -m pytest -m long tests/crashes tests/checkpoints

fleet: setup  ## batches on a real Ray cluster of three node processes, which are killed and cut off (Ray: 260 MB, downloaded the first time)
	@$(BIN)/python -m tests.batch.fleet.set_up
	@$(BIN)/python -m pytest -rs -m long tests/batch/fleet

random-failures: setup  ## play turns whose model server fails in every way, each followed by a plain prompt: make random-failures TURNS=2000 SEED=1000
	@TURNS=$(or $(TURNS),2000) SEED=$(or $(SEED),1000) FAULTS=$(or $(FAULTS),500) $(BIN)/python -m pytest -m long tests/journeys/test_random_failures.py tests/surfaces/cli/test_batch_faults.py

COUNT ?= 10000
differential: setup $(VENV)/.bubblewrap  ## judge random shell programs and run them in real bash: make differential COUNT=100000
	@$(BIN)/python -m tests.policy.shell.differential $(COUNT)
	@$(BIN)/python -m tests.policy.shell.small_languages $(COUNT)
	@$(BIN)/python -m tests.policy.shell.promise --commands $$((2 * $(COUNT)))

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
