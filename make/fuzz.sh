#!/usr/bin/env bash
# Fuzzes every reader of boot records, or those named, each for SECONDS of processor time, and prints a line for each.
# Seeds are the records shown in docs/reference/formats/records and what is checked in under crates/formats/fuzz/corpus. What is found
# goes to .build/fuzz, and the checkout stays as it was; with KEEP=N the N shortest finds of each reader that reach code
# which no seed reaches are put to the checked-in corpus, in place of what was there.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${SECONDS_EACH:-60}
keep=${KEEP:-0}
fuzz=crates/formats/fuzz
scratch=.build/fuzz
# libFuzzer needs the compiler's instrumentation, which the stable one only gives when asked in this way. No reader has
# unsafe code, so overflow checks and assertions find what a sanitizer could.
export RUSTC_BOOTSTRAP=1
command -v cargo-fuzz >/dev/null || cargo install cargo-fuzz --locked --quiet --root .build/cargo-fuzz
export PATH=$PWD/.build/cargo-fuzz/bin:$PATH
cargo fuzz build --sanitizer none --fuzz-dir "$fuzz" read >&2
binary=$(ls -t "$fuzz"/target/*/release/read | head -1)
mapfile -t known < <(cargo run -q -p firstlight-formats --example formats)
names=("$@")
if [ ${#names[@]} -eq 0 ]; then
	names=("${known[@]}")
fi
for format in "${names[@]}"; do
	if ! printf '%s\n' "${known[@]}" | grep -qxF -- "$format"; then
		printf 'error: no reader is named %s\nhint: the readers are %s\n' "$format" "${known[*]}" >&2
		exit 2
	fi
done

# The shortest finds that reach what the seeds do not, by libFuzzer's own merging.
keep_finds() {
	local format=$1 checked=$fuzz/corpus/$1 short=$scratch/short/$1 merged=$scratch/merged/$1
	rm -rf "$short" "$merged"
	mkdir -p "$short" "$merged" "$checked"
	# Seeds first: what they reach counts as reached.
	cp "$scratch/seeds/$format"/* "$merged/"
	find "$scratch/found/$format" "$checked" -type f -size -2 -exec cp -n -t "$short" {} +
	FORMAT=$format "$binary" -merge=1 "$merged" "$short" >/dev/null 2>&1
	rm -f "$checked"/*
	find "$merged" -type f ! -name 'page-*' -printf '%s %p\n' | sort -n | head -n "$keep" | cut -d' ' -f2- |
		xargs -r cp -t "$checked"
	rmdir --ignore-fail-on-non-empty "$checked"
}

failed=0
for format in "${names[@]}"; do
	found=$scratch/found/$format seeds=$scratch/seeds/$format artifacts=$scratch/artifacts/$format
	mkdir -p "$found" "$seeds" "$artifacts"
	cargo run -q -p firstlight-formats --example seeds -- "$format" "$seeds"
	# libFuzzer writes into the first directory only.
	corpora=("$found" "$seeds")
	[ -d "$fuzz/corpus/$format" ] && corpora+=("$fuzz/corpus/$format")
	log=$(mktemp)
	spent=0 runs=0 verdict=fine
	# libFuzzer goes by the clock on the wall: it is run again until the processor's time is used up.
	while awk "BEGIN { exit !($spent < $seconds) }"; do
		slice=$(awk "BEGIN { left = $seconds - $spent; print (left > 60 ? 60 : int(left + 1)) }")
		# A record of 64 KiB is long enough for every branch; ten seconds on one are a hang.
		TIMEFORMAT='%U %S'
		{ time FORMAT=$format "$binary" "${corpora[@]}" -max_len=65536 -timeout=10 -rss_limit_mb=2048 \
			-max_total_time="$slice" -artifact_prefix="$artifacts/" -print_final_stats=1 >"$log" 2>&1 ||
			verdict=FAILED; } 2>"$log.time"
		spent=$(awk -v spent="$spent" '{ print spent + $1 + $2 }' "$log.time")
		runs=$((runs + $(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -1 | grep . || echo 0)))
		if [ $verdict = FAILED ]; then
			failed=1
			grep -aE 'panicked|ERROR|SUMMARY' -A1 "$log" | head -8 >&2
			printf 'what it fell over is in %s\n' "$artifacts" >&2
			break
		fi
	done
	covered=$(grep -aoE 'cov: [0-9]+' "$log" | tail -1 || true)
	printf '%-24s %-6s %7.0f s of a processor %12d runs, %s\n' "$format" $verdict "$spent" "$runs" "${covered:-?}"
	rm -f "$log" "$log.time"
	[ "$keep" -eq 0 ] || keep_finds "$format"
done
exit $failed
