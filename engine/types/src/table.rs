//! Tables: keys, actions, default action, entries, properties.

use super::hir::{ActionRef, Annotations, Attached, Callee, Entry, Expr, ExprKind, Key, Table};
use super::ids::{ActId, TabId};
use super::scope::Symbol;
use super::ty::Ty;
use super::value::Value;
use super::{Checker, hir};
use p4cc_budget::Resource;
use p4cc_syntax::ast::{
    self, Annotation, Argument, Direction, ExprKind as Ast, KeyElement, TableDecl, TableEntry,
    TablePropertyKind,
};
use p4cc_syntax::{Diagnostic, Span};

impl Checker {
    /// Checks a table.
    pub(super) fn table_decl(&mut self, decl: &TableDecl, annotations: &[Annotation]) {
        let mut table = Table {
            name: decl.name.name.clone(),
            keys: Vec::new(),
            actions: Vec::new(),
            default_action: None,
            const_default: false,
            entries: Vec::new(),
            const_entries: false,
            size: None,
            implementation: None,
            counters: None,
            meters: None,
            registers: None,
            filters: None,
            support_timeout: false,
            largest_priority_wins: true,
            priority_delta: 1,
            annotations: Annotations::default(),
            span: decl.name.span,
        };
        table.annotations = self.annotations(annotations);
        self.check_properties_once(decl);
        for property in &decl.properties {
            match &property.kind {
                TablePropertyKind::Key(keys) => {
                    let count = keys.len() as u64;
                    if self.charge(Resource::TableKeys, count, decl.name.span).is_some() {
                        table.keys = keys.iter().map(|key| self.key(key)).collect();
                    }
                }
                TablePropertyKind::Actions(actions) => table.actions = self.actions(actions),
                _ => {}
            }
        }
        if !decl.properties.iter().any(|property| matches!(property.kind, TablePropertyKind::Actions(_))) {
            self.push(
                Diagnostic::error(decl.name.span, format!("table `{}` has no actions", decl.name.name))
                    .with_help("add `actions = { ... }`"),
            );
        }
        // The rest refers to keys and actions, which may stand behind it.
        for property in &decl.properties {
            match &property.kind {
                TablePropertyKind::Entries { is_const, entries } => {
                    table.const_entries = *is_const;
                    table.entries =
                        entries.iter().filter_map(|entry| self.entry(&table, entry, *is_const)).collect();
                }
                TablePropertyKind::Other { is_const, name, value } => {
                    self.property(&mut table, *is_const, name, value, property);
                }
                _ => {}
            }
        }
        let id = TabId::from_index(self.hir.tables.len());
        self.hir.tables.push(table);
        self.declare(&decl.name, Symbol::Table(id));
    }

    fn check_properties_once(&mut self, decl: &TableDecl) {
        let name = |kind: &TablePropertyKind| match kind {
            TablePropertyKind::Key(_) => "key".to_owned(),
            TablePropertyKind::Actions(_) => "actions".to_owned(),
            TablePropertyKind::Entries { .. } => "entries".to_owned(),
            TablePropertyKind::Other { name, .. } => name.name.clone(),
        };
        for (index, property) in decl.properties.iter().enumerate() {
            let this = name(&property.kind);
            if let Some(first) = decl.properties.iter().take(index).find(|other| name(&other.kind) == this) {
                self.error_with(
                    property.span,
                    format!("property `{this}` is given twice"),
                    first.span,
                    "first given here",
                );
            }
        }
    }

    fn key(&mut self, key: &KeyElement) -> Key {
        let expr = self.expr(&key.expr);
        let annotations = self.annotations(&key.annotations);
        let fine = matches!(
            self.hir.underlying(&expr.ty),
            Ty::Bit(_) | Ty::Int(_) | Ty::Bool | Ty::Enum(_) | Ty::Error | Ty::Unknown
        );
        if !fine {
            let shown = self.hir.show(&expr.ty);
            self.error(key.expr.span, format!("a value of type `{shown}` cannot be a key"));
        }
        if !self.match_kinds.contains(&key.match_kind.name) {
            let near =
                p4cc_syntax::closest(&key.match_kind.name, self.match_kinds.iter().map(String::as_str));
            let near = near.map(str::to_owned);
            self.undeclared_or_missing("match kind", &key.match_kind, near);
        }
        let name = self.key_name(&key.expr, Some(&expr));
        if name.is_none() && annotations.name.is_none() && expr.ty != Ty::Unknown {
            self.push(
                Diagnostic::error(key.expr.span, "the key has no control-plane name")
                    .with_help("add `@name(\"...\")` after the match kind"),
            );
        }
        Key { name: name.unwrap_or_default(), expr, match_kind: key.match_kind.name.clone(), annotations }
    }

    fn actions(&mut self, actions: &[ast::ActionRef]) -> Vec<ActionRef> {
        let mut made: Vec<ActionRef> = Vec::with_capacity(actions.len());
        for action in actions {
            let _ = self.charge_scan(made.len(), action.span);
            let Some(id) = self.action_named(&action.path) else { continue };
            if let Some(first) = made.iter().find(|other| other.action == id) {
                let first = first.span;
                let name = &action.path.name.name;
                self.error_with(
                    action.span,
                    format!("action `{name}` is listed twice"),
                    first,
                    "first listed here",
                );
                continue;
            }
            let Some(sig) = self.action_sigs.get(id.index()).cloned() else { continue };
            let mut bound_sig = sig.clone();
            bound_sig.params.retain(|param| param.direction != Direction::None);
            let Some(bound) = self.bind(&bound_sig, &[], &action.args, action.span) else { continue };
            let annotations = self.annotations(&action.annotations);
            let (args, order) = (bound.args, bound.order);
            made.push(ActionRef { action: id, args, order, annotations, span: action.span });
        }
        made
    }

    fn action_named(&mut self, path: &ast::Path) -> Option<ActId> {
        match self.scopes.get(&path.name.name, path.absolute).map(|entry| (entry.symbol.clone(), entry.span))
        {
            Some((Symbol::Action(id), _)) => Some(id),
            Some((_, declared)) => {
                let message = format!("`{}` is not an action", path.name.name);
                self.error_with(path.name.span, message, declared, "declared here");
                None
            }
            None => {
                self.undeclared("action", &path.name);
                None
            }
        }
    }

    /// Checks an action with the values of its control-plane
    /// parameters, and perhaps its bound arguments again.
    fn action_call(
        &mut self,
        table: &Table,
        path: &ast::Path,
        args: &[Argument],
        span: Span,
    ) -> Option<ActionRef> {
        let id = self.action_named(path)?;
        self.charge_scan(table.actions.len(), span)?;
        let Some(listed) = table.actions.iter().find(|action| action.action == id) else {
            self.push(
                Diagnostic::error(
                    span,
                    format!("action `{}` is not listed in `actions` of the table", path.name.name),
                )
                .with_help("add it to `actions`"),
            );
            return None;
        };
        let (listed_args, listed) = (listed.args.clone(), listed.annotations.clone());
        let sig = self.action_sigs.get(id.index())?.clone();
        let directional = sig.params.iter().filter(|param| param.direction != Direction::None).count();
        let mut data_sig = sig.clone();
        data_sig.params.retain(|param| param.direction == Direction::None);
        // The bound arguments may be repeated here; they were checked where the action is listed.
        let repeated = directional > 0 && args.len() == sig.params.len();
        if repeated {
            let mut bound_sig = sig;
            bound_sig.params.retain(|param| param.direction != Direction::None);
            let again = self.bind(&bound_sig, &[], args.get(..directional)?, span)?.args;
            let changed = again.iter().zip(&listed_args).find_map(|pair| match pair {
                (Some(again), Some(listed)) if differ(again, listed) => Some((again.span, listed.span)),
                _ => None,
            });
            if let Some((again, listed)) = changed {
                let message = "the argument differs from the one in the list of actions".to_owned();
                self.error_with(again, message, listed, "listed here");
                return None;
            }
        }
        let data = if repeated { args.get(directional..)? } else { args };
        let bound = self.bind(&data_sig, &[], data, span)?;
        for arg in bound.args.iter().flatten() {
            if !self.is_compile_time(arg) {
                self.error(arg.span, "the argument must be a compile-time constant");
                return None;
            }
        }
        let (args, order) = (bound.args, bound.order);
        Some(ActionRef { action: id, args, order, annotations: listed, span })
    }

    fn entry(&mut self, table: &Table, entry: &TableEntry, all_const: bool) -> Option<Entry> {
        self.charge_scan(table.keys.len(), entry.span)?;
        let types: Vec<Ty> = table.keys.iter().map(|key| key.expr.ty.clone()).collect();
        let keysets = self.keysets(&entry.keyset, &types, entry.span);
        let action = self.action_call(table, &entry.action.path, &entry.action.args, entry.action.span);
        let priority = match &entry.priority {
            Some(priority) => Some(self.number(priority, "priority", 0, i32::MAX as u32)?),
            None => None,
        };
        // p4c's older way to write a priority: the smallest number wins (`lower::table`).
        let annotated = entry.annotations.iter().find(|annotation| annotation.name.name == "priority");
        let annotated = annotated.and_then(|annotation| self.number_annotation(annotation));
        let action = action?;
        if action.annotations.has("defaultonly") {
            self.error(entry.action.span, "the action is `@defaultonly` and cannot be used in an entry");
        }
        Some(Entry {
            keysets: keysets?,
            priority,
            annotated_priority: annotated,
            action,
            is_const: all_const || entry.is_const,
            span: entry.span,
        })
    }

    fn property(
        &mut self,
        table: &mut Table,
        is_const: bool,
        name: &ast::Ident,
        value: &ast::Expr,
        written: &ast::TableProperty,
    ) {
        match name.name.as_str() {
            "default_action" => {
                table.const_default = is_const;
                table.default_action = self.default_action(table, value);
            }
            "size" => {
                let size = self.expr(value);
                if !self.is_compile_time(&size) || !(size.ty.is_integral() || size.ty == Ty::Unknown) {
                    self.error(value.span, "the size of a table must be a compile-time number");
                }
                table.size = Some(size);
            }
            "implementation" | "psa_implementation" => {
                table.implementation = Some(self.attached(value, written))
            }
            "counters" | "psa_direct_counter" => table.counters = Some(self.attached(value, written)),
            "meters" | "psa_direct_meter" => table.meters = Some(self.attached(value, written)),
            "registers" => table.registers = Some(self.attached(value, written)),
            "filters" => table.filters = Some(self.attached(value, written)),
            "psa_idle_timeout" => table.support_timeout = self.idle_timeout(value),
            // TNA has it under another name.
            "support_timeout" | "idle_timeout" => table.support_timeout = self.flag(value),
            "largest_priority_wins" => table.largest_priority_wins = self.flag(value),
            "priority_delta" => {
                if let Some(delta) = self.number(value, "priority delta", 1, i32::MAX as u32) {
                    table.priority_delta = delta;
                }
            }
            "psa_empty_group_action" => self.push(
                Diagnostic::warning(
                    written.span,
                    "`psa_empty_group_action` is ignored: an empty group runs no action",
                )
                .with_name("ignore-prop")
                .with_help("remove the property, and keep a member in every group that entries use"),
            ),
            other => self.push(
                Diagnostic::warning(written.span, format!("unknown table property `{other}` is ignored"))
                    .with_name("ignore-prop")
                    .with_help(
                        "known properties are key, actions, default_action, entries, size, \
                        implementation, counters, meters, registers, filters, support_timeout",
                    ),
            ),
        }
    }

    /// PSA's `psa_idle_timeout`: a member of `PSA_IdleTimeout_t`.
    fn idle_timeout(&mut self, value: &ast::Expr) -> bool {
        let given = self.expr(value);
        let member = match (&given.kind, &given.ty) {
            (ExprKind::Const(Value::Enum(at)), Ty::Enum(id)) => {
                let members = self.hir.enums.get(id.index()).map(|def| &def.members);
                members.and_then(|members| members.get(*at as usize)).map(|(name, _)| name.clone())
            }
            _ => None,
        };
        match member.as_deref() {
            Some("NO_TIMEOUT") => false,
            Some("NOTIFY_CONTROL") => true,
            _ => {
                self.error(value.span, "the idle timeout must be a member of `PSA_IdleTimeout_t`");
                false
            }
        }
    }

    /// An object that a property names or makes.
    fn attached(&mut self, value: &ast::Expr, written: &ast::TableProperty) -> Attached {
        Attached { object: self.expr(value), annotations: self.annotations(&written.annotations) }
    }

    fn flag(&mut self, value: &ast::Expr) -> bool {
        let checked = self.expr(value);
        match &checked.kind {
            ExprKind::Const(Value::Bool(value)) => *value,
            ExprKind::Poison => false,
            _ => {
                self.error(value.span, "expected `true` or `false`");
                false
            }
        }
    }

    fn default_action(&mut self, table: &Table, value: &ast::Expr) -> Option<ActionRef> {
        let made = match &value.kind {
            Ast::Path(path) => self.action_call(table, path, &[], value.span),
            Ast::Call { callee, args, .. } => match &callee.kind {
                Ast::Path(path) => self.action_call(table, path, args, value.span),
                _ => {
                    self.error(callee.span, "only an action can be called here");
                    None
                }
            },
            _ => {
                self.error(
                    value.span,
                    "the default action must be an action of the table, with its arguments",
                );
                None
            }
        }?;
        if made.annotations.has("tableonly") {
            self.error(value.span, "the action is `@tableonly` and cannot be the default action");
        }
        Some(made)
    }
}

/// Whether two arguments are certainly not the same expression (of the language's text, 14.2.1.3).
fn differ(a: &Expr, b: &Expr) -> bool {
    match (&a.kind, &b.kind) {
        (ExprKind::Const(a), ExprKind::Const(b)) => a != b,
        (ExprKind::Local(a), ExprKind::Local(b)) => a != b,
        (ExprKind::Field(a, at), ExprKind::Field(b, other)) => at != other || differ(a, b),
        (ExprKind::Cast(a), ExprKind::Cast(b)) => differ(a, b),
        (
            ExprKind::Aggregate(a) | ExprKind::AggregateInOrder(a, _),
            ExprKind::Aggregate(b) | ExprKind::AggregateInOrder(b, _),
        ) => a.iter().zip(b).any(|(a, b)| differ(a, b)),
        (ExprKind::Call(a), ExprKind::Call(b)) => match (&a.callee, &b.callee) {
            (Callee::Extern { name, .. }, Callee::Extern { name: other, .. }) => name != other,
            _ => false,
        },
        (
            ExprKind::Const(_) | ExprKind::Local(_) | ExprKind::Field(..),
            ExprKind::Const(_) | ExprKind::Local(_) | ExprKind::Field(..),
        ) => true,
        _ => false,
    }
}

impl hir::Table {
    /// Whether entries need a priority: some key may match in part.
    pub fn has_priorities(&self) -> bool {
        self.keys.iter().any(|key| matches!(key.match_kind.as_str(), "ternary" | "range" | "optional"))
    }
}
