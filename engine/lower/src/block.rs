//! Applying controls and sub-parsers: their bodies are inlined where they are applied.

use super::Lowerer;
use super::env::Owner;
use super::inline::Passing;
use super::object::EnvId;
use p4cc_ir::Terminator;
use p4cc_types::hir::Call;
use p4cc_types::ids::{ControlId, ParserId};

impl Lowerer<'_> {
    /// `instance.apply(args)`
    pub(super) fn apply_block(&mut self, env: EnvId, call: &Call) -> Option<()> {
        self.count_inlined(call.span)?;
        let (owner, single) = self.envs.get(env.0).map(|env| (env.owner, env.single_site))?;
        self.clear_sums(env);
        let passing = if single { Passing::InstanceOnce } else { Passing::InstanceMany };
        match owner {
            Owner::Control(id) => self.apply_control(id, env, passing, call),
            Owner::Parser(id) => self.apply_parser(id, env, passing, call),
            Owner::None => self.shape_error(call.span),
        }
    }

    fn apply_control(&mut self, id: ControlId, env: EnvId, passing: Passing, call: &Call) -> Option<()> {
        let control = self.hir.controls.get(id.index())?;
        let copies = self.bind_args(&control.params, (&call.args, &call.order), env, passing)?;
        let end = self.func.block("");
        let outer_env = std::mem::replace(&mut self.env, env);
        let outer_end = self.flow.end.replace(end);
        let outer_loops = std::mem::take(&mut self.flow.loops);
        let prefix = self.envs.get(env.0).map_or_else(String::new, |env| env.prefix.clone());
        let outer_name = std::mem::replace(&mut self.name, prefix);
        self.flow.pending.push(copies);
        let made = self.stmts(&control.body);
        let copies = self.flow.pending.pop().unwrap_or_default();
        self.name = outer_name;
        self.flow.loops = outer_loops;
        self.flow.end = outer_end;
        self.env = outer_env;
        made?;
        self.func.end(Terminator::Jump(end));
        self.func.open(end);
        self.copy_out(copies, call.span)
    }

    fn apply_parser(&mut self, id: ParserId, env: EnvId, passing: Passing, call: &Call) -> Option<()> {
        let parser = self.hir.parsers.get(id.index())?;
        let copies = self.bind_args(&parser.params, (&call.args, &call.order), env, passing)?;
        let end = self.func.block("");
        let outer_env = std::mem::replace(&mut self.env, env);
        let prefix = self.envs.get(env.0).map_or_else(String::new, |env| env.prefix.clone());
        let outer_name = std::mem::replace(&mut self.name, prefix);
        let made = self.parser_body(id, &Terminator::Jump(end));
        self.name = outer_name;
        self.env = outer_env;
        made?;
        self.func.open(end);
        self.copy_out(copies, call.span)
    }
}
