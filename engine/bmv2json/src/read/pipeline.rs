//! Control flow of a pipeline: tables, conditions and calls of actions, linked by names.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Reader;
use super::json::{NOT_P4C, Res, fault, get, items, name_of, opt, text};
use super::names::{KeyPlan, TableInfo};
use p4cc_ir::{BinOp, Bits, BlockId, Func, Inst, Operand, Terminator, VarId};

/// A node of the control flow.
#[derive(Clone, Copy, Debug)]
struct Node<'j> {
    at: &'j Value,
    kind: Kind,
    block: BlockId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Table,
    Condition,
    Call,
}

type Nodes<'j> = BTreeMap<&'j str, Node<'j>>;

/// Bits of the position of an action in its table.
const POSITION_WIDTH: u32 = 32;

impl<'j> Reader<'j> {
    /// The pipelines of the document: ingress and egress, in this order.
    pub(super) fn pipelines(&mut self) -> [Option<&'j Value>; 2] {
        let root = self.root;
        let all = items(root, "pipelines").unwrap_or_default();
        ["ingress", "egress"].map(|name| {
            let found = all.iter().find(|item| item.get("name").and_then(Value::as_str) == Some(name));
            if found.is_none() {
                let remedy = "read programs of p4c's back ends for v1model and PSA";
                self.faults.complain(root, format!("there is no pipeline `{name}`"), remedy);
            }
            found
        })
    }

    /// A pipeline; `error` takes the parser's error as the format numbers it.
    pub(super) fn pipeline(&mut self, item: Option<&'j Value>, name: &str, error: Option<VarId>) -> Func {
        self.b.begin();
        if let Some(error) = error {
            self.errors_to_format(error);
        }
        if let Some(Err(fault)) = item.map(|item| self.nodes(item)) {
            self.faults.report(fault);
        }
        self.b.finish(name, &Terminator::Return)
    }

    fn nodes(&mut self, item: &'j Value) -> Res<'j, ()> {
        let mut nodes = Nodes::new();
        let kinds =
            [("tables", Kind::Table), ("conditionals", Kind::Condition), ("action_calls", Kind::Call)];
        for (list, kind) in kinds {
            for at in items(item, list)? {
                let name = name_of(at)?;
                let block = self.b.block(name);
                if nodes.insert(name, Node { at, kind, block }).is_some() {
                    return fault(at, format!("two nodes are named `{name:.60}`"), NOT_P4C);
                }
            }
        }
        let start = match opt(item, "init_table") {
            Some(init) => self.next_block(init, &nodes)?,
            None => self.done(),
        };
        self.b.end(Terminator::Jump(start));
        for node in nodes.values() {
            self.b.go_to(node.block);
            self.b.next_statement();
            let result = match node.kind {
                Kind::Table => self.apply(node.at, &nodes),
                Kind::Condition => self.branch(node.at, &nodes),
                Kind::Call => self.direct_call(node.at, &nodes),
            };
            if let Err(fault) = result {
                self.faults.report(fault);
            }
        }
        Ok(())
    }

    /// A block that ends the pipeline.
    fn done(&mut self) -> BlockId {
        let block = self.b.block("");
        let here = self.b.current();
        self.b.go_to(block);
        self.b.end(Terminator::Return);
        self.b.go_to(here);
        block
    }

    /// The block of a node by name; null ends the pipeline.
    fn next_block(&mut self, next: &'j Value, nodes: &Nodes<'j>) -> Res<'j, BlockId> {
        if next.is_null() {
            return Ok(self.done());
        }
        let name = text(next)?;
        match nodes.get(name) {
            Some(node) => Ok(node.block),
            None => fault(next, format!("there is no table or condition `{name:.60}`"), NOT_P4C),
        }
    }

    fn member_block(&mut self, at: &'j Value, key: &str, nodes: &Nodes<'j>) -> Res<'j, BlockId> {
        match opt(at, key) {
            Some(next) => self.next_block(next, nodes),
            None => Ok(self.done()),
        }
    }

    fn branch(&mut self, at: &'j Value, nodes: &Nodes<'j>) -> Res<'j, ()> {
        let cond = self.condition(get(at, "expression")?)?;
        let then = self.member_block(at, "true_next", nodes)?;
        let otherwise = self.member_block(at, "false_next", nodes)?;
        self.b.end(Terminator::Branch { cond, then, otherwise });
        Ok(())
    }

    fn direct_call(&mut self, at: &'j Value, nodes: &Nodes<'j>) -> Res<'j, ()> {
        let action = self.action_by_id(get(at, "action_id")?)?;
        if !self.program.actions[action.index()].params.is_empty() {
            return fault(at, "an action with parameters is called without arguments", NOT_P4C);
        }
        self.b.emit(Inst::CallAction { action, args: Vec::new() });
        let next = self.member_block(at, "next_node", nodes)?;
        self.b.end(Terminator::Jump(next));
        Ok(())
    }

    fn apply(&mut self, at: &'j Value, nodes: &Nodes<'j>) -> Res<'j, ()> {
        let Some(info) = self.tables.get(name_of(at)?).cloned() else { return Ok(()) };
        for key in &info.keys {
            match key {
                KeyPlan::Computed { dst, from } => {
                    let data = self.exact(from)?;
                    let src = data.operand;
                    self.b.emit(Inst::Assign { dst: *dst, src });
                }
                KeyPlan::Masked { dst, src, mask } => {
                    let (a, b) = (Operand::Var(*src), Operand::Const(mask.clone()));
                    self.b.emit(Inst::Binary { dst: *dst, op: BinOp::And, a, b });
                }
                KeyPlan::Valid { dst, header: Some(header) } => {
                    self.b.emit(Inst::IsValid { dst: *dst, header: *header });
                }
                KeyPlan::Valid { dst, header: None } => {
                    self.b.emit(Inst::Assign { dst: *dst, src: super::build::bit(true) });
                }
            }
        }
        let next_tables = get(at, "next_tables")?;
        let by_hit = ["__HIT__", "__MISS__"].iter().any(|key| next_tables.get(key).is_some());
        if by_hit {
            return self.apply_by_hit(next_tables, &info, nodes);
        }
        self.apply_by_action(at, next_tables, &info, nodes)
    }

    fn apply_by_hit(
        &mut self,
        next_tables: &'j Value,
        info: &TableInfo<'j>,
        nodes: &Nodes<'j>,
    ) -> Res<'j, ()> {
        let hit = info.hit.unwrap_or_else(|| self.outcome(1));
        self.b.emit(Inst::Apply { table: info.id, hit: Some(hit), action: None });
        let then = self.member_block(next_tables, "__HIT__", nodes)?;
        let otherwise = self.member_block(next_tables, "__MISS__", nodes)?;
        self.b.end(Terminator::Branch { cond: Operand::Var(hit), then, otherwise });
        Ok(())
    }

    fn apply_by_action(
        &mut self,
        at: &'j Value,
        next_tables: &'j Value,
        info: &TableInfo<'j>,
        nodes: &Nodes<'j>,
    ) -> Res<'j, ()> {
        let nothing = &Value::Null;
        let base = opt(at, "base_default_next").unwrap_or(nothing);
        let nexts: Vec<&'j Value> = info
            .positions
            .iter()
            .map(|name| name.and_then(|name| next_tables.get(name)).unwrap_or(base))
            .collect();
        let first = nexts.first().copied().unwrap_or(base);
        if nexts.iter().all(|&next| next == first) && (first == base || !self.may_run_nothing(info)) {
            self.b.emit(Inst::Apply { table: info.id, hit: info.hit, action: None });
            let next = self.next_block(first, nodes)?;
            self.b.end(Terminator::Jump(next));
            return Ok(());
        }
        let action = self.outcome(POSITION_WIDTH);
        self.b.emit(Inst::Apply { table: info.id, hit: info.hit, action: Some(action) });
        let mut cases = Vec::with_capacity(nexts.len());
        for (number, next) in nexts.into_iter().enumerate() {
            cases.push((Bits::from_u128(POSITION_WIDTH, number as u128), self.next_block(next, nodes)?));
        }
        let default = self.next_block(base, nodes)?;
        self.b.end(Terminator::Switch { value: Operand::Var(action), cases, default });
        Ok(())
    }

    /// A variable for what a table did. Not a temporary: the action that runs uses those.
    fn outcome(&mut self, width: u32) -> VarId {
        if let Some(&var) = self.outcomes.get(&width) {
            return var;
        }
        let var = self.b.local(format!("$outcome{width}"), width);
        self.outcomes.insert(width, var);
        var
    }

    /// Whether applying the table may run no action at all: a group of its profile may be empty.
    fn may_run_nothing(&self, info: &TableInfo<'j>) -> bool {
        self.program.tables.get(info.id.index()).is_some_and(|table| table.profile.is_some())
    }
}
