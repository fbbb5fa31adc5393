//! Snippets for the preprocessor, made of any bytes: lines out of parts that meet each other in odd ways.

/// Names, some of them macros of other lines.
const NAMES: [&str; 12] = ["A", "B", "C", "F", "G", "V", "x", "y", "n", "EMPTY", "__LINE__", "__COUNTER__"];

/// Tokens of ordinary lines and of bodies.
const WORDS: [&str; 76] = [
    "A",
    "B",
    "C",
    "F",
    "G",
    "V",
    "EMPTY",
    "x",
    "y",
    "A",
    "F",
    "(",
    ")",
    "(",
    ")",
    ",",
    ",",
    "(x)",
    "(1)",
    "()",
    "F(1)",
    "F(A)",
    "F(x,y)",
    "G(1,2)",
    "G(,)",
    "G(A,)",
    "V()",
    "V(1)",
    "V(1,2)",
    "V(1,2,3)",
    "F(F(1))",
    "F(G)",
    "F(EMPTY)",
    "1",
    "8w5",
    "0x1F",
    "1.5",
    ".5",
    "..",
    "...",
    "1e+A",
    "+",
    "++",
    "-",
    "->",
    "<",
    "<<",
    ">",
    "=",
    "==",
    "&",
    "&&&",
    "|+|",
    "!",
    "~",
    "#",
    "##",
    "@",
    "\"s A\"",
    "\"a\\\"b\"",
    "'c'",
    "'A",
    "\"A",
    "\\",
    "é",
    ";",
    "{",
    "}",
    "/* c A */",
    "/* l\nine */",
    "// c A\n",
    "__LINE__",
    "__COUNTER__",
    "\\\n",
    "_Pragma(\"p A\")",
    ":",
];

/// Tokens of bodies beside those.
const BODY: [&str; 22] = [
    "x",
    "y",
    "x",
    "y",
    "#x",
    "#y",
    "x##y",
    "A##x",
    "x##1",
    "y ## x",
    "# x",
    "__VA_ARGS__",
    ", ## __VA_ARGS__",
    "#__VA_ARGS__",
    "__VA_OPT__(a x)",
    "__VA_OPT__(, __VA_ARGS__)",
    "rest",
    ",##rest",
    "##y",
    "A",
    "F(x)",
    "x ## __VA_ARGS__",
];

/// Names with answers.
const ASSERTED: [&str; 14] = [
    "x(A)", "x (A)", "x( A )", "A(x y)", "A(x  y)", "A(xy)", "A(x+y)", "A(x + y)", "x", "A", "x()", "x(A",
    "x(F(1))", "1(x)",
];

/// Parts of conditions.
const CONDITION: [&str; 56] = [
    "0",
    "1",
    "2",
    "A",
    "B",
    "x",
    "true",
    "defined A",
    "defined(B)",
    "defined(F)",
    "F(1)",
    "V(2)",
    "EMPTY",
    "-1",
    "1u",
    "0xFFFFFFFFFFFFFFFF",
    "9223372036854775807",
    "18446744073709551615",
    "'a'",
    "'\\n'",
    "010",
    "1 / 0",
    "#x",
    "#x(A)",
    "# x ( A )",
    "#A",
    "#A(x y)",
    "#A(x+y)",
    "#A(x + y)",
    "#x(",
    "#F(1)",
    "#",
    "+",
    "-",
    "*",
    "/",
    "%",
    "<<",
    ">>",
    "<",
    ">=",
    "==",
    "!=",
    "&",
    "|",
    "^",
    "&&",
    "||",
    "?",
    ":",
    ",",
    "(",
    ")",
    "!",
    "~",
    "__COUNTER__",
];

/// A source of choices.
pub struct Choices<'b>(pub &'b [u8]);

impl Choices<'_> {
    fn below(&mut self, bound: usize) -> usize {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        usize::from(*first) % bound.max(1)
    }

    fn pick(&mut self, parts: &[&'static str]) -> &'static str {
        parts[self.below(parts.len())]
    }
}

/// The snippet of some bytes.
pub fn snippet(bytes: &[u8]) -> String {
    let mut choices = Choices(bytes);
    let mut text = String::new();
    let mut open = 0u32;
    while !choices.0.is_empty() && text.len() < 4000 {
        match choices.below(14) {
            0..=3 => define(&mut choices, &mut text),
            4..=8 => ordinary(&mut choices, &mut text),
            9 if open > 0 => {
                let directive = ["#else\n", "#endif\n", "#endif\n", "#elif "][choices.below(4)];
                text.push_str(directive);
                open -= u32::from(directive.starts_with("#endif"));
                if directive == "#elif " {
                    condition(&mut choices, &mut text);
                }
            }
            9 | 10 => {
                open += 1;
                match choices.below(3) {
                    0 => text.push_str(&format!("#ifdef {}\n", choices.pick(&NAMES))),
                    1 => text.push_str(&format!("#ifndef {}\n", choices.pick(&NAMES))),
                    _ => {
                        text.push_str("#if ");
                        condition(&mut choices, &mut text);
                    }
                }
            }
            11 => text.push_str(&format!("#undef {}\n", choices.pick(&NAMES[..10]))),
            12 => {
                text.push_str("#if ");
                condition(&mut choices, &mut text);
                text.push_str("yes\n#else\nno\n#endif\n");
            }
            _ => {
                let parts = [
                    "#line 7\n",
                    "# A banner\n",
                    "#### A\n",
                    "#include <x.p4>\n",
                    "#pragma A\n",
                    "#\n",
                    "#line 9 \"f\"\n",
                    "#assert ",
                    "#assert ",
                    "#unassert ",
                ];
                let part = choices.pick(&parts);
                text.push_str(part);
                if part.ends_with("assert ") {
                    text.push_str(choices.pick(&ASSERTED));
                    text.push('\n');
                }
            }
        }
    }
    for _ in 0..open {
        text.push_str("#endif\n");
    }
    text
}

fn define(choices: &mut Choices<'_>, text: &mut String) {
    let heads = [
        "A",
        "B",
        "C",
        "EMPTY",
        "F(x)",
        "F(x)",
        "G(x,y)",
        "G(x, y)",
        "V(...)",
        "V(x,...)",
        "V(rest...)",
        "F()",
        "V(x,rest...)",
        "F (x)",
    ];
    text.push_str("#define ");
    text.push_str(choices.pick(&heads));
    for _ in 0..choices.below(6) {
        if choices.below(4) != 0 {
            text.push(' ');
        }
        let part = if choices.below(2) == 0 { choices.pick(&BODY) } else { choices.pick(&WORDS) };
        text.push_str(&part.replace('\n', " "));
    }
    text.push('\n');
}

fn ordinary(choices: &mut Choices<'_>, text: &mut String) {
    for _ in 0..=choices.below(8) {
        text.push_str(choices.pick(&WORDS));
        match choices.below(6) {
            0 => {}
            1 => text.push_str("  "),
            2 if choices.below(3) == 0 => text.push('\n'),
            _ => text.push(' '),
        }
    }
    text.push('\n');
}

fn condition(choices: &mut Choices<'_>, text: &mut String) {
    // Operands and operators in turn make a condition more often than not.
    let (operands, operators) = CONDITION.split_at(32);
    for index in 0..=choices.below(4) {
        if index > 0 {
            text.push_str(choices.pick(operators));
            text.push(' ');
        }
        if choices.below(8) == 0 {
            text.push_str(choices.pick(&["! ", "~ ", "- ", "( "]));
        }
        text.push_str(choices.pick(operands));
        text.push(' ');
        if choices.below(12) == 0 {
            text.push_str(") ");
        }
    }
    text.push('\n');
}
