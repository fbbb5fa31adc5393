//! The verifier finds what is broken, and neither it nor the interpreter panics on what it finds.

use std::sync::Arc;

use p4cc_exec::testing::{EcnProgram, ProgramBuilder, Rig, SplitMix, block, constant, ecn_program, var};
use p4cc_exec::{PacketView, Pipeline, RandomSource};
use p4cc_ir::verify::verify;
use p4cc_ir::{
    ActionId, BinOp, BlockId, FuncId, HeaderId, Inst, MatchKind, Operand, Program, TableId, Terminator,
    VarId, VarType,
};

fn messages(program: &Program) -> String {
    verify(program).iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// Builds, bends, and expects one of the messages to hold the text.
fn refused(bend: impl FnOnce(&mut ProgramBuilder), text: &str) {
    let mut b = ProgramBuilder::new();
    bend(&mut b);
    let program = b.finish();
    let found = messages(&program);
    assert!(found.contains(text), "`{text}` is not in:\n{found}");
    assert!(Pipeline::compile(program).is_err());
}

#[test]
fn a_sound_program_has_no_violations() {
    assert_eq!(messages(ecn_program().pipeline.program()), "");
}

#[test]
fn each_rule_has_its_message() {
    refused(|b| b.set_blocks(FuncId(2), Vec::new()), "has no blocks");
    refused(
        |b| b.set_blocks(FuncId(2), vec![block(Vec::new(), Terminator::Jump(BlockId(4)))]),
        "block4 is out",
    );
    refused(|b| b.set_blocks(FuncId(2), vec![block(Vec::new(), Terminator::Accept)]), "runs as Control");
    refused(|b| b.set_blocks(FuncId(0), vec![block(Vec::new(), Terminator::Return)]), "runs as Parser");
    refused(|b| b.ingress(vec![Inst::Advance { bits: constant(8, 1) }]), "runs as Control");
    refused(|b| b.ingress(vec![Inst::SetValid { header: HeaderId(3) }]), "h3 is out of range");
    for width in [0, 2049] {
        let named = |b: &mut ProgramBuilder| {
            b.bits("odd", width);
        };
        refused(named, &format!("width {width}"));
    }
    let add = |b: &mut ProgramBuilder, left, right| {
        let (dst, a) = (b.bits("d", left), b.bits("a", left));
        b.ingress(vec![Inst::Binary { dst, op: BinOp::Add, a: var(a), b: constant(right, 0) }]);
    };
    refused(|b| add(b, 8, 9), "operands: 8 bits against 9");
    refused(
        |b| {
            let (dst, src) = (b.bits("d", 8), b.bits("s", 10));
            b.ingress(vec![Inst::Slice { dst, src: var(src), lo: 3 }]);
        },
        "do not fit 10 bits",
    );
    refused(
        |b| {
            let varbit = b.var("v", VarType::Varbit(80));
            b.ingress(vec![Inst::Resize { dst: varbit, src: constant(8, 1), signed: false }]);
        },
        "varbit, which cannot stand here",
    );
    refused(
        |b| {
            let key = b.bits("k", 8);
            let action =
                b.action("a", &[], |_| vec![Inst::Apply { table: TableId(0), hit: None, action: None }]);
            b.table("t", &[(key, MatchKind::Exact)], &[action]);
        },
        "reaches itself",
    );
    refused(
        |b| {
            let key = b.bits("k", 8);
            let action = b.action("a", &[8], |_| Vec::new());
            let table = b.table("t", &[(key, MatchKind::Selector)], &[action]);
            b.program.tables[table.index()].default_action.args.clear();
        },
        "takes 1 arguments, not 0",
    );
    refused(|b| b.program.errors.truncate(3), "core.p4's");
    refused(
        |b| {
            let ty = b.header_type("t", &[("a", VarType::Bit(8))]);
            let header = b.header("h", ty);
            b.program.headers[header.index()].fields[0] = b.meta().priority;
        },
        "1 variables claim to be fields, but headers have 0",
    );
    refused(
        |b| {
            let key = b.bits("k", 8);
            let action = b.action("a", &[], |_| Vec::new());
            let counter = b.counter("c", Some(4));
            let table = b.table("t", &[(key, MatchKind::Exact)], &[action]);
            b.program.tables[table.index()].counter = Some(counter);
        },
        "has a size",
    );
}

fn var_of(random: &mut SplitMix, program: &Program) -> VarId {
    VarId(random.next_u64() as u32 % (program.vars.len() as u32 + 2))
}

/// Changes one thing at random.
fn mutate(program: &mut Program, random: &mut SplitMix) {
    let pick = |random: &mut SplitMix, len: usize| random.next_u64() as usize % len.max(1);
    let func = pick(random, program.funcs.len());
    let at_block = pick(random, program.funcs[func].blocks.len());
    let some_var = var_of(random, program);
    let other_func = FuncId(pick(random, program.funcs.len() + 1) as u32);
    let action = ActionId(pick(random, program.actions.len() + 1) as u32);
    let table = pick(random, program.tables.len());
    let (vars, headers) = (program.vars.len(), program.headers.len());
    match random.next_u64() % 12 {
        0 => {
            let at = pick(random, vars);
            program.vars[at].ty = VarType::Bit(random.next_u64() as u32 % 130);
        }
        1 => program.vars[pick(random, vars)].ty = VarType::Varbit(64),
        2 => program.headers[pick(random, headers)].fields[0] = some_var,
        3 => {
            program.funcs[func].blocks.pop();
        }
        4 => program.actions[0].body = other_func,
        5 => program.tables[table].default_action.action = action,
        6 => program.tables[table].keys[0].var = some_var,
        7 => program.tables[table].keys[0].kind = MatchKind::Range,
        8 => program.headers.truncate(pick(random, headers)),
        9 => {
            let block = &mut program.funcs[func].blocks[at_block];
            block.insts.push(Inst::Assign { dst: some_var, src: Operand::Var(VarId(3)) });
        }
        10 => {
            let to = BlockId(random.next_u64() as u32 % 9);
            program.funcs[func].blocks[at_block].terminator = Terminator::Jump(to);
        }
        _ => {
            let block = &mut program.funcs[func].blocks[at_block];
            let at = pick(random, block.insts.len());
            if let Some(inst) = block.insts.get_mut(at) {
                *inst = Inst::CallAction { action, args: vec![Operand::Var(some_var)] };
            }
        }
    }
}

#[test]
fn mutated_programs_are_refused_or_run_without_panic() {
    let sound = Arc::clone(ecn_program().pipeline.program());
    let mut random = SplitMix(42);
    let (mut refused, mut ran) = (0, 0);
    for _ in 0..3_000 {
        let mut program = (*sound).clone();
        for _ in 0..1 + random.next_u64() % 3 {
            if program.funcs.iter().all(|func| !func.blocks.is_empty()) && !program.headers.is_empty() {
                mutate(&mut program, &mut random);
            }
        }
        let Ok(pipeline) = Pipeline::compile(Arc::new(program)) else {
            refused += 1;
            continue;
        };
        ran += 1;
        let entry = *pipeline.v1model().expect("a v1model program");
        let mut rig = Rig::new(pipeline);
        for length in [0, 20, 54, 70] {
            let packet = EcnProgram::packet(1);
            rig.parse(PacketView { bytes: &packet[..length.min(packet.len())], zeros: 3 });
            for func in [entry.verify_checksum, entry.ingress, entry.egress, entry.compute_checksum] {
                rig.run(func);
            }
            rig.deparse();
        }
    }
    assert!(refused > 300 && ran > 300, "{refused} refused, {ran} ran");
}

#[test]
fn random_packets_do_no_harm() {
    let program = ecn_program();
    let mut rig = Rig::new(program.pipeline.clone());
    rig.state = program.filled(16);
    let entry = *program.pipeline.v1model().expect("a v1model program");
    let mut random = SplitMix(7);
    for _ in 0..20_000 {
        let mut packet = EcnProgram::packet(random.next_u64() as u8);
        for _ in 0..random.next_u64() % 4 {
            let at = random.next_u64() as usize % packet.len();
            packet[at] = random.next_u64() as u8;
        }
        packet.truncate(random.next_u64() as usize % (packet.len() + 1));
        rig.parse(PacketView { bytes: &packet, zeros: random.next_u64() as u32 % 3 });
        for func in [entry.verify_checksum, entry.ingress, entry.egress, entry.compute_checksum] {
            rig.run(func);
        }
        assert!(rig.deparse().len() <= 38);
    }
}
