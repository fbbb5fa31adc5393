#!/usr/bin/env bash
# Runs fuzz targets under libFuzzer: fuzz/run.sh SECONDS [TARGET...]. Inputs
# that fail are left in target/fuzz/TARGET. Stable Rust does: coverage is LLVM's
# pass, asked for by options of code generation. libFuzzer's C++ part needs g++.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=$1
shift
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(cpp source bmv2_json packet exec grpc stf scenario segment)
command -v g++ >/dev/null || { echo "fuzz: g++ is missing: apt-get install g++" >&2; exit 1; }
triple=$(rustc -vV | sed -n 's/^host: //p')
# With a target named, the flags are not for build scripts, which link to no libFuzzer.
export RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares"
cargo build --quiet --release --manifest-path fuzz/libfuzzer/Cargo.toml --target "$triple" --target-dir target/libfuzzer
program=target/libfuzzer/$triple/release/p4cc-libfuzzer
failed=0
for target in "${targets[@]}"; do
	folder=target/fuzz/$target
	mkdir -p "$folder/corpus" "$folder/seeds"
	echo "fuzz: $target for $seconds s"
	# The first start writes the seeds; the second reads them.
	P4CC_FUZZ_TARGET=$target P4CC_FUZZ_SEEDS=$folder/seeds "$program" -runs=0 >/dev/null 2>&1 || true
	# A processor shared with other work needs half a minute for
	# native code of the largest case in a build that counts branches.
	P4CC_FUZZ_TARGET=$target "$program" "$folder/corpus" "$folder/seeds" -artifact_prefix="$folder/" -close_fd_mask=1 \
		-max_total_time="$seconds" -timeout=120 -rss_limit_mb=4096 -max_len=65536 -print_final_stats=1 \
		2>"$folder/log" || { failed=1; echo "fuzz: $target found something: see $folder" >&2; }
	grep -E "stat::(number_of_executed_units|peak_rss_mb)|SUMMARY" "$folder/log" || true
done
exit $failed
