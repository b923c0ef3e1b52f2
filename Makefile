# One door to everything that a developer does; CI calls the same targets. `make help` lists them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SHARED ?= ../shared
RELEASES ?= $(shell $(BIN)/python -c "from fakekube.apimachinery import releases; print(*releases.TESTED)")
TESTS ?= tests

.DEFAULT_GOAL := help
.PHONY: help demo dev test slow sweep fuzz beside scheduling lives mutate clients clients-tls rbac releases lint type contracts format bench bench-lives bench-reference facts fidelity clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-16s %s\n", $$1, $$2}'

$(VENV)/run.stamp: pyproject.toml
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	@$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/dev.stamp: pyproject.toml $(VENV)/run.stamp
	@$(BIN)/python -m pip install --quiet --editable '.[fast,kwok,pytest]' --group dev
	@touch $@

demo: $(VENV)/run.stamp  ## start a cluster and watch a Job through its whole life
	@$(BIN)/fakekube demo job

dev: $(VENV)/dev.stamp  ## make .venv with all that development needs

test: $(VENV)/dev.stamp  ## run the tests (a few minutes at most, no network)
	@$(BIN)/python -m pytest -q -n auto -m "not slow and not real and not toolchain" $(TESTS)

slow: $(VENV)/dev.stamp  ## run the slow sweeps too
	@$(BIN)/python -m pytest -q -n auto -m "slow" $(TESTS)

sweep: $(VENV)/dev.stamp  ## play the stories of our controllers under each strategy with 1,000 seeds: hours; FILE keeps what is done, PLAYS only
	@$(BIN)/python -m tests.exploration.sweep $(or $(FILE),.sweep.jsonl) $(PLAYS)

fuzz: $(VENV)/dev.stamp  ## send REQUESTS blown requests of SEED, with a budget of CPU time for each byte
	@nice $(BIN)/python -m tests.fuzz $(or $(REQUESTS),100000) $(or $(SEED),1)

beside: $(VENV)/dev.stamp  ## send random dry runs to the cluster of KUBECONFIG and to ours, for SECONDS with SEED: where do answers differ? KINDS only
	@$(BIN)/python -m tests.fuzz.beside $(KUBECONFIG) $(or $(SECONDS),60) $(or $(SEED),1) --kinds '$(KINDS)'

scheduling: $(VENV)/dev.stamp  ## play random scenarios beside upstream's kube-scheduler (KUBE_SCHEDULER) and with ours, for SECONDS from SEED on: where do they differ? SORT only
	@$(BIN)/python -m tests.fuzz.scheduling $(or $(SECONDS),60) $(or $(SEED),1) --sort '$(SORT)'

lives: $(VENV)/dev.stamp  ## play the random lives of SEEDS on the cluster of KUBECONFIG and on ours, with GATES: where do they part? KINDS of job, jobset, lws
	@$(BIN)/python -m tests.fuzz.lives $(KUBECONFIG) $(or $(SEEDS),1-100) --kinds $(or $(KINDS),job) --gates '$(GATES)'

mutate: $(VENV)/dev.stamp  ## change the code in MUTANTS places of SEED: do the tests of each area notice? PROCESSES at once, AREAS only
	@nice $(BIN)/python -u -m tests.mutation $(or $(MUTANTS),200) $(or $(SEED),1) $(or $(PROCESSES),1) $(AREAS)

clients: $(VENV)/dev.stamp  ## run clients in Go, Node, Java and Rust, where their tool chains are (fetches modules)
	@$(BIN)/python -m pytest -q -rs -m "toolchain" $(TESTS)/clients $(TESTS)/cel

clients-tls: $(VENV)/dev.stamp  ## run the clients' tests over TLS, those in Go, Node, Java and Rust too where they are
	@$(BIN)/python -m pytest -q -rs -m "not slow and not real" -o fakekube_tls=true $(TESTS)/clients

rbac: $(VENV)/dev.stamp  ## run the tests of controllers and clients where RBAC decides, the clients' over TLS
	@$(BIN)/python -m pytest -q -n auto -m "not slow and not real and not toolchain" \
	  --authorization-mode Node,RBAC --deselect $(TESTS)/controllers/kubelet/test_proxy.py \
	  --deselect $(TESTS)/controllers/kubelet/test_pages.py $(TESTS)/controllers
	@$(BIN)/python -m pytest -q -n auto -m "not slow and not real and not toolchain" \
	  --authorization-mode Node,RBAC -o fakekube_tls=true $(TESTS)/clients

releases: $(VENV)/dev.stamp  ## run the clients' tests against a cluster of each release, and kubectl with all that each serves
	@failed=; for release in $(RELEASES); do echo "Kubernetes $$release"; \
	  $(BIN)/python -m pytest -q -n auto -m "not slow and not real and not toolchain" \
	    -o fakekube_kubernetes_version=$$release $(TESTS)/clients || failed="$$failed $$release"; \
	done; \
	$(BIN)/python -m pytest -q -n auto -m slow $(TESTS)/clients/test_kubectl_releases.py || failed="$$failed kinds"; \
	if [ -n "$$failed" ]; then echo "failed:$$failed"; exit 1; fi

lint: $(VENV)/dev.stamp contracts  ## ruff and the layers
	@$(BIN)/ruff check .

contracts: $(VENV)/dev.stamp  ## check the layers that pyproject.toml states
	@$(BIN)/lint-imports --no-cache

type: $(VENV)/dev.stamp  ## mypy, strict
	@$(BIN)/mypy

bench: $(VENV)/dev.stamp  ## print the table of speeds
	@$(BIN)/python -m benchmarks

bench-lives: $(VENV)/dev.stamp  ## print the workloads through their lives: Jobs, a year of schedules, a week of nodes
	@$(BIN)/python -m benchmarks.lives

bench-reference:  ## print the same requests to a real control plane, where one is present, and to ours
	@if [ -x $(SHARED)/tools/reference ] && command -v go >/dev/null && command -v wrk >/dev/null; then \
	  $(MAKE) --no-print-directory dev && $(BIN)/python -m benchmarks.reference $(SHARED)/tools/reference; \
	else echo "needs $(SHARED)/tools/reference, Go and wrk: nothing to compare with"; fi

facts: $(VENV)/dev.stamp  ## build the tables about Kubernetes from their sources; CHECK=1 compares only, FETCH=1 fetches Go modules
	@$(BIN)/python -m tools.facts $(if $(CHECK),--check) $(if $(FETCH),--fetch) \
	  $(if $(MODULES),--modules $(MODULES)) --recordings $(SHARED) $(TABLES)

fidelity:  ## compare with answers recorded on a real control plane, where they are present
	@if [ -x $(SHARED)/tools/fidelity ]; then \
	  $(MAKE) --no-print-directory dev && PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python $(SHARED)/tools/fidelity $(FIDELITY); \
	else echo "no recordings here ($(SHARED)/tools/fidelity): nothing to compare with"; fi

clean:  ## remove what the other targets made
	@rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .mutation
