//! One style for P4 sources.
//!
//! The syntax tree has no comments, and what the preprocessor leaves out is no part of it; so the text is
//! formatted as its tokens stand ([`lex`]). Lines stay lines, as with gofmt: what changes is where they begin
//! ([`indent`]), the blanks between tokens ([`space`]), blanks at ends of lines and repeated empty lines.
//! Directives and annotations stay as they are, since their text may reach the control plane.
//!
//! Invariants: the tokens of the result are those of the text, comments among them; formatting a second time
//! changes nothing.

mod indent;
mod lex;
mod space;

use indent::Indent;
use lex::{Kind, Piece};

/// Empty lines that stay.
const MAX_EMPTY: usize = 1;

/// The text in the style.
///
/// # Errors
/// Why the text is left as it is, with the line.
pub fn format(text: &str) -> Result<String, String> {
    let pieces = lex::pieces(text)?;
    let out = lines(&pieces);
    match same(&pieces, &lex::pieces(&out)?) {
        true => Ok(out),
        false => Err("error of the formatter itself: please report it with the program".to_owned()),
    }
}

/// Whether two texts have the same comments and directives, and the same tokens for the parser.
fn same(one: &[Piece<'_>], other: &[Piece<'_>]) -> bool {
    let is_code = |piece: &Piece<'_>| {
        !matches!(piece.kind, Kind::Newline | Kind::Directive | Kind::LineComment | Kind::BlockComment)
    };
    let bare = |pieces: &[Piece<'_>]| {
        let own = pieces.iter().filter(|piece| piece.kind != Kind::Newline && !is_code(piece));
        own.map(|piece| piece.text.split_whitespace().collect::<String>()).collect::<Vec<_>>()
    };
    let code = |pieces: &[Piece<'_>]| {
        let mut text = String::new();
        for piece in pieces {
            match is_code(piece) {
                true if piece.blank => text.extend([" ", piece.text]),
                true => text.push_str(piece.text),
                false => text.push(' '),
            }
        }
        text
    };
    let (one_code, other_code) = (code(one), code(other));
    bare(one) == bare(other) && p4cc_syntax::tokens(&one_code) == p4cc_syntax::tokens(&other_code)
}

fn lines(pieces: &[Piece<'_>]) -> String {
    let mut out = String::new();
    let mut indent = Indent::default();
    let mut empty = 0;
    for line in pieces.split(|piece| piece.kind == Kind::Newline) {
        let Some(first) = line.first() else {
            empty += 1;
            continue;
        };
        if empty > 0 && !out.is_empty() {
            (0..empty.min(MAX_EMPTY)).for_each(|_| out.push('\n'));
        }
        empty = 0;
        if first.kind == Kind::Directive {
            indent.directive(first.text);
            push_directive(&mut out, first.text);
            continue;
        }
        let column = indent.before(line);
        let start = out.len();
        out.extend(std::iter::repeat_n(' ', column));
        write_line(&mut out, start, line, &mut indent);
        indent.after(line);
        out.push('\n');
    }
    out
}

/// A directive as written, without blanks around it.
fn push_directive(out: &mut String, text: &str) {
    for line in text.split('\n') {
        out.push_str(line.trim_end());
        out.push('\n');
    }
}

fn write_line(out: &mut String, start: usize, line: &[Piece<'_>], indent: &mut Indent) {
    let mut spaces = space::Spaces::new(line, indent.in_angles(), indent.behind_value());
    for (at, piece) in line.iter().enumerate() {
        if at > 0 && spaces.between(at) {
            out.push(' ');
        }
        match piece.kind {
            Kind::BlockComment => push_comment(out, start, piece.text),
            _ => out.push_str(piece.text),
        }
        let column = out.len() - out.rfind('\n').map_or(0, |at| at + 1);
        indent.piece(piece, line.get(at + 1), column);
    }
    indent.set_angles(spaces.angles());
}

/// A comment of several lines: stars stand below each other, other lines stay.
fn push_comment(out: &mut String, start: usize, text: &str) {
    let column = out.len() - out.rfind('\n').map_or(0, |at| at + 1).max(start.min(out.len()));
    for (at, line) in text.lines().enumerate() {
        if at > 0 {
            out.push('\n');
            if line.trim_start().starts_with('*') {
                out.extend(std::iter::repeat_n(' ', column + 1));
                out.push_str(line.trim());
                continue;
            }
        }
        out.push_str(line.trim_end());
    }
}

#[cfg(test)]
mod tests {
    use super::format;

    #[test]
    fn a_comment_that_begins_in_a_directive_stays_whole() {
        for text in [
            "#define N 4 /* ports\n   of it */\nconst bit<8> a = N;\n",
            "#define S \"/*\"\nconst bit<8> a = 1;\n",
        ] {
            assert_eq!(format(text).as_deref(), Ok(text));
        }
        assert!(format("\u{feff}#define A (x)\n").is_err());
    }

    #[test]
    fn a_program_gets_the_style() {
        let text = "\
#include <core.p4>
  #define A(x) \\
      x


/** A header.
* Of two fields. */
header h_t{bit<8>a;  // first
      bit< 16 > b;
@name( \"x y\" ) varbit<(8*4)>c;}



control c( inout h_t h,in bit<8> x ){
action a(bit<8> v){h.a=v+1;h.b=(bit<16>)-1;}
table t{
key={h.a:exact@name(\"k\");
h.b[7:0] : ternary;}
actions={a;NoAction;}
}
apply{
if(h.isValid()&&x<3||!(x>>1==0)){t.apply();}
else{h.a=x==1?2:3;
bit<8> y =
h.a++h.b;
y>>=1;
}
register<bit<8>>(16) r;
}
}
";
        let styled = "\
#include <core.p4>
#define A(x) \\
      x

/** A header.
 * Of two fields. */
header h_t { bit<8> a; // first
    bit<16> b;
    @name( \"x y\" ) varbit<(8 * 4)> c; }

control c(inout h_t h, in bit<8> x) {
    action a(bit<8> v) { h.a = v + 1; h.b = (bit<16>)-1; }
    table t {
        key = { h.a: exact @name(\"k\");
            h.b[7:0]: ternary; }
        actions = { a; NoAction; }
    }
    apply {
        if (h.isValid() && x < 3 || !(x >> 1 == 0)) { t.apply(); }
        else { h.a = x == 1 ? 2 : 3;
            bit<8> y =
                h.a ++ h.b;
            y >>= 1;
        }
        register<bit<8>>(16) r;
    }
}
";
        assert_eq!(format(text).as_deref(), Ok(styled));
        assert_eq!(format(styled).as_deref(), Ok(styled));
    }

    #[test]
    fn branches_of_conditionals_are_indented_alike() {
        let text = "#if A\ncontrol c() {\n#else\ncontrol d() {\n#endif\napply { }\n}\nstruct s { }\n";
        let styled = "#if A\ncontrol c() {\n#else\ncontrol d() {\n#endif\n    apply {}\n}\nstruct s {}\n";
        assert_eq!(format(text).as_deref(), Ok(styled));
    }

    #[test]
    fn what_stands_in_parentheses_is_aligned() {
        let text =
            "parser p(packet_in packet,\n  out h_t h)\n{\nstate start {\npacket.extract(\nh\n);\n}\n}\n";
        let styled = "parser p(packet_in packet,\n         out h_t h)\n{\n    state start {\n        packet.extract(\n            h\n        );\n    }\n}\n";
        assert_eq!(format(text).as_deref(), Ok(styled));
    }

    #[test]
    fn what_cannot_be_told_apart_is_left_alone() {
        assert!(format("bit<8> \\\n x;\n").is_err_and(|why| why.contains("line 1")));
        assert!(format("/* open").is_err_and(|why| why.contains("line 1")));
    }
}
