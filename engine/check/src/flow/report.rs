//! What the pass has to say.

use super::Flow;
use super::layout::{Region, Size};
use super::state::{State, Validity};
use p4cc_syntax::ast::Direction;
use p4cc_syntax::{Diagnostic, Span};
use p4cc_types::hir::{Expr, ExprKind, LocalKind};
use p4cc_types::ids::LocalId;
use p4cc_types::ty::Ty;

/// Names of unset parts that one warning lists.
const MAX_NAMED: usize = 4;

/// A walk over the parts of a value.
struct Parts<'a> {
    state: &'a State,
    local: LocalId,
    /// Leaves of headers count only where the header is valid, and not at all for out parameters.
    headers_count: bool,
    found: Vec<String>,
}

impl Flow<'_> {
    fn tell(&mut self, diagnostic: Diagnostic) {
        let fresh = self.quiet == 0 && self.told.insert((diagnostic.span, diagnostic.message.clone()));
        if fresh {
            self.found.push(diagnostic);
        }
    }

    /// A read of a place.
    pub(super) fn report_unset(&mut self, expr: &Expr, region: &Region) {
        let Some(state) = &self.now else { return };
        let mut parts = Parts { state, local: region.local, headers_count: true, found: Vec::new() };
        let at = Size { leaves: region.leaves.start, headers: region.headers.start };
        let name = self.show(expr);
        self.unset_parts(&expr.ty, at, &name, &mut parts);
        let found = parts.found;
        if found.is_empty() {
            return;
        }
        let whole = found.contains(&name);
        let message = if whole {
            format!("`{name}` may be read before it has a value")
        } else {
            format!("`{name}` may be read before {} has a value", listed(&found))
        };
        self.tell(
            Diagnostic::warning(expr.span, message)
                .with_name("uninitialized-use")
                .with_help("assign it on every path to this place"),
        );
    }

    /// An out parameter at the end of its body.
    pub(super) fn report_out_param(&mut self, end: &State, param: LocalId, owner: &str) {
        let Some(local) = self.program.locals.get(param.index()) else { return };
        if local.kind != LocalKind::Param(Direction::Out) {
            return;
        }
        let (ty, name, span) = (local.ty.clone(), local.name.clone(), local.span);
        let mut parts = Parts { state: end, local: param, headers_count: false, found: Vec::new() };
        self.unset_parts(&ty, Size::default(), &name, &mut parts);
        let found = parts.found;
        if found.is_empty() {
            return;
        }
        let what = if found.contains(&name) {
            format!("out parameter `{name}`")
        } else {
            format!("{} of out parameter `{name}`", listed(&found))
        };
        self.tell(
            Diagnostic::warning(span, format!("{what} may be unassigned when `{owner}` ends"))
                .with_name("uninitialized-out-param")
                .with_help("assign it on every path"),
        );
    }

    fn unset_parts(&self, ty: &Ty, at: Size, name: &str, parts: &mut Parts<'_>) {
        if self.program.is_header(ty) {
            let valid = parts.state.validity(parts.local, at.headers) == Validity::Valid;
            if !parts.headers_count || !valid {
                return;
            }
        }
        match ty {
            Ty::Aggregate(_) if !self.program.is_union(ty) => {
                for (index, field) in self.program.fields(ty).iter().enumerate() {
                    let Some((start, _)) = self.layouts.field(ty, index) else { continue };
                    let at = Size { leaves: at.leaves + start.leaves, headers: at.headers + start.headers };
                    self.unset_parts(&field.ty, at, &format!("{name}.{}", field.name), parts);
                }
            }
            Ty::Stack(elem, count) => {
                let size = self.layouts.size(elem);
                for index in 0..*count as usize {
                    let leaves = at.leaves + index * size.leaves;
                    let headers = at.headers + index * size.headers;
                    self.unset_parts(elem, Size { leaves, headers }, &format!("{name}[{index}]"), parts);
                }
            }
            Ty::Tuple(items) => {
                for (index, item) in items.iter().enumerate() {
                    let Some((start, _)) = self.layouts.field(ty, index) else { continue };
                    let at = Size { leaves: at.leaves + start.leaves, headers: at.headers + start.headers };
                    self.unset_parts(item, at, &format!("{name}[{index}]"), parts);
                }
            }
            Ty::Aggregate(_) => {}
            _ if parts.state.is_unset(parts.local, at.leaves) => parts.found.push(name.to_owned()),
            _ => {}
        }
    }

    /// A field of the header `base` is read or written; tells whether the header is valid.
    pub(super) fn report_validity(&mut self, base: &Expr, written: bool) -> bool {
        let (Some(region), Some(state)) = (self.layouts.place(base), &self.now) else { return true };
        let how = match state.validity(region.local, region.headers.start) {
            Validity::Valid => return true,
            Validity::Invalid => "is",
            Validity::Either => "may be",
        };
        let name = self.show(base);
        let done = if written { "written" } else { "read" };
        let message = format!("a field of `{name}` is {done} while the header {how} invalid");
        let help = format!("call `{name}.setValid()` first, or test `{name}.isValid()`");
        self.tell(Diagnostic::warning(base.span, message).with_name("invalid-header").with_help(help));
        false
    }

    /// `stack.next` read as a value.
    pub(super) fn report_next(&mut self, span: Span) {
        self.tell(
            Diagnostic::warning(span, "`next` of a stack is read before it is extracted")
                .with_help("`last` is the element that was extracted last"),
        );
    }

    fn show(&self, expr: &Expr) -> String {
        match &expr.kind {
            ExprKind::Local(id) => {
                self.program.locals.get(id.index()).map_or_else(String::new, |local| local.name.clone())
            }
            ExprKind::Field(base, at) => match self.program.fields(&base.ty).get(*at) {
                Some(field) => format!("{}.{}", self.show(base), field.name),
                None => format!("{}[{at}]", self.show(base)),
            },
            ExprKind::Index(base, index) => match &index.kind {
                ExprKind::Const(value) => {
                    let number = value.as_int().map_or_else(String::new, ToString::to_string);
                    format!("{}[{number}]", self.show(base))
                }
                _ => format!("{}[...]", self.show(base)),
            },
            _ => "...".to_owned(),
        }
    }
}

fn listed(parts: &[String]) -> String {
    let named: Vec<String> = parts.iter().take(MAX_NAMED).map(|part| format!("`{part}`")).collect();
    match parts.len().saturating_sub(MAX_NAMED) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}
