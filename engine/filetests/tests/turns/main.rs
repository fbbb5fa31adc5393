//! Random programs of nested calls with effects give what a direct
//! reading of the text's rules of evaluation gives, by both back ends.

mod eval;
mod make;
mod print;
mod tree;

use eval::Machine;
use p4cc_filetests::{compile_source, stf};
use p4cc_switch::ExecChoice;
use p4cc_syntax::{FileSystem, Options, Source};
use proptest::prelude::*;
use std::fmt::Write as _;
use std::sync::Arc;
use tree::{Program, SHARED};

/// Packets through the program with what has to leave: the fields, then all other variables.
fn test_of(program: &Program, packets: &[(u8, u8)]) -> String {
    let mut test = String::new();
    let mut cells = [0; 4];
    for (f0, f1) in packets {
        let mut machine = Machine::new(program);
        machine.cells = cells;
        machine.values[0] = vec![*f0];
        machine.values[1] = vec![*f1];
        machine.run();
        cells = machine.cells;
        let wanted = machine.values.iter().take(SHARED.len()).flatten();
        let wanted: String = wanted.map(|byte| format!("{byte:02x}")).collect();
        let _ = writeln!(test, "packet 0 {f0:02x}{f1:02x}\nexpect 1 {wanted}$");
    }
    test
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn calls_do_what_the_text_says(seed in any::<u64>(), packets in any::<[(u8, u8); 4]>()) {
        let program = make::program(seed);
        let text = program.source();
        let (source, diagnostics) = Source::from_text("random.p4", &text, &FileSystem, &Options::default());
        let compiled = compile_source(source, diagnostics);
        let Some(made) = compiled.program else {
            let shown = compiled.source.render(&compiled.diagnostics, false);
            return Err(TestCaseError::fail(format!("does not compile:\n{shown}\n{text}")));
        };
        let test = test_of(&program, &packets);
        let made = Arc::new(made);
        let by = |exec| stf::run(&made, &test, exec).problems;
        let problems = [by(ExecChoice::Interp), by(ExecChoice::Native)].concat();
        let shown: Vec<String> = problems.iter().map(ToString::to_string).collect();
        prop_assert!(problems.is_empty(), "{}\n{test}\n{text}", shown.join("\n"));
    }
}
