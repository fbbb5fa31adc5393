//! Declarations.

use super::Printer;
use crate::ast::{
    ActionRef, AggregateKind, Argument, Block, ControlDecl, Decl, DeclKind, Direction, EnumMember,
    ExternMethod, Field, FunctionSignature, Ident, KeyElement, Param, ParserDecl, ParserState, SelectCase,
    TableDecl, TableEntry, TableProperty, TablePropertyKind, Transition, Type, TypeKind,
};

impl Printer {
    /// A declaration on lines of its own.
    pub(super) fn decl(&mut self, decl: &Decl) {
        self.indent();
        self.annotations(&decl.annotations);
        match &decl.kind {
            DeclKind::Const { .. } | DeclKind::Variable { .. } | DeclKind::Instance { .. } => {
                self.local(&decl.kind);
                self.put(";");
            }
            DeclKind::Error { members } => self.names("error", members),
            DeclKind::MatchKind { members } => self.names("match_kind", members),
            DeclKind::Aggregate { kind, name, type_params, fields } => {
                self.aggregate(*kind, name, type_params, fields);
            }
            DeclKind::Enum { name, underlying, members } => {
                self.enumeration(name, underlying.as_ref(), members)
            }
            DeclKind::Typedef { ty, name } => self.alias("typedef", ty, name),
            DeclKind::NewType { ty, name } => self.alias("type", ty, name),
            DeclKind::ParserType { name, type_params, params } => {
                self.container("parser", name, type_params, params);
                self.put(";");
            }
            DeclKind::ControlType { name, type_params, params } => {
                self.container("control", name, type_params, params);
                self.put(";");
            }
            DeclKind::PackageType { name, type_params, params } => {
                self.container("package", name, type_params, params);
                self.put(";");
            }
            DeclKind::Parser(parser) => self.parser(parser),
            DeclKind::Control(control) => self.control(control),
            DeclKind::ExternObject { name, type_params, methods } => {
                self.put("extern ");
                self.put(&name.name);
                self.type_params(type_params);
                self.put(" ");
                self.braces(methods, Self::method);
            }
            DeclKind::ExternFunction(signature) => {
                self.put("extern ");
                self.signature(signature);
                self.put(";");
            }
            DeclKind::Function { signature, body } => {
                self.signature(signature);
                self.put(" ");
                self.block(body);
            }
            DeclKind::Action { name, params, body } => self.action(name, params, body),
            DeclKind::Table(table) => self.table(table),
            DeclKind::ValueSet { ty, size, name } => {
                self.put("value_set<");
                self.ty(ty);
                self.put(">(");
                self.expr(size);
                self.put(") ");
                self.put(&name.name);
                self.put(";");
            }
        }
        self.put("\n");
    }

    fn names(&mut self, word: &str, members: &[Ident]) {
        self.put(word);
        self.put(" {");
        self.commas(members, |printer, member| printer.put(&member.name));
        self.put("}");
    }

    fn aggregate(&mut self, kind: AggregateKind, name: &Ident, type_params: &[Ident], fields: &[Field]) {
        self.put(match kind {
            AggregateKind::Header => "header ",
            AggregateKind::Struct => "struct ",
            AggregateKind::HeaderUnion => "header_union ",
        });
        self.put(&name.name);
        self.type_params(type_params);
        self.put(" ");
        self.braces(fields, |printer, field| {
            printer.indent();
            printer.annotations(&field.annotations);
            printer.ty(&field.ty);
            printer.put(&format!(" {};\n", field.name.name));
        });
    }

    fn enumeration(&mut self, name: &Ident, underlying: Option<&Type>, members: &[EnumMember]) {
        self.put("enum ");
        if let Some(ty) = underlying {
            self.ty(ty);
            self.put(" ");
        }
        self.put(&name.name);
        self.put(" {");
        self.commas(members, |printer, member| match &member.value {
            Some(value) => printer.key_value(&member.name, value),
            None => printer.put(&member.name.name),
        });
        self.put("}");
    }

    fn alias(&mut self, word: &str, ty: &Type, name: &Ident) {
        self.put(word);
        self.put(" ");
        self.ty(ty);
        self.put(&format!(" {};", name.name));
    }

    fn container(&mut self, word: &str, name: &Ident, type_params: &[Ident], params: &[Param]) {
        self.put(&format!("{word} {}", name.name));
        self.type_params(type_params);
        self.params(params);
    }

    fn params(&mut self, params: &[Param]) {
        self.put("(");
        self.commas(params, |printer, param| {
            printer.annotations(&param.annotations);
            printer.put(match param.direction {
                Direction::None => "",
                Direction::In => "in ",
                Direction::Out => "out ",
                Direction::InOut => "inout ",
            });
            printer.ty(&param.ty);
            printer.put(" ");
            match &param.default {
                Some(value) => printer.key_value(&param.name, value),
                None => printer.put(&param.name.name),
            }
        });
        self.put(")");
    }

    fn signature(&mut self, signature: &FunctionSignature) {
        self.ty(&signature.return_type);
        self.put(&format!(" {}", signature.name.name));
        self.type_params(&signature.type_params);
        self.params(&signature.params);
    }

    fn method(&mut self, method: &ExternMethod) {
        self.indent();
        self.annotations(&method.annotations);
        if method.is_abstract {
            self.put("abstract ");
        }
        if method.is_constructor && method.signature.return_type.kind == TypeKind::Void {
            self.put(&method.signature.name.name);
            self.params(&method.signature.params);
        } else {
            self.signature(&method.signature);
        }
        self.put(";\n");
    }

    fn action(&mut self, name: &Ident, params: &[Param], body: &Block) {
        self.put(&format!("action {}", name.name));
        self.params(params);
        self.put(" ");
        self.block(body);
    }

    /// Without `;`.
    pub(super) fn instance(&mut self, ty: &Type, args: &[Argument], name: &Ident, body: Option<&[Decl]>) {
        // The size of an array of instances stands behind the name: `T(args) x[3]`.
        let mut sizes = Vec::new();
        let mut of = ty;
        while let TypeKind::Stack(inner, size) = &of.kind {
            sizes.push(size);
            of = inner;
        }
        self.ty(of);
        self.args(args);
        self.put(&format!(" {}", name.name));
        for size in sizes.into_iter().rev() {
            self.put("[");
            self.expr(size);
            self.put("]");
        }
        if let Some(body) = body {
            self.put(" = ");
            self.braces(body, Self::decl);
        }
    }

    fn parser(&mut self, parser: &ParserDecl) {
        self.container("parser", &parser.name, &parser.type_params, &parser.params);
        if !parser.constructor_params.is_empty() {
            self.params(&parser.constructor_params);
        }
        self.put(" {\n");
        self.depth += 1;
        for local in &parser.locals {
            self.decl(local);
        }
        for state in &parser.states {
            self.state(state);
        }
        self.depth -= 1;
        self.indent();
        self.put("}");
    }

    fn state(&mut self, state: &ParserState) {
        self.indent();
        self.annotations(&state.annotations);
        self.put(&format!("state {} {{\n", state.name.name));
        self.depth += 1;
        for stmt in &state.body {
            self.stmt(stmt);
        }
        match &state.transition {
            None => {}
            Some(Transition::Direct(name)) => self.line(&format!("transition {};", name.name)),
            Some(Transition::Select { keys, cases, .. }) => {
                self.indent();
                self.put("transition select(");
                self.commas(keys, Self::expr);
                self.put(") ");
                self.braces(cases, Self::select_case);
                self.put("\n");
            }
        }
        self.depth -= 1;
        self.line("}");
    }

    fn select_case(&mut self, case: &SelectCase) {
        self.indent();
        self.expr(&case.keyset);
        self.put(&format!(": {};\n", case.state.name));
    }

    fn control(&mut self, control: &ControlDecl) {
        self.container("control", &control.name, &control.type_params, &control.params);
        if !control.constructor_params.is_empty() {
            self.params(&control.constructor_params);
        }
        self.put(" {\n");
        self.depth += 1;
        for local in &control.locals {
            self.decl(local);
        }
        self.indent();
        self.put("apply ");
        self.block(&control.apply);
        self.put("\n");
        self.depth -= 1;
        self.indent();
        self.put("}");
    }

    fn table(&mut self, table: &TableDecl) {
        self.put(&format!("table {} ", table.name.name));
        self.braces(&table.properties, Self::property);
    }

    fn property(&mut self, property: &TableProperty) {
        self.indent();
        self.annotations(&property.annotations);
        match &property.kind {
            TablePropertyKind::Key(elements) => {
                self.put("key = ");
                self.braces(elements, Self::key_element);
            }
            TablePropertyKind::Actions(actions) => {
                self.put("actions = ");
                self.braces(actions, |printer, action| {
                    printer.indent();
                    printer.action_ref(action);
                    printer.put(";\n");
                });
            }
            TablePropertyKind::Entries { is_const, entries } => {
                self.put(if *is_const { "const entries = " } else { "entries = " });
                self.braces(entries, Self::entry);
            }
            TablePropertyKind::Other { is_const, name, value } => {
                self.put(if *is_const { "const " } else { "" });
                self.key_value(name, value);
                self.put(";");
            }
        }
        self.put("\n");
    }

    fn key_element(&mut self, key: &KeyElement) {
        self.indent();
        self.expr(&key.expr);
        self.put(&format!(": {} ", key.match_kind.name));
        self.annotations(&key.annotations);
        self.put(";\n");
    }

    fn action_ref(&mut self, action: &ActionRef) {
        self.annotations(&action.annotations);
        self.path(&action.path);
        if !action.args.is_empty() {
            self.args(&action.args);
        }
    }

    fn entry(&mut self, entry: &TableEntry) {
        self.indent();
        self.put(if entry.is_const { "const " } else { "" });
        if let Some(priority) = &entry.priority {
            self.put("priority = ");
            self.expr(priority);
            self.put(": ");
        }
        self.expr(&entry.keyset);
        self.put(": ");
        self.action_ref(&entry.action);
        self.put(" ");
        self.annotations(&entry.annotations);
        self.put(";\n");
    }
}
