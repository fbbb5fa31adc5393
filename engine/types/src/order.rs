//! The order in which arguments and parts of values were written, which is that of their evaluation (P4-16
//! 6.8, 8.1), and the directions of parameters that go with it.

use super::hir::{Call, Expr, LocalId, LocalKind, Program, Sig, SigParam};
use super::ty::Ty;
use p4cc_syntax::ast::Direction;

/// In which order parts that stand by position were written, where names changed it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order(Vec<usize>);

impl Order {
    /// Of positions as they were written.
    pub fn new(written: Vec<usize>) -> Self {
        if written.is_sorted() { Self::default() } else { Self(written) }
    }

    /// Whether it is that of the positions.
    pub fn is_plain(&self) -> bool {
        self.0.is_empty()
    }

    /// All positions below `count`: those written in their order, then those left out.
    pub fn positions(&self, count: usize) -> Vec<usize> {
        let mut is_written = vec![false; count];
        for at in &self.0 {
            if let Some(seen) = is_written.get_mut(*at) {
                *seen = true;
            }
        }
        let left_out = is_written.iter().enumerate().filter(|(_, written)| !**written).map(|(at, _)| at);
        self.0.iter().copied().chain(left_out).collect()
    }
}

impl Call {
    /// The arguments given with their positions, in the order of their evaluation.
    pub fn in_evaluation_order(&self) -> impl Iterator<Item = (usize, &Expr)> {
        let positions = self.order.positions(self.args.len()).into_iter();
        positions.filter_map(|at| Some((at, self.args.get(at)?.as_ref()?)))
    }
}

impl Program {
    /// Parameters of the method of an extern object that takes so many arguments.
    pub fn method_params(&self, object: &Expr, name: &str, count: usize) -> &[SigParam] {
        let Ty::Extern(id, _) = &object.ty else { return &[] };
        let methods = self.externs.get(id.index()).map_or(&[][..], |ext| &ext.methods);
        let fits = |method: &&Sig| method.name == name && method.params.len() == count;
        methods.iter().find(fits).map_or(&[], |method| &method.params)
    }

    /// Direction of a parameter; none for other locals.
    pub fn direction(&self, param: LocalId) -> Direction {
        match self.locals.get(param.index()).map(|local| local.kind) {
            Some(LocalKind::Param(direction)) => direction,
            _ => Direction::None,
        }
    }
}
