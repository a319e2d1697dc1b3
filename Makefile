# Two commands for people: `make demo` and `make test`. The rest serves them.

GRIDBENCH = target/release/gridbench

.PHONY: demo test check audit build server clean

# A whole published page on this machine in minutes: installs a server if there is none,
# builds, rehearses the full-cache matrix, renders its page, prints the first table.
demo: server build
	$(GRIDBENCH) run matrices/full-cache.toml --rehearse
	@page=$$(ls -td results/*-full-cache-rehearsal | head -1)/pages/page.md; \
	echo; sed -n '/^| *Specification/,/^$$/p' $$page | sed '/^$$/q'; \
	echo "The whole page: $$page (and .html beside it)"

# Everything that the tests need is installed first; real servers are part of them.
# MariaDB's ed25519 is in the package of the whole server only.
test:
	sh tests/servers/install sysbench chromium npm pdftotext=poppler-utils \
		/usr/lib/mysql/plugin/auth_ed25519.so=mariadb-server
	cargo test --locked

# What a change must pass beside the tests.
check:
	cargo fmt --check
	cargo clippy --locked --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps
	@if cargo deny --version >/dev/null 2>&1; \
	then cargo deny --locked check --hide-inclusion-graph licenses bans sources; \
	else echo "SKIPPED cargo deny: it is not installed (cargo install --locked cargo-deny)"; fi

# Known faults of dependencies: both tools fetch the list of them.
audit:
	cargo deny --locked check advisories
	cargo audit

build:
	cargo build --locked --release

server:
	sh tests/servers/install

clean:
	rm -rf .gridbench target
