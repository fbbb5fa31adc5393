//! What may be called where, and with what: a program may declare externs of the architecture's names with
//! types of its own. A parser reads the packet, a deparser emits; v1model's deparser calls besides only what
//! asks nothing of the switch and keeps no state, since the switch looks at its answers before (as p4c and
//! BMv2 have it).

use super::Lowerer;
use super::object::Object;
use super::storage::Rvalue;
use p4cc_ir::{HeaderField, Operand, VarType};
use p4cc_syntax::{Diagnostic, Severity, Span};
use p4cc_types::hir::{Call, Callee};
use p4cc_types::ty::Ty;
use std::fmt;

/// Extern functions that v1model's deparser may call.
const IN_DEPARSER: [&str; 6] = ["assert", "assume", "hash", "log_msg", "mark_to_drop", "random"];

/// A control of v1model's pipeline in which a packet may be copied or sent again.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Gress {
    Ingress,
    Egress,
}

impl fmt::Display for Gress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ingress => "ingress",
            Self::Egress => "egress",
        })
    }
}

/// A method of an extern, by its names.
#[derive(Clone, Copy)]
pub(super) struct Method<'a> {
    pub of: &'a str,
    pub name: &'a str,
}

impl fmt::Display for Method<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.of, self.name)
    }
}

impl Lowerer<'_> {
    /// Whether the deparser of v1model is being made.
    pub(super) fn in_plain_deparser(&self) -> bool {
        self.in_deparser && self.is_v1model()
    }

    /// Whether an extern function may be called here.
    pub(super) fn placed_function(&mut self, name: &str, span: Span) -> Option<()> {
        if name == "verify" && !self.flow.in_parser {
            return self.misplaced(
                span,
                "`verify` can only be called in a parser",
                "in a control, test with `if` and set a field or drop the packet",
            );
        }
        if self.in_plain_deparser() && !IN_DEPARSER.contains(&name) {
            let message = format!("`{name}` cannot be called in a deparser");
            return self.misplaced(span, message, "call it in egress, or in ingress");
        }
        Some(())
    }

    /// Checks that a request is made in the control that it belongs to. The switch looks at requests only at
    /// the end of that control; p4c refuses the others too, and BMv2 may end at them.
    pub(super) fn placed_request(&mut self, what: &str, gress: Gress, span: Span) -> Option<()> {
        if self.gress == Some(gress) {
            return Some(());
        }
        self.misplaced(
            span,
            format!("{what} can only be called in {gress}"),
            &format!("move the call to {gress}"),
        )
    }

    /// Whether a method of an extern object may be called here.
    pub(super) fn placed_method(&mut self, object: Object, method: Method<'_>, span: Span) -> Option<()> {
        let message = format!("`{method}` cannot be called here");
        match object {
            Object::PacketIn if !self.flow.in_parser => {
                self.misplaced(span, message, "only a parser can read the packet")
            }
            Object::PacketOut if !self.in_deparser || self.flow.in_action => {
                let help = "only a deparser can emit, and not in an action of a table";
                self.misplaced(span, message, help)
            }
            Object::PacketIn | Object::PacketOut => Some(()),
            _ if self.in_plain_deparser() => {
                let message = format!("`{method}` cannot be called in a deparser");
                self.misplaced(span, message, "call it in egress, or in ingress")
            }
            _ => Some(()),
        }
    }

    /// Whether a table may be applied here.
    pub(super) fn placed_table(&mut self, name: &str, span: Span) -> Option<()> {
        if self.flow.in_parser {
            let message = format!("table `{name}` cannot be applied in a parser");
            return self.misplaced(span, message, "apply it in a control, or use `select`");
        }
        if self.in_plain_deparser() {
            let message = format!("table `{name}` cannot be applied in a deparser");
            return self.misplaced(
                span,
                message,
                "apply it in egress, and store the result in metadata or a header",
            );
        }
        Some(())
    }

    pub(super) fn misplaced(&mut self, span: Span, message: impl Into<String>, help: &str) -> Option<()> {
        self.refused(span, message, help)
    }

    /// The same in place of a value.
    pub(super) fn refused<T>(&mut self, span: Span, message: impl Into<String>, help: &str) -> Option<T> {
        self.push(Diagnostic::error(span, message).with_help(help));
        None
    }

    /// A call whose result nobody wants. What follows is looked at even if an extern or table cannot be
    /// called here, so that all such places are told at once.
    pub(super) fn call_stmt(&mut self, call: &Call) -> Option<()> {
        let before = self.diagnostics.len();
        let made = self.call(call, None).map(|_| ());
        let told = self.diagnostics.iter().skip(before).any(|found| found.severity == Severity::Error);
        let leaf = matches!(call.callee, Callee::Extern { .. } | Callee::Method { .. } | Callee::Table(_));
        made.or((told && leaf).then_some(()))
    }

    /// A value that is one number of a fixed width.
    pub(super) fn plain(&mut self, operand: Operand, span: Span) -> Option<Operand> {
        match &operand {
            Operand::Var(var) if matches!(self.out.vars.get(var.index())?.ty, VarType::Varbit(_)) => {
                self.no_varbit(span)
            }
            _ => Some(operand),
        }
    }

    pub(super) fn no_varbit<T>(&mut self, span: Span) -> Option<T> {
        self.push(
            Diagnostic::error(span, "a varbit cannot be an argument of this call")
                .with_help("pass a value of type `bit<W>`, `int<W>` or `bool`"),
        );
        None
    }

    /// An argument that is a condition, and keeps its value while the later ones are evaluated.
    pub(super) fn flag(&mut self, call: &Call, at: usize) -> Option<Operand> {
        let cond = self.arg_before(call, at)?;
        self.fits(call, at, &cond, &Ty::Bool)?;
        Some(cond)
    }

    /// Whether an argument is as wide as a type.
    pub(super) fn fits(&mut self, call: &Call, at: usize, operand: &Operand, ty: &Ty) -> Option<()> {
        let span = self.arg_expr(call, at)?.span;
        match (self.operand_width(operand), self.width(ty)) {
            (given, Some(wanted)) => self.same_size(given, wanted, span),
            (_, None) => self.shape_error(span),
        }
    }

    /// Two numbers of bits that the architecture's own declarations keep equal.
    pub(super) fn same_size(&mut self, given: Option<u32>, wanted: u32, span: Span) -> Option<()> {
        if given == Some(wanted) {
            return Some(());
        }
        let given = given.map_or("no fixed number of".to_owned(), |bits| bits.to_string());
        let message = format!("this has {given} bits, but the call takes {wanted}");
        self.misplaced(span, message, "declare the extern as the architecture file does")
    }

    /// Whether values are as wide as the fields of a message.
    pub(super) fn same_sizes(&mut self, data: &[Operand], fields: &[HeaderField], span: Span) -> Option<()> {
        let wanted = fields.iter().map(|field| Some(field.ty.width()));
        if wanted.eq(data.iter().map(|value| self.operand_width(value))) {
            return Some(());
        }
        self.shape_error(span)
    }

    /// Whether a method gives what its declaration says.
    pub(super) fn declared(
        &mut self,
        result: &Rvalue,
        ret: Option<&Ty>,
        method: Method<'_>,
        span: Span,
    ) -> Option<()> {
        let width = ret.filter(|ty| !matches!(ty, Ty::Void)).map(|ty| self.width(ty));
        let fits = match (result, width) {
            (Rvalue::Scalar(value), Some(Some(width))) => self.operand_width(value) == Some(width),
            (Rvalue::Struct(parts), Some(Some(_))) => !parts.is_empty(),
            _ => true,
        };
        if fits {
            return Some(());
        }
        let message = format!("`{method}` does not return the type of its declaration");
        self.misplaced(span, message, "declare the extern as the architecture file does")
    }
}
