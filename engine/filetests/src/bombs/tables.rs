//! Tables and objects: keys, actions, entries, arrays.

use super::{Draft, Kind, add};

pub(super) const KINDS: &[Kind] = &[
    ("keys", keys),
    ("entries", entries),
    ("ternary_entries", ternary_entries),
    ("table_actions", table_actions),
    ("tables", tables),
    ("parameters", parameters),
    ("registers", registers),
    ("counters", counters),
    ("value_sets", value_sets),
    ("selectors", selectors),
];

fn keys(d: &mut Draft) {
    let (count, t) = (d.size(10, 40_000), d.name("keyed"));
    let kind = ["exact", "ternary", "range"][d.below(3)];
    add!(d.ingress_locals, "table {t} {{ key = {{ ");
    (0..count).for_each(|at| add!(d.ingress_locals, "h.base.a: {kind} @name(\"k{at}\"); "));
    add!(d.ingress_locals, "}} actions = {{ NoAction; }} }}\n");
    add!(d.ingress, "{t}.apply();\n");
}

fn entries(d: &mut Draft) {
    let (count, t) = (d.size(10, 60_000), d.name("filled"));
    add!(d.ingress_locals, "action {t}_a(bit<32> v) {{ m.m = v; }}\n");
    add!(d.ingress_locals, "table {t} {{ key = {{ h.base.a: exact; }} actions = {{ {t}_a; NoAction; }}\n");
    add!(d.ingress_locals, "const entries = {{\n");
    (0..count).for_each(|at| add!(d.ingress_locals, "{at}: {t}_a({at});\n"));
    add!(d.ingress_locals, "}} }}\n");
    add!(d.ingress, "{t}.apply();\n");
}

fn ternary_entries(d: &mut Draft) {
    let (count, keys, t) = (d.size(10, 30_000), d.size(1, 40), d.name("masked"));
    add!(d.ingress_locals, "table {t} {{ key = {{ ");
    (0..keys).for_each(|at| add!(d.ingress_locals, "h.base.a: ternary @name(\"k{at}\"); "));
    add!(d.ingress_locals, "}} actions = {{ NoAction; }}\nconst entries = {{\n");
    for at in 0..count / keys {
        let set: Vec<String> = (0..keys).map(|key| format!("{} &&& {}", at + key, at * 3 + key)).collect();
        add!(d.ingress_locals, "({}): NoAction();\n", set.join(","));
    }
    add!(d.ingress_locals, "}} }}\n");
    add!(d.ingress, "{t}.apply();\n");
}

fn table_actions(d: &mut Draft) {
    let (count, t) = (d.size(10, 20_000), d.name("choice"));
    (0..count).for_each(|at| add!(d.ingress_locals, "action {t}_{at}() {{ m.m = {at}; }}\n"));
    add!(d.ingress_locals, "table {t} {{ key = {{ h.base.a: exact; }} actions = {{ ");
    (0..count).for_each(|at| add!(d.ingress_locals, "{t}_{at}; "));
    add!(d.ingress_locals, "}} }}\n");
    add!(d.ingress, "switch ({t}.apply().action_run) {{\n");
    (0..count).for_each(|at| add!(d.ingress, "{t}_{at}: {{ h.base.b = {at}; }}\n"));
    add!(d.ingress, "}}\n");
}

fn tables(d: &mut Draft) {
    let (count, t) = (d.size(10, 20_000), d.name("one"));
    add!(d.ingress_locals, "action {t}_a(bit<32> v) {{ m.m = v; }}\n");
    for at in 0..count {
        add!(
            d.ingress_locals,
            "table {t}_{at} {{ key = {{ h.base.a: exact; }} actions = {{ {t}_a; NoAction; }} size = 1048576; }}\n"
        );
        add!(d.ingress, "{t}_{at}.apply();\n");
    }
}

fn parameters(d: &mut Draft) {
    let (count, calls, a) = (d.size(10, 8_000), d.size(1, 24), d.name("wide"));
    let params: Vec<String> = (0..count).map(|at| format!("bit<32> p{at}")).collect();
    add!(d.ingress_locals, "action {a}({}) {{ m.m = p0; }}\n", params.join(","));
    add!(d.ingress_locals, "table {a}_t {{ key = {{ h.base.a: exact; }} actions = {{ {a}; }} }}\n");
    add!(d.ingress, "{a}_t.apply();\n");
    let args: Vec<String> = (0..count).rev().map(|at| format!("p{at} = {at}")).collect();
    (0..calls).for_each(|_| add!(d.ingress, "{a}({});\n", args.join(",")));
}

fn registers(d: &mut Draft) {
    let (count, cells, r) = (d.size(1, 5_000), d.size(1, 1 << 24), d.name("reg"));
    (0..count).for_each(|at| add!(d.ingress_locals, "register<bit<512>>({cells}) {r}_{at};\n"));
    add!(d.ingress_locals, "bit<512> {r}_v;\n");
    (0..count).for_each(|at| add!(d.ingress, "{r}_{at}.read({r}_v, m.m);\n"));
}

fn counters(d: &mut Draft) {
    let (count, cells, r) = (d.size(1, 5_000), d.size(1, 1 << 24), d.name("count"));
    for at in 0..count {
        add!(d.ingress_locals, "counter({cells}, CounterType.packets_and_bytes) {r}_{at};\n");
        add!(d.ingress_locals, "meter({cells}, MeterType.bytes) {r}_m{at};\n");
        add!(d.ingress, "{r}_{at}.count(m.m); {r}_m{at}.execute_meter(m.m, m.m);\n");
    }
}

fn value_sets(d: &mut Draft) {
    let (count, size, v) = (d.size(1, 3_000), d.size(1, 1 << 20), d.name("set"));
    (0..count).for_each(|at| add!(d.parser_locals, "value_set<bit<32>>({size}) {v}_{at};\n"));
    add!(d.states, "state {v} {{ transition select(h.base.a) {{ ");
    (0..count).for_each(|at| add!(d.states, "{v}_{at}: accept; "));
    add!(d.states, "default: reject; }} }}\n");
    if d.tag == 0 {
        add!(d.states, "state after {{ transition {v}; }}\n");
    }
}

fn selectors(d: &mut Draft) {
    let (count, keys, t) = (d.size(1, 400), d.size(1, 250), d.name("group"));
    add!(d.ingress_locals, "action {t}_a(bit<32> v) {{ m.m = v; }}\n");
    for at in 0..count {
        add!(d.ingress_locals, "table {t}_{at} {{ key = {{ h.base.a: exact; ");
        (0..keys).for_each(|_| add!(d.ingress_locals, "h.base.b: selector; "));
        add!(
            d.ingress_locals,
            "}} actions = {{ {t}_a; }} implementation = action_selector(HashAlgorithm.crc16, 1048576, 14); }}\n"
        );
        add!(d.ingress, "{t}_{at}.apply();\n");
    }
}
