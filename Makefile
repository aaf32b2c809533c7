.DEFAULT_GOAL := help
SHELL := /bin/bash

MINIO_VERSION := v0.0.0-20260212201848-7aac2a2c5b7c
TOOLS := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/presswork/bin
export PRESSWORK_PEERS := $(TOOLS)/peers
export PRESSWORK_COMPAT := $(TOOLS)/compat
export PRESSWORK_ENGINES := $(TOOLS)/engines
export PRESSWORK_DEPLOY := $(TOOLS)/deploy
export PRESSWORK_MINIO := $(TOOLS)/minio-$(MINIO_VERSION)
VERAPDF_VERSION := 1.30.2
export PRESSWORK_VERAPDF := $(TOOLS)/verapdf-$(VERAPDF_VERSION).jar
EPUBCHECK_VERSION := 5.2.1
export PRESSWORK_EPUBCHECK := $(TOOLS)/epubcheck-$(EPUBCHECK_VERSION)
CSL_SUITE_VERSION := 0.8.1.1
CSL_SUITE_SHA256 := 4fe805629b548884e9b2f59492621823fd928d8a5b4125b6cfd9571edaebf341
export PRESSWORK_CSL_SUITE := $(TOOLS)/csl-suite-$(CSL_SUITE_VERSION).tar.gz
GOLANGCI_LINT_VERSION := v2.15.0
GOLANGCI_LINT := $(TOOLS)/golangci-lint-$(GOLANGCI_LINT_VERSION)
NFPM_VERSION := v2.44.1
VALE_VERSION := v3.19.0
VALE := $(TOOLS)/vale-$(VALE_VERSION)
GOVULNCHECK_VERSION := v1.8.0
FUZZTIME ?= 10s

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: setup
setup: ## Install what Presswork needs: Chromium headless shell, Redis, fonts, bubblewrap
	@scripts/setup.sh run

.PHONY: setup-tools
setup-tools: ## Also install libraries for models' code: numpy, pandas, matplotlib, scipy, sympy (400 MB), and ffmpeg for recordings (170 MB)
	@scripts/setup.sh tools

.PHONY: setup-test
setup-test: ## Also install what tests need: poppler-utils, groff, the MinIO server, veraPDF, EPUBCheck, the CSL test suite, golangci-lint, Vale
	@scripts/setup.sh test
	@scripts/minio.sh "$(MINIO_VERSION)" "$(PRESSWORK_MINIO)"
	@scripts/maven.sh veraPDF "org.verapdf.apps:cli:$(VERAPDF_VERSION)" "$(PRESSWORK_VERAPDF)"
	@scripts/maven.sh EPUBCheck "org.w3c:epubcheck:$(EPUBCHECK_VERSION)" "$(PRESSWORK_EPUBCHECK)"
	@scripts/cslsuite.sh "$(CSL_SUITE_VERSION)" "$(CSL_SUITE_SHA256)" "$(PRESSWORK_CSL_SUITE)"
	@scripts/gotool.sh github.com/golangci/golangci-lint/v2/cmd/golangci-lint "$(GOLANGCI_LINT_VERSION)" "$(GOLANGCI_LINT)"
	@scripts/gotool.sh github.com/errata-ai/vale/v3/cmd/vale "$(VALE_VERSION)" "$(VALE)"

.PHONY: build
build: ## Build bin/presswork
	go build -o bin/presswork ./cmd/presswork

.PHONY: run
run: setup build ## Prepare the machine and run everything on http://127.0.0.1:8000
	exec ./bin/presswork serve

# Packages tested without the race detector, which makes them up to eight times slower.
# Their tests read large documents, fonts and hostile texts in one goroutine, or visit
# the program. Tests that use these packages from several goroutines run with it.
SINGLE := presswork/internal/(markdown|markdown/cite|markdown/hyphen|markdown/tex|imagetype|analysis|analysis/recommend|chromium/fonts|document|document/epub|pdffile|test/e2e|test/studio)

# Tests wait as often as they compute: run one package more than there are cores, and
# two tests of a package for every core.
CORES := $(shell getconf _NPROCESSORS_ONLN)
AT_ONCE := -p $(shell expr $(CORES) + 1) -parallel $(shell expr $(CORES) \* 2)
# go vet has checked everything before; go test would repeat it, twice with -race.
TEST := go test -vet=off $(AT_ONCE) -timeout 12m

# The slowest packages begin first, so that none runs alone at the end.
LONGEST := $(addprefix presswork/,internal/chromium internal/inference/sandbox api tasks cmd/presswork worker internal/local internal/test/e2e internal/document internal/markdown internal/test/studio)
LISTED := { printf '%s\n' $(LONGEST) && go list ./...; }

.PHONY: test
test: setup-test ## Run the whole suite on a real Redis, Chromium and MinIO
	go vet ./...
	$(TEST) -race $$($(LISTED) | grep -vxE '$(SINGLE)')
	$(TEST) -race -run 'TestRendererIsSafeForConcurrentUse|TestConcurrentAnalyses' ./internal/markdown ./internal/analysis
	$(TEST) $$($(LISTED) | grep -xE '$(SINGLE)')
	go -C tools vet ./...
	go -C tools test ./...

.PHONY: compat
compat: ## Run official and generated clients against the real program
	@scripts/setup.sh compat
	@scripts/compat.sh "$(PRESSWORK_COMPAT)"
	@scripts/engines.sh "$(PRESSWORK_ENGINES)"
	go vet -tags compat ./internal/test/compat
	go test -count=1 -parallel 4 -tags compat -timeout 10m ./internal/test/compat

.PHONY: check-deploy
check-deploy: ## Check deploy/ with kustomize, Kubernetes' schemas, compose-go, promtool, hadolint, systemd-analyze and the kernel
	@scripts/setup.sh compat
	@scripts/deploytools.sh "$(PRESSWORK_DEPLOY)"
	go vet -tags validators ./deploy
	go test -tags validators ./deploy

.PHONY: quick
quick: ## Run what needs no service, in under a minute
	go vet ./...
	go test -short ./...
	go -C tools vet ./...
	go -C tools test -short ./...

.PHONY: golden
golden: ## Accept the present output as golden files
	PRESSWORK_UPDATE=1 go test -short ./...

.PHONY: fuzz
fuzz: ## Fuzz every fuzz target for ten seconds, or make fuzz FUZZTIME=300x
	@scripts/fuzz.sh "$(FUZZTIME)"

.PHONY: bench
bench: setup-test ## Measure, and print docs/lab/benchmarks.md
	@scripts/peers.sh "$(PRESSWORK_PEERS)"
	PRESSWORK_BENCH_TABLE="$(CURDIR)/docs/lab/benchmarks.md" go test -run '^$$' -bench . -benchtime 1x -timeout 60m ./internal/test/e2e

.PHONY: microbench
microbench: ## Run the benchmarks next to the code
	go test -run '^$$' -bench . $$(go list ./... | grep -v internal/test/e2e)

.PHONY: profile
profile: ## Print where the time of a printed document goes: make profile DOC=file.md THEME=nord
	@set -o pipefail; PRESSWORK_PROFILE="$(if $(DOC),$(abspath $(DOC)))" PRESSWORK_PROFILE_THEME="$(THEME)" \
		go test -run '^$$' -bench Profile -benchtime 1x ./internal/chromium | grep -vE '^(goos|goarch|pkg|cpu|Benchmark|PASS|ok)'

CORPUS ?=

.PHONY: eval
eval: ## Measure the analysis on a labelled corpus: make eval CORPUS=DIR
	@go -C tools build -o ../bin/evaluate ./evaluate/cmd
	@bin/evaluate -corpus "$(CORPUS)"

.PHONY: corpus
corpus: ## Convert a folder of Markdown and report lost words, empty pages and times: make corpus DIR=… THEME=nord,dark (or all, ROTATE=2: two of them each) JSON=file
	@test -n "$(DIR)" || { echo "corpus: name a folder of Markdown files: make corpus DIR=…" >&2; exit 2; }
	@scripts/setup.sh corpus
	@go run ./internal/test/corpus -dir "$(DIR)" $(if $(THEME),-theme "$(THEME)") $(if $(ROTATE),-rotate "$(ROTATE)") $(if $(JSON),-json "$(JSON)") $(if $(KEEP),-keep "$(KEEP)")

.PHONY: train
train: ## Learn the analysis' weights again, from the documents in CORPUS=DIR or the stored numbers
	@go -C tools build -o ../bin/train ./train/cmd
	@bin/train -corpus "$(CORPUS)"

.PHONY: conformance
conformance: setup-test ## Run veraPDF on every theme and sample, and print docs/lab/pdfa.md
	PRESSWORK_UPDATE=1 go test -run 'TestConformance$$' ./internal/document

.PHONY: demo-inference
demo-inference: build ## Run Presswork with a real small model, a real small Whisper and a scripted model
	@scripts/engines.sh "$(PRESSWORK_ENGINES)"
	@scripts/demo-inference.sh "$(PRESSWORK_ENGINES)"

.PHONY: fmt
fmt: setup-test ## Format, and apply Go's modernisers
	go fix ./...
	$(GOLANGCI_LINT) fmt

.PHONY: generate
generate: ## Write pages that are printed from the code: docs/configuration.md, the tables of docs/themes.md
	PRESSWORK_UPDATE=1 go test -run TestDocumentation ./internal/config ./themes

.PHONY: web
web: ## Build the pages of web/ into api/web/dist; needs Node 20 or newer
	cd web && npm ci --ignore-scripts --no-fund --no-audit && npm run build

.PHONY: gallery
gallery: setup-test ## Draw the pictures of every theme, print docs/themes.md
	PRESSWORK_UPDATE=1 go test -count=1 -run TestGallery ./internal/document
	PRESSWORK_UPDATE=1 go test -count=1 -run TestDocumentation ./themes

.PHONY: screenshots
screenshots: setup-test ## Take the pictures in docs/images
	PRESSWORK_UPDATE=1 go test -count=1 -run TestScreenshots ./internal/test/studio

.PHONY: lint
lint: setup-test ## Run golangci-lint (.golangci.yml) and Vale (.vale/), verify modules and commit subjects
	go mod verify
	$(GOLANGCI_LINT) run
	cd tools && $(GOLANGCI_LINT) run --config ../.golangci.yml
	cd internal/test/compat/openaigo && $(GOLANGCI_LINT) run --config ../../../../.golangci.yml
	scripts/subjects.sh
	scripts/prose.sh "$(VALE)"

.PHONY: prose
prose: ## Check the English of pages and comments by the rules in .vale/: make prose FILES='docs web'
	@scripts/gotool.sh github.com/errata-ai/vale/v3/cmd/vale "$(VALE_VERSION)" "$(VALE)"
	scripts/prose.sh "$(VALE)" $(FILES)

.PHONY: vuln
vuln: ## Run govulncheck, where the Go vulnerability database can be reached
	@scripts/vuln.sh "$(GOVULNCHECK_VERSION)" "$(TOOLS)/govulncheck-$(GOVULNCHECK_VERSION)"

.PHONY: verify
verify: fmt generate quick ## Format, generate, test; fail if that changed a file
	git diff --exit-code

.PHONY: up
up: setup-test build ## Run a fleet on this machine: API, two workers, Redis, MinIO (the Procfile)
	@scripts/up.sh

.PHONY: down
down: ## Stop what `make up` started
	@scripts/down.sh

.PHONY: demo
demo: setup-test build ## Run a fleet, kill its workers while documents are printed, and count lost jobs
	@scripts/demo.sh

.PHONY: torture
torture: setup-test ## Break a fleet for TORTURE=20m and check that nothing was lost; TORTURE_SEED=n, TORTURE_JOBS=n, TORTURE_PREVIOUS=commit
	@scripts/torture.sh

.PHONY: release
release: ## Build archives, packages, checksums and the SBOM of a release into dist/
	@scripts/gotool.sh github.com/goreleaser/nfpm/v2/cmd/nfpm "$(NFPM_VERSION)" "$(TOOLS)/nfpm-$(NFPM_VERSION)"
	@scripts/release.sh "$(TOOLS)/nfpm-$(NFPM_VERSION)" dist

.PHONY: check-packages
check-packages: release ## Install the packages of dist/ into clean roots, print there, and remove them; needs root
	@scripts/setup.sh packages
	@scripts/packages.sh dist

.PHONY: manual
manual: build ## Print docs/ as a PDF with an index, an EPUB and web pages into dist/manual; a finding is an error
	@mkdir -p dist/manual
	@scripts/manual.sh bin/presswork dist/manual/presswork_manual

.PHONY: image
image: ## Build the container image
	docker build -f deploy/Dockerfile -t presswork .
