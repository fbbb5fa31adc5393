//! Programs that ask for more than a compiler can give end within a moment and within bounded memory; each
//! limit is one that the reference names.

use p4cc_budget::Resource;
use p4cc_filetests::bombs::cost::{self, Cost};
use p4cc_filetests::bombs::{bomb, kind_names};
use p4cc_ir::limits;
use std::path::Path;
use std::time::Duration;

/// Twice what is promised of an optimised build.
const MAX_TIME: Duration = Duration::from_secs(4);
const MAX_BYTES: u64 = 300 << 20;

fn in_own_process(seed: u64, with_native: bool) -> (String, Cost) {
    let measured =
        cost::in_own_process(Path::new(env!("CARGO_BIN_EXE_bombs")), &seed.to_string(), with_native);
    measured.unwrap_or_else(|| panic!("the process that compiled {} died", bomb(seed).name))
}

/// The largest program of each kind.
#[test]
fn the_largest_program_of_each_kind_ends_soon() {
    let kinds = kind_names().len() as u64;
    for seed in 2 * kinds..3 * kinds {
        let (name, cost) = in_own_process(seed, false);
        assert!(cost.processor_time < MAX_TIME, "{name} takes {:?}", cost.processor_time);
        assert!(cost.peak_bytes < MAX_BYTES, "{name} takes {} bytes", cost.peak_bytes);
    }
}

/// A chain of parser states from each of which the parser may end: where headers are in registers, each end
/// hands on all of them.
fn chain_of_headers(count: usize) -> String {
    let fields: String = (0..12).map(|field| format!("bit<32> f{field}; ")).collect();
    let (mut headers, mut states, mut emits) = (String::new(), String::new(), String::new());
    for at in 0..count {
        headers.push_str(&format!("h_t h{at}; "));
        let next = if at + 1 < count { format!("s{}", at + 1) } else { "accept".to_owned() };
        states.push_str(&format!(
            "state s{at} {{ p.extract(h.h{at}); transition select(h.h{at}.t) {{ 0: {next}; default: accept; }} }}\n"
        ));
        emits.push_str(&format!("p.emit(h.h{at}); "));
    }
    format!(
        "#include <core.p4>\n#include <v1model.p4>\nheader h_t {{ bit<8> t; {fields}}}\n\
         struct H {{ {headers}}}\nstruct M {{}}\n\
         parser P(packet_in p, out H h, inout M m, inout standard_metadata_t s) {{\n\
         state start {{ transition s0; }}\n{states}}}\n\
         control V(inout H h, inout M m) {{ apply {{}} }}\n\
         control I(inout H h, inout M m, inout standard_metadata_t s) {{ apply {{ s.egress_spec = 1; }} }}\n\
         control E(inout H h, inout M m, inout standard_metadata_t s) {{ apply {{}} }}\n\
         control C(inout H h, inout M m) {{ apply {{}} }}\n\
         control D(packet_out p, in H h) {{ apply {{ {emits}}} }}\n\
         V1Switch(P(), V(), I(), E(), C(), D()) main;\n"
    )
}

/// Native code in which registers would take long is made in smaller functions.
#[test]
fn native_code_of_many_headers_is_made_soon() {
    for count in [100, 400] {
        let cost = cost::of(&chain_of_headers(count), true);
        assert_eq!(cost.refused, None);
        assert!(cost.processor_time < MAX_TIME, "{count} headers take {:?}", cost.processor_time);
    }
}

/// A select of thousands of cases is one operation, and thousands of comparisons.
#[test]
fn native_code_of_large_selects_is_made_soon() {
    let (name, cost) = in_own_process(165, true);
    assert_eq!(name, "165-selects");
    assert!(cost.processor_time < MAX_TIME, "{:?}", cost.processor_time);
    assert!(cost.peak_bytes < MAX_BYTES, "{} bytes", cost.peak_bytes);
}

/// Each write to a stack at a variable index is a block for each element.
#[test]
fn stacks_of_unions_are_refused_before_they_fill_the_memory() {
    let (name, cost) = in_own_process(203, false);
    assert_eq!(name, "203-unions");
    assert!(cost.refused.is_some_and(|message| message.contains("instructions")));
    assert!(cost.peak_bytes < MAX_BYTES, "{} bytes", cost.peak_bytes);
}

fn refusal(text: &str) -> String {
    cost::of(text, false).refused.unwrap_or_default()
}

#[test]
fn types_that_multiply_are_refused_where_they_are_written() {
    let mut tuples = String::from("typedef bit<8> t0;\n");
    let mut structs = String::from("struct s0 { bit<8> a; }\n");
    for at in 1..12 {
        let parts = vec![format!("t{}", at - 1); 10].join(",");
        tuples.push_str(&format!("typedef tuple<{parts}> t{at};\n"));
        let fields: String = (0..10).map(|field| format!("s{} f{field}; ", at - 1)).collect();
        structs.push_str(&format!("struct s{at} {{ {fields}}}\n"));
    }
    assert_eq!(refusal(&tuples), "the type consists of 1111 types; at most 1024 are allowed");
    assert_eq!(refusal(&structs), "`s5` takes 100000 variables; at most 65536 are allowed");
}

#[test]
fn a_constant_in_error_is_not_computed_with() {
    let mut text = String::from("const int X0 = 1 << 2000;\n");
    (1..40).for_each(|at| text.push_str(&format!("const int X{at} = X{0} * X{0};\n", at - 1)));
    assert_eq!(refusal(&text), "the constant takes 8001 bits; at most 4096 are allowed");
}

#[test]
fn generic_functions_that_multiply_types_are_refused() {
    let mut text = String::from("T f0<T>(in T x) { return x; }\n");
    for at in 1..24 {
        text.push_str(&format!(
            "T f{at}<T>(in T x) {{ tuple<T,T> t = {{x,x}}; f{}<tuple<T,T>>(t); return x; }}\n",
            at - 1
        ));
    }
    text.push_str("bit<8> g(in bit<8> x) { return f23<bit<8>>(x); }\n");
    assert!(refusal(&text).contains("types; at most 1024 are allowed"), "{}", refusal(&text));
}

/// The number that the reference's table of limits gives for a name.
fn documented(table: &str, name: &str) -> Option<u64> {
    let row = table.lines().find(|line| line.starts_with(&format!("| {name} |")))?;
    row.split('|').nth(2)?.trim().replace(',', "").parse().ok()
}

#[test]
fn the_reference_lists_the_limits() {
    let table = include_str!("../../../docs/reference/p4-support.md");
    let table = table.split_once("## Limits").map_or("", |(_, rest)| rest);
    let of_types = [
        ("bits of a `bit<W>` or `int<W>`", u64::from(limits::MAX_WIDTH)),
        ("bits of a `varbit`", u64::from(limits::MAX_VARBIT)),
        ("bits of a compile-time `int`", limits::MAX_INT_BITS),
        ("elements of a stack or array", u64::from(limits::MAX_STACK)),
        ("variables that a value of one type takes", limits::MAX_TYPE_LEAVES),
        ("types that one type is written with", limits::MAX_TYPE_NODES),
        ("nesting of types", u64::from(limits::MAX_TYPE_DEPTH)),
        ("nesting of code with its calls", u64::from(limits::MAX_CODE_DEPTH)),
        ("entries of a table", u64::from(limits::MAX_TABLE_SIZE)),
        ("cells of a counter, meter or register", u64::from(limits::MAX_ARRAY_CELLS)),
    ];
    let counted = Resource::ALL.map(|resource| (resource.name(), resource.limit()));
    for (name, limit) in of_types.into_iter().chain(counted) {
        assert_eq!(documented(table, name), Some(limit), "{name}");
    }
}

/// The end of a line is not looked for from each literal of it anew.
#[test]
fn a_long_line_of_literals_is_read_soon() {
    for literal in ["\"a\" ", "'a' ", "L\"a\" ", "1 "] {
        let cost = cost::of(&literal.repeat(200_000), false);
        assert!(cost.refused.is_some());
        assert!(cost.processor_time < MAX_TIME, "{literal} takes {:?}", cost.processor_time);
    }
}
