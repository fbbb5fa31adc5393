//! What a flow does, whatever its kind: one verb for one thing.

use crate::context::Context;
use crate::hosts::flow::{Ends, Verb};
use crate::hosts::rdma::Rdma;
use crate::hosts::state::Hosts;
use crate::hosts::window::Window;

impl Hosts {
    /// Lets the ends of a flow act.
    pub fn act(&mut self, cx: &mut Context<'_>, flow: u32, verb: Verb) {
        match self.flows[flow as usize].ends {
            Ends::Window { .. } => Window { hosts: self, cx, flow }.act(verb),
            Ends::Rdma(_) => Rdma { hosts: self, cx, flow }.act(verb),
        }
    }

    /// The timer of a flow's sender is due, unless it was set anew meanwhile.
    pub fn on_sender_timer(&mut self, cx: &mut Context<'_>, flow: u32) {
        if self.flows[flow as usize].timer.take_if(|at| *at == cx.now()).is_some() {
            self.act(cx, flow, Verb::SenderTimer);
        }
    }

    /// The kernel of a host takes up what waits at an end of a flow.
    pub fn on_kernel_timer(&mut self, cx: &mut Context<'_>, flow: u32, at_receiver: bool) {
        Window { hosts: self, cx, flow }.on_kernel_timer(at_receiver);
    }
}
