//! RECONCILE_AND_COMMIT: what the next program has of the state of the one before.

use p4cc_p4runtime::proto::p4::v1 as p4;
use tonic::Code;

use crate::lab::{CPU_PORT, Lab, Stream};
use crate::pushed::{id, own_info};
use crate::pushes::{push, request};
use p4::entity::Entity as Of;
use p4::set_forwarding_pipeline_config_request::Action;

/// A program with a register, a counter and a meter of so many cells; `more` makes it another.
fn program(cells: u32, more: &str) -> String {
    let declared = format!(
        "register<bit<32>>({cells}) r; counter({cells}, CounterType.packets_and_bytes) c; \
         meter({cells}, MeterType.bytes) m; {more}"
    );
    include_str!("registers.p4").replace("// registers", &declared)
}

struct Device {
    lab: Lab,
    _stream: Stream,
}

impl Device {
    fn with(program: &str) -> Self {
        let lab = Lab::bare(CPU_PORT);
        let mut stream = lab.open();
        assert_eq!(lab.arbitrate(&mut stream, 1, None), Code::Ok);
        let mut device = Self { lab, _stream: stream };
        device.push(Action::VerifyAndCommit, program).expect("a right program");
        device
    }

    fn push(&mut self, action: Action, program: &str) -> Result<(), tonic::Status> {
        let info = own_info(program);
        push(&self.lab, request((action, 1), Some((program, &info, 1))))?;
        self.lab.info = info;
        Ok(())
    }

    fn cell(&self, kind: &str, at: i64) -> Of {
        let (info, index) = (&self.lab.info, Some(p4::Index { index: at }));
        match kind {
            "register" => {
                let register_id = id(info.registers.iter().map(|one| &one.preamble), "r");
                let data = Some(p4::p4_data::Data::Bitstring(vec![7]));
                let data = Some(p4::P4Data { data });
                Of::RegisterEntry(p4::RegisterEntry { register_id, index, data })
            }
            "counter" => {
                let counter_id = id(info.counters.iter().map(|one| &one.preamble), "c");
                let data = Some(p4::CounterData { packet_count: 5, byte_count: 900 });
                Of::CounterEntry(p4::CounterEntry { counter_id, index, data })
            }
            _ => {
                let meter_id = id(info.meters.iter().map(|one| &one.preamble), "m");
                let config = p4::MeterConfig { cir: 10, cburst: 20, pir: 30, pburst: 40, eburst: 0 };
                Of::MeterEntry(p4::MeterEntry { meter_id, index, config: Some(config), counter_data: None })
            }
        }
    }

    fn write(&self, at: i64) {
        for kind in ["register", "counter", "meter"] {
            self.lab.modify(self.cell(kind, at)).expect("the primary writes");
        }
    }

    /// Whether a cell is as [`Self::write`] leaves it, in each array.
    fn has(&self, at: i64) -> bool {
        let is_kept = |kind| self.lab.read(self.cell(kind, at)).expect("an answer") == [self.cell(kind, at)];
        let kept = ["register", "counter", "meter"].map(is_kept);
        assert!(kept == [true; 3] || kept == [false; 3], "{kept:?}");
        kept[0]
    }
}

#[test]
fn arrays_stay_with_their_cells_and_grow() {
    const CELLS: u32 = 1_000;
    const A: &str = "register<bit<8>>(3) a;";
    let last = i64::from(CELLS) - 1;
    let mut device = Device::with(&program(CELLS, ""));
    device.write(last);
    // The same arrays at other places among the program's.
    device.push(Action::ReconcileAndCommit, &program(CELLS, A)).expect("it fits");
    assert!(device.has(last) && !device.has(0));
    device.push(Action::ReconcileAndCommit, &program(CELLS + 1, A)).expect("it fits");
    assert!(device.has(last) && !device.has(last + 1));
    let refused = device.push(Action::ReconcileAndCommit, &program(CELLS / 2, A)).expect_err("too small");
    assert_eq!(refused.code(), Code::InvalidArgument, "{}", refused.message());
    assert!(device.has(last), "the running program has all of its state");
    device.push(Action::VerifyAndCommit, &program(CELLS, "")).expect("a right program");
    assert!(!device.has(last), "only RECONCILE_AND_COMMIT keeps it");
}
