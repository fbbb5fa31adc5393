//! What core.p4's methods ask of their arguments beyond their types: headers
//! to extract and emit, sizes to look ahead, `verify` in parsers only.

use p4cc_syntax::{Diagnostic, Span};
use p4cc_types::hir::{Call, Callee, Expr, Program};
use p4cc_types::ty::Ty;
use p4cc_types::walk::{self, Owner};

/// Runs the pass.
pub(super) fn check(program: &Program, found: &mut Vec<Diagnostic>) {
    walk::calls(program, &mut |owner, expr, call| found.extend(check_call(program, owner, expr, call)));
}

fn check_call(program: &Program, owner: Owner, expr: &Expr, call: &Call) -> Option<Diagnostic> {
    match &call.callee {
        Callee::Extern { name, .. } if name == "verify" && owner != Owner::Parser => Some(
            Diagnostic::error(expr.span, "`verify` can only be called in a parser")
                .with_help("in a control, test with `if` and set a field or drop the packet"),
        ),
        Callee::Method { extern_name, name, type_args, .. } => match (extern_name.as_str(), name.as_str()) {
            ("packet_in", "extract") => check_extract(program, call),
            ("packet_in", "lookahead") => check_lookahead(program, type_args.first()?, expr.span),
            ("packet_out", "emit") => {
                let arg = call.args.first()?.as_ref()?;
                (!emits(program, &arg.ty)).then(|| {
                    let shown = program.show(&arg.ty);
                    Diagnostic::error(arg.span, format!("a value of type `{shown}` cannot be emitted"))
                        .with_help("emit a header, a stack, a union, or a struct of these")
                })
            }
            _ => None,
        },
        _ => None,
    }
}

fn check_extract(program: &Program, call: &Call) -> Option<Diagnostic> {
    // `extract(_)` names its type by a type argument, if at all.
    let arg = call.args.first()?.as_ref()?;
    if arg.ty == Ty::Unknown {
        return None;
    }
    let shown = program.show(&arg.ty);
    if !program.is_header(&arg.ty) {
        let help = match arg.ty {
            Ty::Stack(..) => "extract one element: `stack.next`",
            _ => "declare the type with `header`",
        };
        let message = format!("`extract` takes a header, not a value of type `{shown}`");
        return Some(Diagnostic::error(arg.span, message).with_help(help));
    }
    match (call.args.len(), has_varbit(program, &arg.ty)) {
        (1, true) => Some(
            Diagnostic::error(
                arg.span,
                format!("header `{shown}` has a varbit field, but `extract` has no size argument"),
            )
            .with_help("pass the size in bits as the second argument: `extract(header, bits)`"),
        ),
        (2, false) => Some(
            Diagnostic::error(
                arg.span,
                format!("header `{shown}` has no varbit field, but `extract` has a size argument"),
            )
            .with_help("remove the second argument"),
        ),
        _ => None,
    }
}

fn check_lookahead(program: &Program, ty: &Ty, span: Span) -> Option<Diagnostic> {
    let wrong = matches!(ty, Ty::Void) || has_varbit(program, ty);
    wrong.then(|| {
        let shown = program.show(ty);
        Diagnostic::error(span, format!("`lookahead` cannot return a value of type `{shown}`"))
            .with_help("its type must have a fixed number of bits")
    })
}

fn has_varbit(program: &Program, ty: &Ty) -> bool {
    match ty {
        Ty::Varbit(_) => true,
        Ty::Aggregate(_) => {
            program.is_union(ty) || program.fields(ty).iter().any(|field| has_varbit(program, &field.ty))
        }
        Ty::Stack(elem, _) => has_varbit(program, elem),
        Ty::Tuple(items) => items.iter().any(|item| has_varbit(program, item)),
        _ => false,
    }
}

fn emits(program: &Program, ty: &Ty) -> bool {
    match ty {
        Ty::Unknown => true,
        Ty::Stack(elem, _) => emits(program, elem),
        Ty::Tuple(items) => items.iter().all(|item| emits(program, item)),
        Ty::Aggregate(_) => {
            program.is_header(ty)
                || program.is_union(ty)
                || program.fields(ty).iter().all(|field| emits(program, &field.ty))
        }
        _ => false,
    }
}
