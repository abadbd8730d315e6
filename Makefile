# make demo · make test · make lint · make docs · make bench · make sanitize · make wheels · make coverage · make mutation · make soak. Each makes its own environment first.
VENV ?= .venv
PYTHON ?= python3
CXX ?= c++

BIN := $(VENV)/bin
RUN := PATH="$(abspath $(BIN)):$$PATH"
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
PICTURES := $(patsubst examples/plot_%.py,build/gallery/%.png,$(wildcard examples/plot_*.py))
CPP := $(wildcard cpp/*.cpp cpp/*.hpp tests/kernels/*.cpp src/rebelboost/export/sources/*.c)
BUILD_TOOLS := $(VENV)/.build-tools
ENGINE := $(VENV)/.engine
extras = $(VENV)/.extras-$(1)

.PHONY: demo test lint format docs bench sanitize asan tsan coverage mutation soak wheels install clean

demo: $(ENGINE)
	$(BIN)/python examples/demo.py

test: $(call extras,test) $(call extras,cli) $(call extras,plots) $(call extras,onnx)
	$(BIN)/python -m pytest -n 2 $(ARGS)

lint: $(call extras,lint) $(call extras,cli) $(call extras,vision) $(ENGINE)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror $(CPP)
	$(RUN) cmake --preset developer --log-level=WARNING -DPython_EXECUTABLE="$(abspath $(BIN)/python)"
	$(RUN) cmake --build --preset developer --target rebelboost_kernels

format: $(call extras,lint)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CPP)

# The variable silences an advertisement of Material's successor.
docs: $(call extras,docs) $(PICTURES)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "docs: build/site/index.html"

build/gallery/%.png: examples/plot_%.py | $(call extras,docs)
	@mkdir -p $(@D)
	$(BIN)/python $< $@

bench: $(call extras,bench)
	$(BIN)/python benchmarks/training.py $(or $(ARGS),--quick)

sanitize: asan tsan
	@echo "sanitize: PASSED (AddressSanitizer, UndefinedBehaviorSanitizer, ThreadSanitizer)"

asan tsan: $(call extras,test)
	$(RUN) .ci/sanitize $@

# What the tests reach, by line and branch; the figures are written into CONTRIBUTING.md.
coverage: $(call extras,test) $(call extras,cli) $(call extras,plots) $(call extras,coverage)
	@mkdir -p build
	$(BIN)/python -m pytest -n 2 --cov=rebelboost --cov-branch --cov-report=term-missing:skip-covered \
		--cov-report=json:build/coverage.json $(ARGS)
	$(BIN)/python .ci/coverage build/coverage.json

# make mutation ARGS="-n 50 costs": changes the code of a package in 50 places; the tests should notice each.
mutation: $(call extras,test) $(call extras,cli)
	$(BIN)/python .ci/mutate $(ARGS)

# make soak ARGS=10: property tests and fuzzers with new seeds for 10 minutes; an hour unless told.
soak: $(call extras,test) $(call extras,cli)
	$(BIN)/python .ci/soak $(ARGS)

# make wheels PYTHONS="python3.11 python3.13" limits it to these; all that are found here otherwise.
wheels:
	.ci/wheels $(PYTHONS)

install: $(ENGINE)

clean:
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis $(ENGINE)
	find src tests examples -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit("rebelboost needs Python 3.11 or newer: make PYTHON=python3.12" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)

$(BUILD_TOOLS): pyproject.toml | $(BIN)/python
	$(PIP) install cmake ninja $$($(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"])')
	@touch $@

# Editable: Python changes are live, so only the build's own files are prerequisites.
# Where C++ can be compiled at all, a build that fails is an error and not a reason to do without.
$(ENGINE): pyproject.toml CMakeLists.txt $(wildcard cpp/*) $(BUILD_TOOLS)
	@include=$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("include"))'); \
	if printf '#include <Python.h>\n#include <span>\n' | $(CXX) -std=c++20 -fsyntax-only -I"$$include" -x c++ - 2>/dev/null; \
	then export REBELBOOST_REQUIRE_COMPILED=1; echo "Building the compiled kernels ..."; \
	else echo "No C++20 compiler with Python's headers: rebelboost will run on its NumPy kernels."; fi; \
	$(RUN) $(PIP) install --no-build-isolation --editable .
	@touch $@

# The package is there already, so pip adds only what the extra asks for.
$(VENV)/.extras-%: pyproject.toml | $(ENGINE)
	$(PIP) install "rebelboost[$*]"
	@touch $@
