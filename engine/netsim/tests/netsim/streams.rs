//! Tables that leave a run on its way: with what is left they are those of a run that keeps all rows.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use p4cc_netsim::{Batching, Network, RunError, RunOptions, Table, TableSink};
use serde_json::json;

use crate::columns::shown;
use crate::fat_tree::{FatTree, Sender};
use crate::support::{Incast, incast};

/// Keeps parts of so many rows, and refuses those that come after a number of them.
struct Parts {
    rows: usize,
    most: usize,
    kept: Mutex<Vec<Table>>,
}

impl Parts {
    fn of(rows: usize, most: usize) -> Arc<Self> {
        Arc::new(Self { rows, most, kept: Mutex::new(Vec::new()) })
    }

    fn kept(&self) -> Vec<Table> {
        self.kept.lock().expect("nobody failed").clone()
    }
}

impl TableSink for Parts {
    fn take(&self, part: Table) -> Result<(), String> {
        let mut kept = self.kept.lock().expect("nobody failed");
        if kept.len() == self.most {
            return Err("the disk is full".to_owned());
        }
        kept.push(part);
        Ok(())
    }

    fn part_rows(&self) -> usize {
        self.rows
    }
}

/// Each row of a table as text.
fn rows(table: &Table) -> Vec<String> {
    let columns: Vec<_> = table.columns.iter().map(shown).collect();
    let text = |row: usize| columns.iter().map(|cells| cells[row].as_str()).collect::<Vec<_>>().join(", ");
    (0..table.rows()).map(text).collect()
}

fn run_on(base: &Network, threads: usize, sink: Option<Arc<Parts>>) -> (Result<(), RunError>, Network) {
    let mut run = base.fork(1).expect("a network that was built");
    run.set_batching(if threads == 1 { Batching::Never } else { Batching::Always });
    run.stream_tables(sink.map(|sink| sink as Arc<dyn TableSink>));
    (run.run(RunOptions { threads, ..RunOptions::default() }).map(|_| ()), run)
}

/// All rows by table, and how many parts came.
fn all_rows(
    base: &Network,
    threads: usize,
    sink: Option<Arc<Parts>>,
) -> (BTreeMap<&'static str, Vec<String>>, usize) {
    let (ran, run) = run_on(base, threads, sink.clone());
    ran.expect("few events");
    let parts = sink.map_or(Vec::new(), |sink| sink.kept());
    let mut found: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for table in parts.iter().chain(&run.results().tables) {
        found.entry(table.spec.name).or_default().extend(rows(table));
    }
    let (kept, streamed) = (run_on(base, 1, None).1.summary(), run.summary());
    assert_eq!(format!("{kept:?}"), format!("{streamed:?}"));
    (found, parts.len())
}

fn small_incast(record: &str) -> Network {
    incast(&Incast {
        senders: 4,
        size_bytes: 200_000,
        start_jitter_ns: 1_000,
        buffer_pkts: 60,
        k: 33,
        k_dc: 65,
        algorithm: r#"{"cc":{"congestion_avoidance":{"name":"dctcp"}}}"#,
        record,
    })
}

const EVERYTHING: &str = r#"{"windows_interval_ns":2000,"queues_interval_ns":1000,"events":true,"rtts":true,
    "tables":{"interval_ns":5000,"arrays":[{"switch":"s1","name":"ingress.forward.ipv4_lpm"}]}"#;

#[test]
fn parts_and_what_is_left_are_all_rows() {
    for limit in ["}", r#","max_rows":70}"#] {
        let base = small_incast(&format!("{EVERYTHING}{limit}"));
        let (whole, none) = all_rows(&base, 1, None);
        assert_eq!(none, 0);
        let sink = Parts::of(30, usize::MAX);
        let (streamed, parts) = all_rows(&base, 1, Some(sink.clone()));
        assert_eq!(streamed, whole);
        assert!(parts > 8, "{parts} parts");
        // Samples of programs leave when all cells of one are noted.
        assert!(sink.kept().iter().all(|part| part.rows() == 30 || part.spec.name.starts_with("program_")));
        for name in ["windows", "queues", "events", "rtts", "program_tables"] {
            assert!(sink.kept().iter().any(|part| part.spec.name == name), "no part of {name}");
        }
    }
}

#[test]
fn parts_are_the_same_on_threads() {
    let record = json!({"windows_interval_ns": 100_000, "queues_interval_ns": 100_000});
    let base = FatTree { k: 4, sender: Sender::Hpcc, size_bytes: 400_000, idle_flows: 0, record }.build();
    let parts = |threads| {
        let sink = Parts::of(7, usize::MAX);
        let (ran, _) = run_on(&base, threads, Some(sink.clone()));
        ran.expect("few events");
        format!("{:?}", sink.kept())
    };
    let one = parts(1);
    assert!(one.contains("windows") && one.contains("queues"));
    assert_eq!((parts(2), parts(3)), (one.clone(), one));
}

#[test]
fn a_part_that_is_not_taken_ends_the_run() {
    let base = small_incast(&format!("{EVERYTHING}}}"));
    let sink = Parts::of(50, 2);
    let (ran, run) = run_on(&base, 1, Some(sink.clone()));
    let error = ran.expect_err("the third part is refused");
    assert!(matches!(&error, RunError::Results { cause, .. } if cause == "the disk is full"), "{error}");
    assert_eq!(sink.kept().len(), 2);
    // Forks have no sink, so that they keep all rows.
    let (ran, run) = run_on(&run, 1, None);
    ran.expect("a run without a sink");
    assert!(run.results().table("windows").is_some_and(|table| table.rows() > 50));
}
