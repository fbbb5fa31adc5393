//! Calls: functions, built-in methods, and the way to the rest.

use super::Lowerer;
use super::env::{Env, Owner};
use super::inline::Passing;
use super::object::{EnvId, Object};
use super::placed::Method;
use super::storage::{Rvalue, StaticStorage, Target};
use super::target::Array;
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use p4cc_ir::{Bits, HeaderId, Inst, Operand, Terminator, VarKind, VarType};
use p4cc_syntax::{Diagnostic, Span};
use p4cc_types::hir::{Builtin, Call, Callee, Expr};
use p4cc_types::ids::FnId;
use p4cc_types::ty::Ty;
use p4cc_types::value::Value;

impl Lowerer<'_> {
    /// Lowers a call. The result of a call without one is an empty struct.
    pub(super) fn call(&mut self, call: &Call, ty: Option<&Ty>) -> Option<Rvalue> {
        let nothing = Rvalue::Struct(Vec::new());
        match &call.callee {
            Callee::Function(id) => self.call_function(*id, call),
            Callee::Action(id) => self.call_action(*id, call).map(|()| nothing),
            Callee::Extern { name, .. } if name == "static_assert" => self.static_assert(call),
            Callee::Extern { name, type_args, .. } => {
                let lowering = self.lowering();
                self.with_args(call, |this, call| match lowering.function(this, name, type_args, call, ty) {
                    Some(result) => result,
                    None => this.extern_function(name, type_args, call).map(|()| nothing),
                })
            }
            Callee::Method { object, extern_name, name, type_args } => {
                let (object, method) = (self.object(object)?, Method { of: extern_name, name });
                self.with_args(call, |this, call| {
                    let result = this.extern_method(object, method, type_args, call, ty)?;
                    this.declared(&result, ty, method, call.span)?;
                    Some(result)
                })
            }
            Callee::Apply(object) => match self.object(object)? {
                Object::Block(env) => self.apply_block(env, call).map(|()| nothing),
                _ => self.shape_error(call.span),
            },
            Callee::Table(table) => self.apply_table(*table, None, None, call.span).map(|()| nothing),
            Callee::Builtin(builtin, object) => self.builtin(*builtin, object, call),
        }
    }

    fn call_function(&mut self, id: FnId, call: &Call) -> Option<Rvalue> {
        self.count_inlined(call.span)?;
        let function = self.hir.functions.get(id.index())?;
        let callee = EnvId(self.envs.len());
        self.envs.push(Env::new(Owner::None, String::new()));
        let copies =
            self.bind_args(&function.params, (&call.args, &call.order), callee, Passing::Function)?;
        let result = match function.ret {
            Ty::Void => None,
            _ => {
                let name = format!("{}.{}", self.name, function.name);
                Some(self.alloc(&function.ret, &name, VarKind::Local, call.span)?)
            }
        };
        let end = self.func.block("");
        let outer_env = std::mem::replace(&mut self.env, callee);
        let outer_end = self.flow.end.replace(end);
        let outer_result = std::mem::replace(&mut self.flow.result, result.clone());
        let outer_loops = std::mem::take(&mut self.flow.loops);
        let made = self.stmts(&function.body);
        self.flow.loops = outer_loops;
        self.flow.result = outer_result;
        self.flow.end = outer_end;
        self.env = outer_env;
        made?;
        self.func.end(Terminator::Jump(end));
        self.func.open(end);
        self.copy_out(copies, call.span)?;
        Some(result.map_or(Rvalue::Struct(Vec::new()), |place| place.read()))
    }

    /// An assertion that depends on constructor parameters.
    fn static_assert(&mut self, call: &Call) -> Option<Rvalue> {
        let mut args = call.args.iter().flatten();
        let holds = self.const_value(args.next()?)?;
        if holds != Value::Bool(true) {
            let text = match args.next().map(|arg| self.const_value(arg)) {
                Some(Some(Value::String(text))) => format!("static assertion failed: {text}"),
                _ => "static assertion failed".to_owned(),
            };
            self.push(Diagnostic::error(call.span, text));
            return None;
        }
        Some(Rvalue::Scalar(Operand::Const(Bits::from_u128(1, 1))))
    }

    fn builtin(&mut self, builtin: Builtin, object: &Expr, call: &Call) -> Option<Rvalue> {
        match builtin {
            Builtin::IsValid => self.is_valid(object, call.span),
            Builtin::SetValid | Builtin::SetInvalid => {
                self.set_validity(object, builtin == Builtin::SetValid, call.span)?;
                Some(Rvalue::Struct(Vec::new()))
            }
            Builtin::PushFront | Builtin::PopFront => {
                let Value::Int(count) = self.const_value(call.args.first()?.as_ref()?)? else {
                    return self.shape_error(call.span);
                };
                self.shift_stack(object, builtin == Builtin::PushFront, &count, call.span)?;
                Some(Rvalue::Struct(Vec::new()))
            }
        }
    }

    fn shift_stack(&mut self, object: &Expr, push: bool, count: &BigInt, span: Span) -> Option<()> {
        // More than all of them is all of them.
        match self.array(object)? {
            Array::Headers(stack) => {
                let size = self.out.stacks.get(stack.index())?.elements.len() as u32;
                let count = count.to_u32().unwrap_or(size).min(size);
                self.emit(if push {
                    Inst::StackPush { stack, count }
                } else {
                    Inst::StackPop { stack, count }
                });
                Some(())
            }
            Array::Unions(stack) => {
                let size = stack.unions.len();
                let count = count.to_usize().unwrap_or(size).min(size);
                self.shift_unions(&stack, count, push, span)
            }
            Array::Values(_) => self.shape_error(span),
        }
    }

    fn is_valid(&mut self, object: &Expr, span: Span) -> Option<Rvalue> {
        let value = self.rvalue(object)?;
        let dst = self.temp(VarType::Bool);
        self.validity_of(value, dst, span)?;
        Some(Rvalue::Scalar(Operand::Var(dst)))
    }

    fn validity_of(&mut self, value: Rvalue, dst: p4cc_ir::VarId, span: Span) -> Option<()> {
        let known = |value: bool| Operand::Const(p4cc_ir::Bits::from_u128(1, u128::from(value)));
        match value {
            Rvalue::Header(header) => self.emit(Inst::IsValid { dst, header }),
            Rvalue::Union(union) => self.emit(Inst::UnionIsValid { dst, union }),
            Rvalue::Element(stack, index) => self.emit(Inst::StackIsValid { dst, stack, index }),
            Rvalue::NewHeader(_) => self.emit(Inst::Assign { dst, src: known(true) }),
            Rvalue::Invalid => self.emit(Inst::Assign { dst, src: known(false) }),
            Rvalue::Choice(index, values) => {
                self.emit(Inst::Assign { dst, src: known(false) });
                return self.for_chosen(&index, values.len(), |this, at| {
                    this.validity_of(values.get(at)?.clone(), dst, span)
                });
            }
            _ => return self.shape_error(span),
        }
        Some(())
    }

    fn set_validity(&mut self, object: &Expr, valid: bool, span: Span) -> Option<()> {
        let target = self.target(object)?;
        self.set_validity_of(target, valid, span)
    }

    /// `setValid()`. TNA's chip only notes that the header is there, and what was written to it before stays;
    /// others have fields of zero then, as in BMv2. P4-16 (8.17) leaves both open.
    fn make_valid(&mut self, header: HeaderId) {
        let fields = if self.is_tofino() { self.field_vars(header) } else { Vec::new() };
        let mut kept = Vec::new();
        for field in fields {
            let Some(ty) = self.out.vars.get(field.index()).map(|var| var.ty) else { continue };
            let copy = self.temp(ty);
            self.emit(Inst::Assign { dst: copy, src: Operand::Var(field) });
            kept.push((field, copy));
        }
        self.emit(Inst::SetValid { header });
        for (field, copy) in kept {
            self.emit(Inst::Assign { dst: field, src: Operand::Var(copy) });
        }
    }

    fn set_validity_of(&mut self, target: Target, valid: bool, span: Span) -> Option<()> {
        match target {
            Target::Choice(index, targets) => {
                return self.for_chosen(&index, targets.len(), |this, at| {
                    this.set_validity_of(targets.get(at)?.clone(), valid, span)
                });
            }
            Target::StaticStorage(StaticStorage::Header(header)) if valid => self.make_valid(header),
            Target::StaticStorage(StaticStorage::Header(header)) => self.emit(Inst::SetInvalid { header }),
            Target::Element(stack, index) => self.emit(Inst::StackSetValid { stack, index, valid }),
            _ => return self.shape_error(span),
        }
        Some(())
    }
}
