//! What all counters, meters and registers of a program take of memory is bounded.

use p4cc_budget::{Budget, Resource};
use p4cc_compile::Strict;
use p4cc_ir::Program;
use p4cc_syntax::{Memory, Options, Source};

fn compiled(declared: &str, applied: &str, budget: &Budget) -> (Option<Program>, Vec<(u32, String)>) {
    let text = format!(
        "#include <core.p4>\n#include <v1model.p4>\nstruct h {{}} struct m {{}}\n\
         parser p(packet_in b, out h x, inout m y, inout standard_metadata_t s) {{ state start {{ transition accept; }} }}\n\
         control v(inout h x, inout m y) {{ apply {{}} }}\n\
         control i(inout h x, inout m y, inout standard_metadata_t s) {{\n{declared}\napply {{ {applied} }} }}\n\
         control e(inout h x, inout m y, inout standard_metadata_t s) {{ apply {{}} }}\n\
         control d(packet_out b, in h x) {{ apply {{}} }}\n\
         V1Switch(p(), v(), i(), e(), v(), d()) main;\n"
    );
    let (source, found) = Source::from_text("a.p4", &text, &Memory::default(), &Options::default());
    assert!(found.is_empty(), "{}", source.render(&found, false));
    let (tree, found) = p4cc_syntax::parse_within(&source, budget);
    assert!(found.is_empty(), "{}", source.render(&found, false));
    let (program, found) = p4cc_compile::compile_within(&tree, Strict::Off, budget);
    let found = found.into_iter().map(|one| (source.locate(one.span).line, one.message));
    (program, found.collect())
}

#[test]
fn arrays_that_are_too_large_together_are_refused_where_the_bound_is_passed() {
    // 128 MiB each: four go.
    let declared = |count: usize| -> String {
        (0..count).map(|at| format!("register<bit<64>>(16777216) r{at};\n")).collect()
    };
    let (program, found) = compiled(&declared(4), "", &Budget::default());
    assert_eq!(program.map(|program| program.state_bytes()), Some(Resource::StateBytes.limit()), "{found:?}");
    let (program, found) = compiled(&declared(6), "", &Budget::default());
    assert!(program.is_none());
    let message = "the program needs 671088640 bytes of counters, meters, registers and filters; at most 536870912 \
                   are allowed";
    assert_eq!(found, [(11, message.to_owned())]);
}

#[test]
fn cells_of_each_kind_count_by_what_they_take() {
    let kinds = [
        ("counter(1000, CounterType.bytes) c;", 16_000),
        ("meter(1000, MeterType.bytes) c;", 144_000),
        ("register<bit<1>>(1000) c;", 8_000),
        ("register<bit<65>>(1000) c;", 16_000),
        ("register<bit<2048>>(1000) c;", 256_000),
    ];
    for (declared, bytes) in kinds {
        let budget = Budget::default().limited(Resource::StateBytes, bytes);
        let (program, found) = compiled(declared, "", &budget);
        assert_eq!(program.map(|program| program.state_bytes()), Some(bytes), "{declared} {found:?}");
        let budget = Budget::default().limited(Resource::StateBytes, bytes - 1);
        assert!(compiled(declared, "", &budget).0.is_none(), "{declared}");
    }
}
