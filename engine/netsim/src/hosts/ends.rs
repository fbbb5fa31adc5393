//! What a flow does, whatever its kind: one verb for one thing.

use crate::context::Context;
use crate::hosts::flow::{Ends, Verb};
use crate::hosts::rdma::Rdma;
use crate::hosts::state::Hosts;
use crate::hosts::window::Window;

/// The ends of a flow, for their handlers.
pub(super) enum FlowEnds<'a, 'c> {
    Window(Window<'a, 'c>),
    Rdma(Rdma<'a, 'c>),
}

impl Hosts {
    /// The ends of a flow.
    #[inline]
    pub(super) fn ends<'a, 'c>(&'a mut self, cx: &'a mut Context<'c>, flow: u32) -> FlowEnds<'a, 'c> {
        match self.flows[flow as usize].ends {
            Ends::Window { .. } => FlowEnds::Window(Window { hosts: self, cx, flow }),
            Ends::Rdma(_) => FlowEnds::Rdma(Rdma { hosts: self, cx, flow }),
        }
    }

    /// Lets the ends of a flow act.
    pub(super) fn act(&mut self, cx: &mut Context<'_>, flow: u32, verb: Verb) {
        match self.ends(cx, flow) {
            FlowEnds::Window(ends) => ends.act(verb),
            FlowEnds::Rdma(ends) => ends.act(verb),
        }
    }

    /// The timer of a flow's sender is due, unless it was set anew meanwhile.
    pub fn on_sender_timer(&mut self, cx: &mut Context<'_>, flow: u32) {
        if self.flows[flow as usize].timer.take_if(|at| *at == cx.now()).is_some() {
            self.act(cx, flow, Verb::SenderTimer);
        }
    }

    /// The timer of a flow's receiver is due.
    pub fn on_receiver_timer(&mut self, cx: &mut Context<'_>, flow: u32) {
        self.act(cx, flow, Verb::ReceiverTimer);
    }

    /// The kernel of a host takes up what waits at an end of a flow.
    pub fn on_kernel_timer(&mut self, cx: &mut Context<'_>, flow: u32, at_receiver: bool) {
        Window { hosts: self, cx, flow }.on_kernel_timer(at_receiver);
    }
}
