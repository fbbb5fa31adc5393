//! Actions.
//!
//! p4c gives each table a copy of its actions; copies that do the same become
//! one action again, as in the source. `exit` only marks the packet in BMv2:
//! the rest of the action still runs, and the pipeline ends after it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Reader;
use super::json::{
    NOT_P4C, Res, fault, get, id_of, items, list, name_of, number_to, of_type, parameters, text,
};
use super::names::MeterPlan;
use super::objects::visible;
use p4cc_ir::{
    Action, ActionId, ActionParam, BlockId, ExternCall, Func, FuncId, Inst, Operand, Terminator, VarId,
    VarKind, VarType, limits,
};

impl<'j> Reader<'j> {
    pub(super) fn action(&mut self, item: &'j Value) -> Res<'j, ()> {
        let (id, name) = (id_of(item)?, name_of(item)?);
        let meter = self.actions.meters.get(&id).copied().flatten();
        let mut key = format!("{name} {meter:?} ");
        without_source(get(item, "runtime_data")?, &mut key);
        without_source(get(item, "primitives")?, &mut key);
        let action = match self.actions.same.get(&key) {
            Some(&same) => same,
            None => self.new_action(item, name, meter)?,
        };
        self.actions.same.insert(key, action);
        self.actions.by_name.entry(name).or_insert(action);
        if self.actions.by_id.insert(id, action).is_some() {
            return fault(item, format!("two actions have the id {id}"), NOT_P4C);
        }
        Ok(())
    }

    fn new_action(&mut self, item: &'j Value, name: &str, meter: Option<MeterPlan>) -> Res<'j, ActionId> {
        let mut params = Vec::new();
        for param in items(item, "runtime_data")? {
            let param_name = name_of(param)?;
            let bits = get(param, "bitwidth")?;
            let width = number_to(bits, limits::MAX_WIDTH)?;
            if width == 0 {
                return fault(bits, "an action parameter has no bits", NOT_P4C);
            }
            let var = self.b.var(format!("{name}.{param_name}"), VarType::Bit(width), VarKind::Local);
            params.push(ActionParam { cp: visible(param_name), var });
        }
        self.params = params.iter().map(|param| param.var).collect();
        let body = self.action_body(list(get(item, "primitives")?)?, name, meter);
        self.params.clear();
        Ok(self.add_action(name, params, body))
    }

    pub(super) fn add_action(&mut self, name: &str, params: Vec<ActionParam>, body: Func) -> ActionId {
        let func = FuncId::from_index(self.program.funcs.len());
        self.program.funcs.push(body);
        let id = ActionId::from_index(self.program.actions.len());
        self.program.actions.push(Action { cp: visible(name), params, body: func });
        id
    }

    /// An action that does nothing.
    pub(super) fn no_action(&mut self) -> ActionId {
        self.b.begin();
        let body = self.b.finish("NoAction", &Terminator::Return);
        self.add_action("NoAction", Vec::new(), body)
    }

    fn action_body(&mut self, calls: &'j [Value], name: &str, meter: Option<MeterPlan>) -> Func {
        self.b.begin();
        if let Some(plan) = meter {
            self.run_meter(plan);
        }
        let exits = calls.iter().any(|call| call.get("op").and_then(Value::as_str) == Some("exit"));
        let flag = exits.then(|| self.b.local(format!("{name}.$exit"), 1));
        if let Some(dst) = flag {
            self.b.emit(Inst::Assign { dst, src: super::build::bit(false) });
        }
        let targets = match self.jump_targets(calls) {
            Ok(targets) => targets,
            Err(fault) => {
                self.faults.report(fault);
                BTreeMap::new()
            }
        };
        for (number, call) in calls.iter().enumerate() {
            if let Some(&block) = targets.get(&number) {
                self.b.fall_into(block);
            }
            if let Err(fault) = self.call(call, &targets, flag) {
                self.faults.report(fault);
            }
        }
        for (_, &block) in targets.range(calls.len()..) {
            self.b.fall_into(block);
        }
        if let Some(flag) = flag {
            let (exit, stay) = (self.b.block(""), self.b.block(""));
            self.b.end(Terminator::Branch { cond: Operand::Var(flag), then: exit, otherwise: stay });
            self.b.go_to(exit);
            self.b.end(Terminator::Exit);
        }
        self.b.finish(name, &Terminator::Return)
    }

    /// BMv2 runs a direct meter on a hit only, before the action.
    fn run_meter(&mut self, plan: MeterPlan) {
        let (read, join) = (self.b.block(""), self.b.block(""));
        self.b.end(Terminator::Branch { cond: Operand::Var(plan.hit), then: read, otherwise: join });
        self.b.go_to(read);
        let call = ExternCall::DirectMeterRead { meter: plan.meter, dst: plan.target };
        self.b.emit(Inst::Extern(call));
        self.b.fall_into(join);
    }

    /// Calls that are jumped to, with their blocks. The end of the action may be one.
    fn jump_targets(&mut self, calls: &'j [Value]) -> Res<'j, BTreeMap<usize, BlockId>> {
        let mut targets = BTreeMap::new();
        for call in calls {
            if let Some(target) = self.jump_target(call, calls.len())? {
                targets.entry(target).or_insert_with(|| self.b.block(""));
            }
        }
        Ok(targets)
    }

    fn jump_target(&self, call: &'j Value, calls: usize) -> Res<'j, Option<usize>> {
        let offset = match text(get(call, "op")?)? {
            "_jump" => &parameters::<1>(call)?[0],
            "_jump_if_zero" => &parameters::<2>(call)?[1],
            _ => return Ok(None),
        };
        let target = self.number(of_type(offset, "hexstr")?)?.to_u32();
        match target.map(|target| target as usize).filter(|&target| target <= calls) {
            Some(target) => Ok(Some(target)),
            None => fault(offset, "this jumps out of the action", NOT_P4C),
        }
    }

    fn call(
        &mut self,
        call: &'j Value,
        targets: &BTreeMap<usize, BlockId>,
        exit: Option<VarId>,
    ) -> Res<'j, ()> {
        self.b.next_statement();
        let target = self.jump_target(call, usize::MAX)?.and_then(|target| targets.get(&target)).copied();
        match (text(get(call, "op")?)?, target, exit) {
            ("_jump", Some(target), _) => {
                self.b.end(Terminator::Jump(target));
                let next = self.b.block("");
                self.b.go_to(next);
            }
            ("_jump_if_zero", Some(target), _) => {
                let [cond, _] = parameters::<2>(call)?;
                let cond = self.condition(cond)?;
                let next = self.b.block("");
                self.b.end(Terminator::Branch { cond, then: next, otherwise: target });
                self.b.go_to(next);
            }
            ("exit", _, Some(dst)) => {
                self.b.emit(Inst::Assign { dst, src: super::build::bit(true) });
            }
            _ => self.primitive(call)?,
        }
        Ok(())
    }
}

/// Appends a value as text, places in the source left out.
fn without_source(value: &Value, out: &mut String) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for item in items {
                without_source(item, out);
                out.push(',');
            }
            out.push(']');
        }
        Value::Object(members) => {
            out.push('{');
            for (key, member) in members.iter().filter(|(key, _)| key.as_str() != "source_info") {
                out.push_str(key);
                out.push(':');
                without_source(member, out);
                out.push(',');
            }
            out.push('}');
        }
        leaf => out.push_str(&leaf.to_string()),
    }
}
