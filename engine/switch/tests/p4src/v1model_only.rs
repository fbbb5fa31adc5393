//! What programs do under v1model and not under TNA: depths in packets that count as so many cells, and a
//! way past an empty queue.

use p4cc_switch::{ExecChoice, QdepthUnit};

use super::bench::{Bench, OUT};
use super::frame::{Frame, extension, number};

#[test]
fn packets_count_as_the_cells_that_the_controller_says() {
    let mut bench = Bench::new("int_hpcc", QdepthUnit::Packets);
    let args = [0x5a5, 3, 1, 255, 0, 5];
    bench.add("egress.telemetry.ports", &[OUT.into()], "egress.telemetry.set_port", &args);
    let frame = Frame::data(1, vec![0, 0]);
    for _ in 0..600 {
        bench.receive(0, frame.packet());
    }
    for still in (0..600_u64).rev() {
        let (left, _) = bench.transmit(1).expect("all wait");
        let record = number(&extension(&left, &frame)[2..10]);
        assert_eq!(record & 0xffff, ((still * 255) >> 1).min(0xffff));
    }
}

#[test]
fn native_code_bypasses_an_empty_queue() {
    let bench = Bench::new("ecn_dual", QdepthUnit::Packets);
    let bypasses = |exec| bench.bypasses(exec, Frame::default().packet());
    assert_eq!([ExecChoice::Native, ExecChoice::Interp].map(bypasses), [true, false]);
}
