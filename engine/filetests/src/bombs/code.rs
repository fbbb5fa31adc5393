//! Code that multiplies when it is inlined, or is deeply nested or long.

use super::{Draft, Kind, add};

pub(super) const KINDS: &[Kind] = &[
    ("functions", functions),
    ("controls", controls),
    ("parsers", parsers),
    ("actions", actions),
    ("many_controls", many_controls),
    ("large_arguments", large_arguments),
    ("loops", loops),
    ("ifs", ifs),
    ("nested_ifs", nested_ifs),
    ("switches", switches),
    ("deep_expressions", deep_expressions),
    ("long_expressions", long_expressions),
    ("conditionals", conditionals),
    ("states", states),
    ("selects", selects),
    ("select_keys", select_keys),
    ("statements", statements),
    ("locals", locals),
    ("lookaheads", lookaheads),
    ("hashes", hashes),
    ("logical_chains", logical_chains),
];

fn functions(d: &mut Draft) {
    let (width, depth, f) = (d.size(1, 20), d.size(2, 3_000), d.name("fn"));
    add!(d.globals, "bit<32> {f}_0(in bit<32> x) {{ return x + 1; }}\n");
    for at in 1..depth {
        let call = vec![format!("{f}_{}(x)", at - 1); width].join(" + ");
        add!(d.globals, "bit<32> {f}_{at}(in bit<32> x) {{ return {call}; }}\n");
    }
    add!(d.ingress, "m.m = {f}_{}(m.m);\n", depth - 1);
}

fn controls(d: &mut Draft) {
    let (width, depth, c) = (d.size(1, 20), d.size(2, 2_000), d.name("Nest"));
    add!(d.globals, "control {c}_0(inout bit<32> x) {{ apply {{ x = x + 1; }} }}\n");
    for at in 1..depth {
        add!(d.globals, "control {c}_{at}(inout bit<32> x) {{\n");
        (0..width).for_each(|n| add!(d.globals, "{c}_{}() i{n}; ", at - 1));
        add!(d.globals, "apply {{ ");
        (0..width).for_each(|n| add!(d.globals, "i{n}.apply(x); "));
        add!(d.globals, "}} }}\n");
    }
    add!(d.ingress_locals, "{c}_{}() {c};\n", depth - 1);
    add!(d.ingress, "{c}.apply(m.m);\n");
}

fn parsers(d: &mut Draft) {
    let (width, depth, p) = (d.size(1, 20), d.size(2, 1_000), d.name("Sub"));
    add!(
        d.globals,
        "parser {p}_0(packet_in b, inout bit<32> x) {{ state start {{ x = x + 1; b.advance(8); transition accept; }} }}\n"
    );
    for at in 1..depth {
        add!(d.globals, "parser {p}_{at}(packet_in b, inout bit<32> x) {{\n");
        (0..width).for_each(|n| add!(d.globals, "{p}_{}() i{n}; ", at - 1));
        add!(d.globals, "state start {{ ");
        (0..width).for_each(|n| add!(d.globals, "i{n}.apply(b, x); "));
        add!(d.globals, "transition accept; }} }}\n");
    }
    add!(d.parser_locals, "{p}_{}() {p};\n", depth - 1);
    if d.tag == 0 {
        add!(d.states, "state after {{ {p}.apply(packet, m.m); transition accept; }}\n");
    }
}

fn actions(d: &mut Draft) {
    let (width, depth, a) = (d.size(1, 40), d.size(2, 2_000), d.name("act"));
    add!(d.ingress_locals, "action {a}_0() {{ m.m = m.m + 1; }}\n");
    for at in 1..depth {
        add!(d.ingress_locals, "action {a}_{at}() {{ ");
        (0..width).for_each(|_| add!(d.ingress_locals, "{a}_{}(); ", at - 1));
        add!(d.ingress_locals, "}}\n");
    }
    add!(d.ingress_locals, "table {a} {{ actions = {{ {a}_{}; }} }}\n", depth - 1);
    add!(d.ingress, "{a}.apply();\n");
}

fn many_controls(d: &mut Draft) {
    let (count, tables, c) = (d.size(2, 4_000), d.size(1, 20), d.name("Unit"));
    add!(d.globals, "control {c}(inout bit<32> x) {{ action a(bit<32> v) {{ x = v; }}\n");
    for at in 0..tables {
        add!(
            d.globals,
            "table t{at} {{ key = {{ x: exact; }} actions = {{ a; NoAction; }} size = 1024; }}\n"
        );
    }
    add!(d.globals, "apply {{ ");
    (0..tables).for_each(|at| add!(d.globals, "t{at}.apply(); "));
    add!(d.globals, "}} }}\n");
    (0..count).for_each(|at| add!(d.ingress_locals, "{c}() {c}_{at};\n"));
    (0..count).for_each(|at| add!(d.ingress, "{c}_{at}.apply(m.m);\n"));
}

/// A large struct that is handed to many calls.
fn large_arguments(d: &mut Draft) {
    let (fields, calls, f) = (d.size(10, 20_000), d.size(10, 10_000), d.name("big"));
    add!(d.globals, "struct {f}_t {{ ");
    (0..fields).for_each(|at| add!(d.globals, "bit<8> f{at}; "));
    add!(d.globals, "}}\nvoid {f}_f(inout {f}_t x, in {f}_t y) {{ x.f0 = y.f1; }}\n");
    add!(d.globals, "bit<8> {f}_g(in {f}_t y) {{ return y.f2; }}\n");
    add!(d.metadata, "{f}_t {f}; {f}_t {f}_two; ");
    for at in 0..calls {
        match at % 3 {
            0 => add!(d.ingress, "{f}_f(m.{f}, m.{f}_two);\n"),
            1 => add!(d.ingress, "{f}_f(m.{f}, m.{f});\n"),
            _ => add!(d.ingress, "m.{f}.f3 = {f}_g(m.{f});\n"),
        }
    }
}

fn loops(d: &mut Draft) {
    let (depth, items, x) = (d.size(1, 60), d.size(2, 400), d.name("x"));
    let list: Vec<String> = (0..items).map(|item| format!("32w{item}")).collect();
    for at in 0..depth {
        add!(d.ingress, "for (bit<32> {x}_{at} in {{ {} }}) {{ ", list.join(","));
    }
    add!(d.ingress, "m.m = m.m + {x}_{}; {}\n", depth - 1, "}".repeat(depth));
    for at in 0..depth {
        add!(d.ingress, "for (bit<32> {x}_r{at} in 0 .. 4000000000) {{ ");
    }
    add!(d.ingress, "m.m = m.m + 1; {}\n", "}".repeat(depth));
}

fn ifs(d: &mut Draft) {
    let count = d.size(10, 120);
    for at in 0..count {
        add!(d.ingress, "if (h.base.a == {at}) {{ m.m = {at}; }} else ");
    }
    add!(d.ingress, "{{ m.m = 1; }}\n");
}

fn nested_ifs(d: &mut Draft) {
    let (depth, copies) = (d.size(2, 110), d.size(1, 300));
    for _ in 0..copies {
        (0..depth).for_each(|at| add!(d.ingress, "if (h.base.a[{0}:{0}] == 1) {{ m.m = m.m + 1; ", at % 32));
        add!(d.ingress, "{}\n", "}".repeat(depth));
    }
}

fn switches(d: &mut Draft) {
    let (cases, copies) = (d.size(10, 14_000), d.size(1, 8));
    for _ in 0..copies {
        add!(d.ingress, "switch (h.base.a) {{\n");
        (0..cases).for_each(|at| add!(d.ingress, "{at}: {{ m.m = {at}; }}\n"));
        add!(d.ingress, "default: {{ m.m = 0; }} }}\n");
    }
}

fn deep_expressions(d: &mut Draft) {
    let depth = d.size(10, 50_000);
    match d.below(4) {
        0 => add!(d.ingress, "m.m = {}1{};\n", "(".repeat(depth), ")".repeat(depth)),
        1 => add!(d.ingress, "m.m = {}m.m;\n", "~".repeat(depth)),
        2 => add!(d.ingress, "m.m = {}m.m;\n", "(bit<32>)".repeat(depth)),
        _ => add!(d.ingress, "m.m = {}m.m{};\n", "(1 + ".repeat(depth), ")".repeat(depth)),
    }
}

fn long_expressions(d: &mut Draft) {
    let (terms, copies) = (d.size(10, 190), d.size(1, 1_300));
    let operator = [" + ", " * ", " & ", " |+| "][d.below(4)];
    let sum = vec!["m.m"; terms].join(operator);
    (0..copies).for_each(|_| add!(d.ingress, "m.m = {sum};\n"));
}

fn conditionals(d: &mut Draft) {
    let depth = d.size(5, 120);
    add!(d.ingress, "m.m = ");
    (0..depth).for_each(|at| add!(d.ingress, "h.base.a == {at} ? m.m + {at} : "));
    add!(d.ingress, "m.m;\n");
}

fn states(d: &mut Draft) {
    let (count, s) = (d.size(10, 28_000), d.name("st"));
    for at in 0..count {
        add!(
            d.states,
            "state {s}_{at} {{ m.m = m.m + {at}; transition select(m.m) {{ 0: {s}_{}; 1: accept; default: {s}_{}; }} }}\n",
            (at * 7) % count,
            (at + 1) % count
        );
    }
    if d.tag == 0 {
        add!(d.states, "state after {{ transition {s}_0; }}\n");
    }
}

fn selects(d: &mut Draft) {
    let (cases, copies, s) = (d.size(10, 60_000), d.size(1, 20), d.name("sel"));
    for copy in 0..copies {
        add!(d.states, "state {s}_{copy} {{ transition select(h.base.a, h.base.b) {{\n");
        for at in 0..cases / copies {
            add!(d.states, "({at}, {} &&& {}): {s}_{};\n", at * 3, at | 7, (at + 1) % copies);
        }
        add!(d.states, "default: accept; }} }}\n");
    }
    if d.tag == 0 {
        add!(d.states, "state after {{ transition {s}_0; }}\n");
    }
}

fn select_keys(d: &mut Draft) {
    let (keys, cases, s) = (d.size(10, 4_000), d.size(1, 120), d.name("keys"));
    let selected = vec!["h.base.a"; keys].join(",");
    add!(d.states, "state {s} {{ transition select({selected}) {{\n");
    let case = vec!["7"; keys].join(",");
    (0..cases).for_each(|_| add!(d.states, "({case}): accept;\n"));
    add!(d.states, "}} }}\n");
    if d.tag == 0 {
        add!(d.states, "state after {{ transition {s}; }}\n");
    }
}

fn statements(d: &mut Draft) {
    let count = d.size(10, 80_000);
    for at in 0..count {
        match at % 4 {
            0 => add!(d.ingress, "m.m = m.m + {at};\n"),
            1 => add!(d.ingress, "h.base.b = h.base.a ^ m.m;\n"),
            2 => add!(d.ingress, "if (m.m > {at}) {{ h.base.a = 1; }}\n"),
            _ => add!(d.ingress, "h.base.setInvalid(); h.base.setValid();\n"),
        }
    }
}

fn locals(d: &mut Draft) {
    let (count, v) = (d.size(10, 45_000), d.name("local"));
    (0..count).for_each(|at| add!(d.ingress, "bit<32> {v}_{at} = m.m + {at};\n"));
    (0..count).for_each(|at| add!(d.ingress, "m.m = m.m + {v}_{at};\n"));
}

fn lookaheads(d: &mut Draft) {
    let (width, uses, l) = (d.size(1, 2_048), d.size(1, 3_000), d.name("look"));
    add!(d.globals, "struct {l}_t {{ bit<{width}> a; bit<{width}> b; bit<8> c; }}\n");
    add!(d.states, "state {l} {{ {l}_t x;\n");
    (0..uses).for_each(|_| add!(d.states, "x = packet.lookahead<{l}_t>(); m.m = m.m + (bit<32>)x.c;\n"));
    add!(d.states, "transition accept; }}\n");
    if d.tag == 0 {
        add!(d.states, "state after {{ transition {l}; }}\n");
    }
}

fn hashes(d: &mut Draft) {
    let (items, uses) = (d.size(1, 1_000), d.size(1, 300));
    let list = vec!["h.base"; items].join(",");
    (0..uses).for_each(|_| {
        add!(d.ingress, "hash(m.m, HashAlgorithm.crc32, 32w0, {{ {list} }}, 32w1024);\n");
        add!(d.ingress, "digest<tuple<bit<32>>>(1, {{ m.m }});\n");
    });
}

fn logical_chains(d: &mut Draft) {
    let (terms, copies) = (d.size(2, 120), d.size(1, 500));
    let terms: Vec<String> = (0..terms).map(|at| format!("(h.base.a == {at} || m.m == {at})")).collect();
    let chain = terms.join(" && ");
    (0..copies).for_each(|_| add!(d.ingress, "if ({chain}) {{ m.m = 1; }}\n"));
}
