//! Control flow of a pipeline: tables and conditions, linked by names.

use std::collections::BTreeMap;

use p4cc_ir::{BlockId, Func, FuncId, Inst, Operand, TableId, Terminator, VarId, VarType};
use serde_json::{Map, Value, json};

use super::code::in_order;
use super::inst::Place;
use super::json::{binary, constant, number, typed};
use super::{Res, Writer, refuse};

/// A pipeline in the making.
struct Flow<'n> {
    name: &'n str,
    func: FuncId,
    tables: Vec<Value>,
    conditionals: Vec<Value>,
    /// The first node of each block; null where nothing follows.
    entries: Vec<Option<Value>>,
    /// The node that runs at the end, unless code exits.
    last: Value,
    /// Tables applied at several places: the variable that holds the place, and the number of the last one.
    places: BTreeMap<String, (Value, u64)>,
}

/// What follows a table: without an action, and by its result.
type After = (Value, Map<String, Value>);

/// Bits of the number of a place.
const PLACE_BITS: u32 = 32;
/// Keys of what follows a table whose hit is asked for.
const HIT: &str = "__HIT__";
const MISS: &str = "__MISS__";

/// What follows a table at two places, by the same results; none where one place asks for the hit and the
/// other for the action.
fn asked_alike(first: (Value, Value), second: (Value, Value)) -> Option<(After, After)> {
    let map = |(base, nexts): (Value, Value)| (base, nexts.as_object().cloned().unwrap_or_default());
    let (first, second) = (map(first), map(second));
    let by_hit = |after: &After| after.1.contains_key(HIT);
    let same = |(base, nexts): After| {
        let next = nexts.values().all(|next| *next == base).then(|| base.clone())?;
        Some((base, [HIT, MISS].map(|key| (key.to_owned(), next.clone())).into_iter().collect()))
    };
    match (by_hit(&first), by_hit(&second)) {
        (true, false) => Some((first, same(second)?)),
        (false, true) => Some((same(first)?, second)),
        _ => Some((first, second)),
    }
}

impl Writer<'_> {
    /// The pipeline `ingress` or `egress`, with what runs at its end.
    pub(super) fn pipeline(&mut self, name: &str, func: FuncId, last: Option<&Func>) -> Res<Value> {
        let blocks = &self.program.funcs[func.index()].blocks;
        let entries = vec![None; blocks.len()];
        let (tables, conditionals) = (Vec::new(), Vec::new());
        let places = BTreeMap::new();
        let mut flow = Flow { name, func, tables, conditionals, entries, last: Value::Null, places };
        if let Some(last) = last {
            let primitives = self.whole(Place::Action(name), last)?;
            flow.last = self.code(&mut flow, primitives, Value::Null);
        }
        let is_apply = |inst: &Inst| matches!(inst, Inst::Apply { .. });
        let applies = blocks.iter().any(|block| block.insts.iter().any(is_apply));
        let init = if applies { self.nodes(&mut flow)? } else { self.single(&mut flow)? };
        flow.tables.reverse();
        flow.conditionals.reverse();
        let control = self.control_of(func).unwrap_or(name);
        Ok(json!({
            "name": name,
            "id": u32::from(name == "egress"),
            "source_info": { "source_fragment": control },
            "init_table": init,
            "tables": flow.tables,
            "action_profiles": [],
            "conditionals": flow.conditionals,
        }))
    }

    /// The control of a pipeline by its tables' names; p4-utils tells hidden tables by it.
    fn control_of(&self, func: FuncId) -> Option<&str> {
        let insts = self.program.funcs[func.index()].blocks.iter().flat_map(|block| &block.insts);
        let named = insts.filter_map(|inst| match inst {
            Inst::Apply { table, .. } => self.program.tables[table.index()].cp.name.split_once('.'),
            _ => None,
        });
        named.map(|(control, _)| control).next()
    }

    /// A control without tables is one action, loops and all.
    fn single(&mut self, flow: &mut Flow<'_>) -> Res<Value> {
        let primitives = self.whole(Place::Action(flow.name), &self.program.funcs[flow.func.index()])?;
        let last = flow.last.clone();
        Ok(self.code(flow, primitives, last))
    }

    /// Nodes of all blocks, the last ones first, since a node names those that follow it.
    fn nodes(&mut self, flow: &mut Flow<'_>) -> Res<Value> {
        let func = &self.program.funcs[flow.func.index()];
        let Some(order) = in_order(func) else {
            let cause = "a loop around a table, which BMv2 could apply only once";
            return refuse(flow.name, cause, "apply the table after the loop");
        };
        for block in order.into_iter().rev() {
            let node = self.block(flow, block)?;
            flow.entries[block.index()] = Some(node);
        }
        Ok(flow.entries[Func::ENTRY.index()].clone().unwrap_or_default())
    }

    /// The nodes of a block, whose successors have theirs; answers the first.
    fn block(&mut self, flow: &mut Flow<'_>, block: BlockId) -> Res<Value> {
        let block = &self.program.funcs[flow.func.index()].blocks[block.index()];
        let mut exits = block.terminator == Terminator::Exit;
        let (mut insts, mut next) = self.ending(flow, &block.insts, &block.terminator)?;
        // Backwards over the code and the tables between.
        while !insts.is_empty() || exits {
            let is_apply = |inst: &Inst| matches!(inst, Inst::Apply { .. });
            let from = insts.iter().rposition(is_apply).map_or(0, |at| at + 1);
            let (before, code) = insts.split_at(from);
            if !code.is_empty() || exits {
                let primitives = self.straight(Place::Action(flow.name), code, exits)?;
                next = self.code(flow, primitives, next);
                exits = false;
            }
            insts = before;
            if let Some((Inst::Apply { table, hit, action }, before)) = before.split_last() {
                next = self.applied(flow, *table, *hit, *action, next)?;
                insts = before;
            }
        }
        Ok(next)
    }

    /// The node at the end of a block, and the code before it: a table that decides by itself where to go is
    /// that node.
    fn ending<'i>(
        &mut self,
        flow: &mut Flow<'_>,
        insts: &'i [Inst],
        terminator: &Terminator,
    ) -> Res<(&'i [Inst], Value)> {
        let entry = |flow: &Flow<'_>, block: BlockId| flow.entries[block.index()].clone().unwrap_or_default();
        let last = insts.split_last();
        let next = match terminator {
            Terminator::Jump(next) => entry(flow, *next),
            Terminator::Return => flow.last.clone(),
            Terminator::Exit => Value::Null,
            Terminator::Branch { cond: Operand::Const(cond), then, otherwise } => {
                entry(flow, if cond.is_zero() { *otherwise } else { *then })
            }
            Terminator::Branch { cond: Operand::Var(cond), then, otherwise } => {
                let (then, otherwise) = (entry(flow, *then), entry(flow, *otherwise));
                if let Some((Inst::Apply { table, hit: Some(hit), action: None }, before)) = last
                    && hit == cond
                {
                    let yes = self.noted(flow, *hit, 1, then);
                    let no = self.noted(flow, *hit, 0, otherwise);
                    let nexts = json!({ HIT: yes, MISS: no });
                    return Ok((before, self.table_node(flow, *table, Value::Null, nexts)?));
                }
                let holds = self.condition(&Operand::Var(*cond));
                self.condition_node(flow, &holds, &then, &otherwise)
            }
            Terminator::Switch { value, cases, default } => {
                let mut next = entry(flow, *default);
                if let Some((Inst::Apply { table, hit: None, action: Some(action) }, before)) = last
                    && *value == Operand::Var(*action)
                {
                    let mut nexts = Map::new();
                    for at in 0..self.program.tables[table.index()].actions.len() as u64 {
                        let found = cases.iter().find(|(case, _)| case.low_u64() == at);
                        let next = entry(flow, found.map_or(*default, |(_, block)| *block));
                        nexts.insert(self.action_name(*table, at), self.noted(flow, *action, at, next));
                    }
                    return Ok((before, self.table_node(flow, *table, next, Value::Object(nexts))?));
                }
                for (case, block) in cases.iter().rev() {
                    let is_it = binary("==", self.operand(value), constant(case));
                    next = self.condition_node(flow, &is_it, &entry(flow, *block), &next);
                }
                next
            }
            other => return refuse(flow.name, format!("{other:?}"), "keep it to the parser"),
        };
        Ok((insts, next))
    }

    /// A table with variables for what it did, before `next`.
    fn applied(
        &mut self,
        flow: &mut Flow<'_>,
        table: TableId,
        hit: Option<VarId>,
        action: Option<VarId>,
        next: Value,
    ) -> Res<Value> {
        match (hit, action) {
            (None, None) => {
                let nexts = Value::Object(self.nexts(table, &next));
                self.table_node(flow, table, next, nexts)
            }
            (Some(hit), None) => {
                let [yes, no] = [1, 0].map(|value| self.noted(flow, hit, value, next.clone()));
                let nexts = json!({ HIT: yes, MISS: no });
                self.table_node(flow, table, Value::Null, nexts)
            }
            (None, Some(action)) => {
                let mut nexts = Map::new();
                for at in 0..self.program.tables[table.index()].actions.len() as u64 {
                    let name = self.action_name(table, at);
                    nexts.insert(name, self.noted(flow, action, at, next.clone()));
                }
                self.table_node(flow, table, next, Value::Object(nexts))
            }
            (Some(_), Some(_)) => {
                let name = &self.program.tables[table.index()].cp.name;
                refuse(name, "both the hit and the action are asked for", "ask for one of them")
            }
        }
    }

    /// What a table did goes to a variable, before `next`.
    fn noted(&mut self, flow: &mut Flow<'_>, var: VarId, value: u64, next: Value) -> Value {
        let set = self.set(Place::Action(flow.name), var, number(value));
        self.code(flow, vec![set], next)
    }

    /// The same node after each of a table's actions.
    fn nexts(&self, table: TableId, next: &Value) -> Map<String, Value> {
        let actions = 0..self.program.tables[table.index()].actions.len() as u64;
        actions.map(|at| (self.action_name(table, at), next.clone())).collect()
    }

    fn action_name(&self, table: TableId, at: u64) -> String {
        let listed = self.program.tables[table.index()].actions.get(at as usize);
        listed.map_or_else(String::new, |listed| self.program.actions[listed.action.index()].cp.name.clone())
    }

    fn table_node(&mut self, flow: &mut Flow<'_>, table: TableId, base: Value, nexts: Value) -> Res<Value> {
        let name = self.program.tables[table.index()].cp.name.clone();
        if let Some(at) = flow.tables.iter().position(|node| node["name"] == name.as_str()) {
            let node = &flow.tables[at];
            if node["base_default_next"] == base && node["next_tables"] == nexts {
                return Ok(json!(name));
            }
            return self.another_place(flow, at, base, nexts);
        }
        let mut node = self.table(table)?;
        node["id"] = json!(self.made.tables);
        node["base_default_next"] = base;
        node["next_tables"] = nexts;
        self.made.tables += 1;
        flow.tables.push(node);
        Ok(json!(name))
    }

    /// A table applied at one more place: a node of BMv2's has one set of successors, so each place but the
    /// one written first leaves its number in a variable, and the nodes after the table look at it.
    fn another_place(&mut self, flow: &mut Flow<'_>, at: usize, base: Value, nexts: Value) -> Res<Value> {
        let name = flow.tables[at]["name"].as_str().unwrap_or_default().to_owned();
        let known = (flow.tables[at]["base_default_next"].clone(), flow.tables[at]["next_tables"].clone());
        let Some((known, new)) = asked_alike(known, (base, nexts)) else {
            let cause = "one place asks for the hit and another for the action, which BMv2 cannot both tell";
            return refuse(&name, cause, "ask for one of them");
        };
        let place = Place::Action(flow.name);
        let field = match flow.places.get(&name) {
            Some((field, _)) => field.clone(),
            None => typed("field", self.names.scalar(&format!("{name}.place"), VarType::Bit(PLACE_BITS))),
        };
        let number_of_place = flow.places.get(&name).map_or(0, |(_, places)| *places) + 1;
        flow.places.insert(name.clone(), (field.clone(), number_of_place));
        // After most actions the same follows: nodes are shared.
        let mut made: Vec<(Value, Value, Value)> = Vec::new();
        let mut merged = |writer: &mut Self, flow: &mut Flow<'_>, old: Value, new: Value| {
            if let Some((.., node)) = made.iter().find(|(first, second, _)| *first == old && *second == new) {
                return node.clone();
            }
            let forget = writer.code(flow, vec![place.assign(field.clone(), number(0))], new.clone());
            let is_here = binary("==", field.clone(), number(number_of_place));
            let node = writer.condition_node(flow, &is_here, &forget, &old);
            made.push((old, new, node.clone()));
            node
        };
        let base = merged(self, flow, known.0, new.0);
        let mut nexts = Map::new();
        for (key, next) in new.1 {
            let old = known.1.get(&key).cloned().unwrap_or_default();
            nexts.insert(key, merged(self, flow, old, next));
        }
        flow.tables[at]["base_default_next"] = base;
        flow.tables[at]["next_tables"] = Value::Object(nexts);
        let remember = vec![place.assign(field, number(number_of_place))];
        Ok(self.code(flow, remember, json!(name)))
    }

    /// A hidden table that runs code, named as p4c names them.
    fn code(&mut self, flow: &mut Flow<'_>, primitives: Vec<Value>, next: Value) -> Value {
        if primitives.is_empty() {
            return next;
        }
        let number = self.made.actions.len();
        let (table, action) = (format!("tbl_{}_{number}", flow.name), format!("{}_{number}", flow.name));
        self.made.actions.push(json!({
            "name": action, "id": number, "runtime_data": [], "primitives": primitives,
        }));
        flow.tables.push(json!({
            "name": table,
            "id": self.made.tables,
            "key": [],
            "match_type": "exact",
            "type": "simple",
            "max_size": 1024,
            "with_counters": false,
            "support_timeout": false,
            "direct_meters": null,
            "action_ids": [number],
            "actions": [action],
            "base_default_next": next,
            "next_tables": { (action): next },
            "default_entry": {
                "action_id": number, "action_const": true, "action_data": [], "action_entry_const": true,
            },
        }));
        self.made.tables += 1;
        json!(table)
    }

    fn condition_node(
        &mut self,
        flow: &mut Flow<'_>,
        condition: &Value,
        then: &Value,
        otherwise: &Value,
    ) -> Value {
        if then == otherwise {
            return then.clone();
        }
        let number = self.made.conditions;
        self.made.conditions += 1;
        let name = format!("node_{number}");
        flow.conditionals.push(json!({
            "name": name,
            "id": number,
            "expression": condition,
            "true_next": then,
            "false_next": otherwise,
        }));
        json!(name)
    }
}
