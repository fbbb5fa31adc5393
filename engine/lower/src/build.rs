//! Making a function: blocks that are filled one after another, then tidied.
//!
//! Invariant: after [`FuncBuilder::finish`] every block is reachable, every
//! block has a terminator and no block but the entry is an empty jump.

use p4cc_ir::{Block, BlockId, Func, Inst, Terminator};

/// A block under construction.
#[derive(Debug, Default)]
struct Draft {
    label: String,
    insts: Vec<Inst>,
    terminator: Option<Terminator>,
}

/// A function under construction.
#[derive(Debug)]
pub struct FuncBuilder {
    name: String,
    blocks: Vec<Draft>,
    current: usize,
}

impl FuncBuilder {
    /// Starts a function; the entry block is open.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), blocks: vec![Draft::default()], current: 0 }
    }

    /// Adds a block that is not open yet.
    pub fn block(&mut self, label: impl Into<String>) -> BlockId {
        self.blocks.push(Draft { label: label.into(), ..Draft::default() });
        BlockId::from_index(self.blocks.len() - 1)
    }

    /// Opens a block: instructions go there from now on.
    pub fn open(&mut self, block: BlockId) {
        self.current = block.index();
    }

    /// Appends to the open block; behind a terminator nothing is kept.
    pub fn push(&mut self, inst: Inst) {
        if let Some(block) = self.blocks.get_mut(self.current)
            && block.terminator.is_none()
        {
            if block.insts.is_empty() {
                // Code for each element of a stack makes very many blocks of one instruction.
                block.insts.reserve_exact(1);
            }
            block.insts.push(inst);
        }
    }

    /// The last instruction of the open block.
    pub fn last_mut(&mut self) -> Option<&mut Inst> {
        self.blocks.get_mut(self.current).filter(|block| block.terminator.is_none())?.insts.last_mut()
    }

    /// Ends the open block; the first end counts.
    pub fn end(&mut self, terminator: Terminator) {
        if let Some(block) = self.blocks.get_mut(self.current)
            && block.terminator.is_none()
        {
            block.terminator = Some(terminator);
        }
    }

    /// Whether the open block has ended, so that what follows is dead.
    pub fn ended(&self) -> bool {
        self.blocks.get(self.current).is_none_or(|block| block.terminator.is_some())
    }

    /// Finishes: open ends get `fallback`, empty jumps are threaded, chains joined, dead blocks removed.
    pub fn finish(self, fallback: &Terminator) -> Func {
        let mut blocks: Vec<Block> = self
            .blocks
            .into_iter()
            .map(|draft| Block {
                label: draft.label,
                insts: draft.insts,
                terminator: draft.terminator.unwrap_or_else(|| fallback.clone()),
            })
            .collect();
        thread_jumps(&mut blocks);
        join_chains(&mut blocks);
        Func { name: self.name, blocks: renumber(blocks) }
    }
}

/// Calls `visit` on every target of a terminator.
fn targets_mut(terminator: &mut Terminator, mut visit: impl FnMut(&mut BlockId)) {
    match terminator {
        Terminator::Jump(to) => visit(to),
        Terminator::Branch { then, otherwise, .. } => {
            visit(then);
            visit(otherwise);
        }
        Terminator::Switch { cases, default, .. } => {
            cases.iter_mut().for_each(|(_, to)| visit(to));
            visit(default);
        }
        Terminator::Select { cases, default, .. } => {
            cases.iter_mut().for_each(|(_, to)| visit(to));
            if let Some(to) = default {
                visit(to);
            }
        }
        Terminator::Return | Terminator::Exit | Terminator::Accept | Terminator::Reject => {}
    }
}

/// Leads every edge past blocks that only jump on. Labelled blocks stay: a trace shows parser states.
fn thread_jumps(blocks: &mut [Block]) {
    let onward: Vec<Option<BlockId>> = blocks
        .iter()
        .map(|block| match block.terminator {
            Terminator::Jump(to) if block.insts.is_empty() && block.label.is_empty() => Some(to),
            _ => None,
        })
        .collect();
    let resolve = |from: BlockId| {
        let mut at = from;
        // A loop of empty blocks stays as it is: the bound ends the walk.
        for _ in 0..onward.len() {
            match onward.get(at.index()).copied().flatten() {
                Some(next) => at = next,
                None => return at,
            }
        }
        from
    };
    for block in blocks.iter_mut() {
        targets_mut(&mut block.terminator, |to| *to = resolve(*to));
        let ends = match &block.terminator {
            Terminator::Branch { then, otherwise, .. } if then == otherwise => Some(*then),
            _ => None,
        };
        if let Some(to) = ends {
            block.terminator = Terminator::Jump(to);
        }
    }
}

/// Appends a block to its only predecessor.
fn join_chains(blocks: &mut [Block]) {
    let reachable = reachable(blocks);
    let mut predecessors = vec![0usize; blocks.len()];
    if let Some(entry) = predecessors.first_mut() {
        *entry = 1;
    }
    for (block, _) in blocks.iter_mut().zip(&reachable).filter(|(_, reached)| **reached) {
        targets_mut(&mut block.terminator, |to| {
            if let Some(count) = predecessors.get_mut(to.index()) {
                *count += 1;
            }
        });
    }
    for at in 0..blocks.len() {
        if !reachable.get(at).copied().unwrap_or(false) {
            continue;
        }
        while let Some(Terminator::Jump(to)) = blocks.get(at).map(|block| &block.terminator) {
            let to = to.index();
            let single = predecessors.get(to) == Some(&1);
            let unlabelled = blocks.get(to).is_some_and(|block| block.label.is_empty());
            if to == at || !single || !unlabelled {
                break;
            }
            let Some(next) = blocks.get_mut(to) else { break };
            let insts = std::mem::take(&mut next.insts);
            let terminator =
                std::mem::replace(&mut next.terminator, Terminator::Jump(BlockId::from_index(to)));
            if let Some(block) = blocks.get_mut(at) {
                block.insts.extend(insts);
                block.terminator = terminator;
            }
        }
    }
}

fn reachable(blocks: &mut [Block]) -> Vec<bool> {
    let mut reached = vec![false; blocks.len()];
    let mut open = vec![0usize];
    while let Some(at) = open.pop() {
        match reached.get_mut(at) {
            Some(seen) if !*seen => *seen = true,
            _ => continue,
        }
        if let Some(block) = blocks.get_mut(at) {
            targets_mut(&mut block.terminator, |to| open.push(to.index()));
        }
    }
    reached
}

/// Drops what cannot be reached and numbers the rest in order.
fn renumber(mut blocks: Vec<Block>) -> Vec<Block> {
    let reached = reachable(&mut blocks);
    let mut next = 0;
    let numbers: Vec<Option<BlockId>> = reached
        .iter()
        .map(|reached| {
            reached.then(|| {
                next += 1;
                BlockId::from_index(next - 1)
            })
        })
        .collect();
    for block in &mut blocks {
        targets_mut(&mut block.terminator, |to| {
            if let Some(Some(number)) = numbers.get(to.index()) {
                *to = *number;
            }
        });
    }
    blocks.into_iter().zip(reached).filter(|(_, reached)| *reached).map(|(block, _)| block).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use p4cc_ir::{Operand, VarId};

    #[test]
    fn empty_jumps_and_dead_blocks_go() {
        let mut func = FuncBuilder::new("f");
        let (a, b, c) = (func.block(""), func.block(""), func.block(""));
        func.end(Terminator::Jump(a));
        func.open(a);
        func.end(Terminator::Jump(b));
        func.open(b);
        func.push(Inst::Assign { dst: VarId(0), src: Operand::Var(VarId(1)) });
        func.end(Terminator::Return);
        func.open(c);
        func.end(Terminator::Jump(c));
        let func = func.finish(&Terminator::Return);
        assert_eq!(func.blocks.len(), 1);
        assert_eq!(func.blocks[0].insts.len(), 1);
        assert_eq!(func.blocks[0].terminator, Terminator::Return);
    }

    #[test]
    fn a_loop_of_empty_blocks_ends() {
        let mut func = FuncBuilder::new("f");
        let (a, b) = (func.block(""), func.block(""));
        func.end(Terminator::Jump(a));
        func.open(a);
        func.end(Terminator::Jump(b));
        func.open(b);
        func.end(Terminator::Jump(a));
        assert!(!func.finish(&Terminator::Return).blocks.is_empty());
    }
}
