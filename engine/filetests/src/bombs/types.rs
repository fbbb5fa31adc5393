//! Types and constants that grow with each line.

use super::{Draft, Kind, add};

pub(super) const KINDS: &[Kind] = &[
    ("tuples", tuples),
    ("structs", structs),
    ("one_field_structs", one_field_structs),
    ("stacks", stacks),
    ("arrays", arrays),
    ("unions", unions),
    ("newtypes", newtypes),
    ("generic_structs", generic_structs),
    ("phantom_arguments", phantom_arguments),
    ("generic_functions", generic_functions),
    ("generic_products", generic_products),
    ("powers", powers),
    ("shifts", shifts),
    ("sums_of_parameters", sums_of_parameters),
    ("constant_tuples", constant_tuples),
    ("constant_lists", constant_lists),
    ("widths", widths),
    ("concatenations", concatenations),
    ("strings", strings),
];

fn tuples(d: &mut Draft) {
    let (width, depth, t) = (d.size(1, 40), d.size(2, 400), d.name("t"));
    add!(d.globals, "typedef bit<8> {t}_0;\n");
    for at in 1..depth {
        let parts = vec![format!("{t}_{}", at - 1); width].join(",");
        add!(d.globals, "typedef tuple<{parts}> {t}_{at};\n");
    }
    add!(d.metadata, "{t}_{} {t}; ", depth - 1);
}

fn structs(d: &mut Draft) {
    let (width, depth, s) = (d.size(2, 300), d.size(2, 100), d.name("s"));
    add!(d.globals, "struct {s}_0 {{ bit<8> a; }}\n");
    for at in 1..depth {
        add!(d.globals, "struct {s}_{at} {{ ");
        (0..width).for_each(|field| add!(d.globals, "{s}_{} f{field}; ", at - 1));
        add!(d.globals, "}}\n");
    }
    let used = d.below(depth);
    add!(d.metadata, "{s}_{used} {s}; ");
    add!(d.ingress_locals, "{s}_{used} {s}_copy; ");
    let copies = d.size(1, 2_000);
    (0..copies).for_each(|_| add!(d.ingress, "{s}_copy = m.{s}; m.{s} = {s}_copy;\n"));
    add!(d.ingress, "if ({s}_copy == m.{s}) {{ s.egress_spec = 2; }}\n");
}

fn one_field_structs(d: &mut Draft) {
    let (depth, s) = (d.size(10, 30_000), d.name("chain"));
    add!(d.globals, "struct {s}_0 {{ bit<8> f; }}\n");
    (1..depth).for_each(|at| add!(d.globals, "struct {s}_{at} {{ {s}_{} f; }}\n", at - 1));
    add!(d.metadata, "{s}_{} {s}; ", depth - 1);
}

fn stacks(d: &mut Draft) {
    let (count, elements, fields) = (d.size(1, 40), d.size(1, 100), d.size(1, 14));
    let (s, long) = (d.name("stack"), d.size(1, 2_000));
    let suffix = "x".repeat(long);
    add!(d.globals, "header {s}_t {{ ");
    (0..fields).for_each(|at| add!(d.globals, "bit<32> f{at}{suffix}; "));
    add!(d.globals, "}}\n");
    for at in 0..count {
        add!(d.headers, "{s}_t[{elements}] {s}_{at}; ");
        add!(d.states, "state {s}_e{at} {{ packet.extract(h.{s}_{at}.next); transition after; }}\n");
        add!(d.ingress, "h.{s}_{at}[m.m].f0{suffix} = h.{s}_{at}[m.m + 1].f0{suffix};\n");
        add!(d.ingress, "h.{s}_{at}.push_front(1); h.{s}_{at}.pop_front({});\n", elements / 2 + 1);
        add!(d.deparser, "packet.emit(h.{s}_{at});\n");
    }
    if d.tag == 0 {
        add!(d.states, "state after {{ transition select(h.base.a) {{ ");
        (0..count).for_each(|at| add!(d.states, "{at}: {s}_e{at}; "));
        add!(d.states, "default: accept; }} }}\n");
    }
}

fn arrays(d: &mut Draft) {
    let (depth, elements, a) = (d.size(1, 12), d.size(2, 4_000), d.name("array"));
    let sizes = format!("[{elements}]").repeat(depth);
    add!(d.globals, "struct {a}_t {{ bit<8>{sizes} a; }}\n");
    add!(d.metadata, "{a}_t {a}; ");
    let at = "[m.m]".repeat(depth);
    add!(d.ingress, "m.{a}.a{at} = m.{a}.a{at} + 1;\n");
}

fn unions(d: &mut Draft) {
    let (members, elements, u) = (d.size(2, 400), d.size(1, 4_000), d.name("union"));
    for at in 0..members {
        add!(d.globals, "header {u}_h{at} {{ bit<{}> f; }}\n", 8 * (1 + at % 32));
    }
    add!(d.globals, "header_union {u}_t {{ ");
    (0..members).for_each(|at| add!(d.globals, "{u}_h{at} h{at}; "));
    add!(d.globals, "}}\n");
    add!(d.headers, "{u}_t[{elements}] {u}; ");
    let uses = d.size(1, 300);
    (0..uses).for_each(|at| add!(d.ingress, "h.{u}[m.m].h{}.setValid();\n", at % members));
    add!(d.deparser, "packet.emit(h.{u});\n");
}

fn newtypes(d: &mut Draft) {
    let (depth, t) = (d.size(10, 30_000), d.name("new"));
    add!(d.globals, "type bit<8> {t}_0;\n");
    (1..depth).for_each(|at| add!(d.globals, "type {t}_{} {t}_{at};\n", at - 1));
    add!(d.metadata, "{t}_{} {t}; ", depth - 1);
}

fn generic_structs(d: &mut Draft) {
    let (width, depth, g) = (d.size(1, 8), d.size(2, 200), d.name("pair"));
    add!(d.globals, "struct {g}<T> {{ ");
    (0..width).for_each(|at| add!(d.globals, "T f{at}; "));
    add!(d.globals, "}}\ntypedef bit<8> {g}_0;\n");
    (1..depth).for_each(|at| add!(d.globals, "typedef {g}<{g}_{}> {g}_{at};\n", at - 1));
    add!(d.metadata, "{g}_{} {g}; ", depth - 1);
}

fn phantom_arguments(d: &mut Draft) {
    let (width, depth, g) = (d.size(1, 8), d.size(2, 200), d.name("phantom"));
    let params: Vec<String> = (0..width).map(|at| format!("T{at}")).collect();
    add!(d.globals, "struct {g}<{}> {{ bit<8> f; }}\ntypedef bit<8> {g}_0;\n", params.join(","));
    for at in 1..depth {
        let args = vec![format!("{g}_{}", at - 1); width].join(",");
        add!(d.globals, "typedef {g}<{args}> {g}_{at};\n");
    }
    add!(d.metadata, "{g}_{} {g}; ", depth - 1);
}

fn generic_functions(d: &mut Draft) {
    let (width, depth, f) = (d.size(1, 12), d.size(2, 120), d.name("f"));
    let (ty, value) = (vec!["T"; width].join(","), vec!["x"; width].join(","));
    add!(d.globals, "T {f}_0<T>(in T x) {{ return x; }}\n");
    for at in 1..depth {
        add!(
            d.globals,
            "T {f}_{at}<T>(in T x) {{ tuple<{ty}> t = {{{value}}}; {f}_{}<tuple<{ty}>>(t); return x; }}\n",
            at - 1
        );
    }
    add!(d.ingress, "m.m = {f}_{}<bit<32>>(m.m);\n", depth - 1);
}

/// Each function calls the one below with several types made of its own.
fn generic_products(d: &mut Draft) {
    let (width, depth, f) = (d.size(2, 30), d.size(2, 20), d.name("product"));
    add!(d.globals, "void {f}_0<T>(inout bit<32> x) {{ x = x + 1; }}\n");
    for at in 1..depth {
        add!(d.globals, "void {f}_{at}<T>(inout bit<32> x) {{ ");
        (0..width).for_each(|n| add!(d.globals, "{f}_{}<tuple<T, bit<{}>>>(x); ", at - 1, n + 1));
        add!(d.globals, "}}\n");
    }
    add!(d.ingress, "{f}_{}<bit<8>>(m.m);\n", depth - 1);
}

fn powers(d: &mut Draft) {
    let (start, count, x) = (d.size(2, 4_000), d.size(4, 4_000), d.name("POWER"));
    add!(d.globals, "const int {x}_0 = 1 << {start};\n");
    (1..count).for_each(|at| add!(d.globals, "const int {x}_{at} = {x}_{0} * {x}_{0};\n", at - 1));
    add!(d.ingress, "m.m = (bit<32>){x}_{};\n", count - 1);
}

fn shifts(d: &mut Draft) {
    let (by, count, x) = (d.size(1, 2_000_000_000), d.size(1, 4_000), d.name("SHIFT"));
    add!(d.globals, "const int {x}_0 = 1;\n");
    (1..count).for_each(|at| add!(d.globals, "const int {x}_{at} = {x}_{} << {by};\n", at - 1));
}

/// Sums that are known only when the control is made.
fn sums_of_parameters(d: &mut Draft) {
    let (count, c) = (d.size(4, 2_000), d.name("Sum"));
    add!(d.globals, "control {c}(inout bit<32> x)(int n) {{ const int c0 = n;\n");
    (1..count).for_each(|at| add!(d.globals, "const int c{at} = c{0} + c{0};\n", at - 1));
    add!(d.globals, "apply {{ x = x + (bit<32>)c{}; }} }}\n", count - 1);
    add!(d.ingress_locals, "{c}(1) {c}_i;\n");
    add!(d.ingress, "{c}_i.apply(m.m);\n");
}

fn constant_tuples(d: &mut Draft) {
    let (width, depth, c) = (d.size(2, 12), d.size(2, 60), d.name("value"));
    add!(d.globals, "typedef bit<8> {c}_t0;\nconst {c}_t0 {c}_0 = 1;\n");
    for at in 1..depth {
        let ty = vec![format!("{c}_t{}", at - 1); width].join(",");
        let value = vec![format!("{c}_{}", at - 1); width].join(",");
        add!(d.globals, "typedef tuple<{ty}> {c}_t{at};\nconst {c}_t{at} {c}_{at} = {{{value}}};\n");
    }
}

fn constant_lists(d: &mut Draft) {
    let (items, uses, c) = (d.size(10, 20_000), d.size(1, 1_000), d.name("list"));
    add!(d.globals, "struct {c}_t {{ bit<32>[{items}] a; }}\nconst {c}_t {c} = {{ {{ ");
    add!(d.globals, "{}", vec!["7"; items].join(","));
    add!(d.globals, "}} }};\n");
    (0..uses).for_each(|at| add!(d.ingress, "m.m = m.m + {c}.a[{}];\n", at % items));
    add!(d.ingress_locals, "{c}_t {c}_l;\n");
    (0..uses / 10).for_each(|_| add!(d.ingress, "{c}_l = {c};\n"));
}

fn widths(d: &mut Draft) {
    let (count, v) = (d.size(10, 20_000), d.name("wide"));
    for at in 0..count {
        add!(d.ingress_locals, "bit<{}> {v}_{at} = 1;\n", 1 + (at * 37) % 2_048);
    }
    for at in 1..count {
        let width = (at * 37) % 2_048 + 1;
        add!(d.ingress, "{v}_{at} = (bit<{width}>){v}_{} * {v}_{at};\n", at - 1);
    }
}

fn concatenations(d: &mut Draft) {
    let (start, count, c) = (d.size(1, 2_048), d.size(2, 400), d.name("joined"));
    add!(d.globals, "const bit<{start}> {c}_0 = 1;\n");
    for at in 1..count {
        let width = start.saturating_mul(1 << at.min(40));
        add!(d.globals, "const bit<{width}> {c}_{at} = {c}_{0} ++ {c}_{0};\n", at - 1);
    }
    let parts = d.size(2, 500);
    add!(d.ingress, "m.m = ({})[31:0];\n", vec!["m.m"; parts].join(" ++ "));
}

fn strings(d: &mut Draft) {
    let (length, count, s) = (d.size(1, 200_000), d.size(1, 60), d.name("text"));
    add!(d.globals, "const string {s}_0 = \"{}\";\n", "y".repeat(length));
    (1..count).for_each(|at| add!(d.globals, "const string {s}_{at} = {s}_{0} ++ {s}_{0};\n", at - 1));
    let uses = d.size(1, 2_000);
    (0..uses).for_each(|_| add!(d.ingress, "log_msg({s}_{});\n", count - 1));
}
