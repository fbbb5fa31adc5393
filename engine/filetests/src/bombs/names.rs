//! Declarations, names, annotations, macros and mistakes in great numbers.

use super::{Draft, Kind, add};

pub(super) const KINDS: &[Kind] = &[
    ("errors", errors),
    ("enum_members", enum_members),
    ("match_kinds", match_kinds),
    ("fields", fields),
    ("overloads", overloads),
    ("extern_methods", extern_methods),
    ("annotations", annotations),
    ("macros", macros),
    ("macro_arguments", macro_arguments),
    ("undeclared", undeclared),
    ("twice", twice),
    ("wrong_types", wrong_types),
    ("long_names", long_names),
    ("braces", braces),
    ("constants", constants),
    ("default_arguments", default_arguments),
];

fn errors(d: &mut Draft) {
    let (count, e) = (d.size(10, 100_000), d.name("Error"));
    add!(d.globals, "error {{ ");
    (0..count).for_each(|at| add!(d.globals, "{e}{at}, "));
    add!(d.globals, "{e}Last }}\n");
    let uses = d.size(1, 5_000);
    add!(d.states, "state {e}_use {{ ");
    (0..uses).for_each(|at| add!(d.states, "verify(m.m == {at}, error.{e}{}); ", at % count));
    add!(d.states, "transition accept; }}\n");
    if d.tag == 0 {
        add!(d.states, "state after {{ transition {e}_use; }}\n");
    }
}

fn enum_members(d: &mut Draft) {
    let (count, uses, e) = (d.size(10, 100_000), d.size(1, 20_000), d.name("Kind"));
    add!(d.globals, "enum bit<32> {e} {{ ");
    (0..count).for_each(|at| add!(d.globals, "M{at} = {at}, "));
    add!(d.globals, "Last = 1000000 }}\n");
    (0..uses).for_each(|at| add!(d.ingress, "m.m = {e}.M{};\n", (at * 31) % count));
}

fn match_kinds(d: &mut Draft) {
    let (count, e) = (d.size(10, 100_000), d.name("kind"));
    add!(d.globals, "match_kind {{ ");
    (0..count).for_each(|at| add!(d.globals, "{e}{at}, "));
    add!(d.globals, "{e}Last }}\n");
}

fn fields(d: &mut Draft) {
    let (count, uses, f) = (d.size(10, 70_000), d.size(1, 20_000), d.name("many"));
    add!(d.globals, "struct {f}_t {{ ");
    (0..count).for_each(|at| add!(d.globals, "bit<8> f{at}; "));
    add!(d.globals, "}}\n");
    add!(d.metadata, "{f}_t {f}; ");
    (0..uses).for_each(|at| add!(d.ingress, "m.{f}.f{} = m.{f}.f{};\n", at % count, (at * 17) % count));
}

fn overloads(d: &mut Draft) {
    let (count, calls, f) = (d.size(2, 3_000), d.size(1, 3_000), d.name("over"));
    for at in 0..count {
        let params: Vec<String> = (0..at % 30).map(|n| format!("in bit<32> p{at}_{n}")).collect();
        add!(
            d.globals,
            "bit<32> {f}(in bit<32> x{at}{}{}) {{ return 1; }}\n",
            if at % 30 > 0 { "," } else { "" },
            params.join(",")
        );
    }
    (0..calls).for_each(|at| add!(d.ingress, "m.m = {f}(x{} = m.m);\n", (at % count) / 30 * 30));
}

fn extern_methods(d: &mut Draft) {
    let (count, calls, e) = (d.size(2, 20_000), d.size(1, 20_000), d.name("Ext"));
    add!(d.globals, "extern {e} {{ {e}(); ");
    (0..count).for_each(|at| add!(d.globals, "void m{at}(in bit<32> x); "));
    add!(d.globals, "}}\n");
    add!(d.ingress_locals, "{e}() {e}_i;\n");
    (0..calls).for_each(|at| add!(d.ingress, "{e}_i.m{}(m.m);\n", at % count));
}

fn annotations(d: &mut Draft) {
    let (count, length, a) = (d.size(1, 5_000), d.size(1, 500), d.name("note"));
    let (open, close) = ("(".repeat(length), ")".repeat(length));
    add!(d.ingress_locals, "@{a}_nested({open}{close})\n");
    (0..count).for_each(|at| add!(d.ingress_locals, "@{a}{at}(\"{}\")\n", "z".repeat(length)));
    add!(d.ingress_locals, "action {a}() {{ }}\n");
    add!(d.ingress_locals, "@{a}[{}] table {a}_t {{ actions = {{ {a}; }} }}\n", vec!["1"; count].join(","));
    add!(d.ingress, "{a}_t.apply();\n");
}

fn macros(d: &mut Draft) {
    let (width, depth, x) = (d.size(2, 30), d.size(2, 60), d.name("MAC"));
    add!(d.globals, "#define {x}_0 m.m = m.m + 1;\n");
    for at in 1..depth {
        add!(d.globals, "#define {x}_{at} {}\n", vec![format!("{x}_{}", at - 1); width].join(" "));
    }
    add!(d.ingress, "{x}_{}\n", depth - 1);
}

fn macro_arguments(d: &mut Draft) {
    let (width, depth, x) = (d.size(2, 20), d.size(2, 60), d.name("ARG"));
    add!(d.globals, "#define {x}(a) {}\n", vec!["a"; width].join(" + "));
    add!(d.ingress, "m.m = {}m.m{};\n", format!("{x}(").repeat(depth), ")".repeat(depth));
    add!(d.globals, "#define {x}_S(a) #a {x}_S2(a)\n#define {x}_S2(a) a ## a\n");
}

fn undeclared(d: &mut Draft) {
    let (declared, uses, x) = (d.size(10, 30_000), d.size(10, 30_000), d.name("name"));
    (0..declared).for_each(|at| add!(d.globals, "const bit<32> {x}{at} = {at};\n"));
    (0..uses).for_each(|at| add!(d.ingress, "m.m = {x}{at}y;\n"));
}

fn twice(d: &mut Draft) {
    let (count, x) = (d.size(10, 30_000), d.name("twice"));
    (0..count).for_each(|_| add!(d.globals, "const bit<32> {x} = 1;\n"));
    (0..count).for_each(|_| add!(d.ingress_locals, "action {x}_a() {{ }}\n"));
    (0..count).for_each(|_| add!(d.states, "state {x}_s {{ transition accept; }}\n"));
}

fn wrong_types(d: &mut Draft) {
    let (fields, count, x) = (d.size(1, 900), d.size(10, 10_000), d.name("wrong"));
    let ty = vec!["bit<8>"; fields].join(",");
    add!(d.ingress_locals, "tuple<{ty}> {x}; tuple<{ty},bit<9>> {x}_two;\n");
    (0..count).for_each(|_| add!(d.ingress, "{x} = {x}_two; m.m = {x}; m.m = m.m.m;\n"));
}

fn long_names(d: &mut Draft) {
    let (length, depth, count) = (d.size(100, 60_000), d.size(1, 60), d.size(1, 30_000));
    let n = format!("{}_{}", "n".repeat(length), d.tag);
    add!(d.globals, "struct {n}_0 {{ bit<8>[{count}] {n}; }}\n");
    (1..depth).for_each(|at| add!(d.globals, "struct {n}_{at} {{ {n}_{} {n}; }}\n", at - 1));
    add!(d.metadata, "{n}_{} {n}; ", depth - 1);
    add!(d.ingress, "m.{n} = 1; m.{n} = 2;\n");
}

fn braces(d: &mut Draft) {
    let depth = d.size(10, 50_000);
    match d.below(3) {
        0 => add!(d.ingress, "{}{}\n", "{".repeat(depth), "}".repeat(depth)),
        1 => add!(
            d.globals,
            "typedef {}bit<8>{} deep_{};\n",
            "tuple<".repeat(depth),
            "> ".repeat(depth),
            d.tag
        ),
        _ => add!(d.ingress, "m.m = {}1{};\n", "{".repeat(depth), "}".repeat(depth)),
    }
}

fn constants(d: &mut Draft) {
    let (count, x) = (d.size(10, 80_000), d.name("C"));
    let digits = d.size(1, 1_200);
    let number = format!("0x{}", "f".repeat(digits));
    (0..count.min(12_000_000 / (digits + 30)))
        .for_each(|at| add!(d.globals, "const int {x}{at} = {number};\n"));
}

fn default_arguments(d: &mut Draft) {
    let (count, calls, f) = (d.size(2, 3_000), d.size(1, 3_000), d.name("defaults"));
    let params: Vec<String> = (0..count).map(|at| format!("in bit<32> p{at} = {at}")).collect();
    add!(d.globals, "bit<32> {f}({}) {{ return p0; }}\n", params.join(","));
    (0..calls).for_each(|_| add!(d.ingress, "m.m = {f}();\n"));
}
