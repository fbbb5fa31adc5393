//! Jobs of operations: what is refused before a run, and when a run with them ends.

use p4cc_netsim::{Network, RunOptions};
use p4cc_units::Time;
use serde_json::{Value, json};

use crate::columns::{integers, texts};
use crate::wire::two_hosts;

fn build(jobs: &Value) -> Result<Network, String> {
    let mut keys = json!({"algorithms": {"reno": {}}, "jobs": jobs, "stop_ns": 1_000_000_000});
    if jobs.to_string().contains("\"collective\"") {
        keys["collectives"] = json!([{"name": "ring", "operation": "all_reduce", "schedule": "ring",
            "ranks": ["a", "b"], "size_bytes": 1_000, "waits": true, "algorithm": "reno"}]);
    }
    Network::build(two_hosts(0.0, &keys), 1).map_err(|error| error.to_string())
}

fn job(name: &str, operations: Value) -> Value {
    json!({"name": name, "hosts": ["a", "b"], "algorithm": "reno", "operations": operations})
}

fn refusal(jobs: Value) -> String {
    build(&jobs).map(|_| ()).expect_err("refused")
}

fn compute(duration_ns: u64, keys: Value) -> Value {
    with(json!({"work": {"kind": "compute", "host": 0, "duration_ns": duration_ns}}), keys)
}

fn part(rank: u32, keys: Value) -> Value {
    with(json!({"work": {"kind": "collective", "collective": 0, "rank": rank}}), keys)
}

fn with(mut operation: Value, keys: Value) -> Value {
    keys.as_object().into_iter().flatten().for_each(|(key, value)| operation[key] = value.clone());
    operation
}

fn run(jobs: Value) -> Network {
    let mut network = build(&jobs).expect("a right description");
    network.run(RunOptions::default()).expect("few events");
    network
}

#[test]
fn units_take_memory_by_their_count_and_not_by_their_numbers() {
    let both = || json!([compute(10, json!({"unit": 999_999})), compute(5, json!({"unit": 999_999}))]);
    let network = run((0..4_295).map(|number| job(&format!("{number}"), both())).collect());
    let results = network.results();
    assert_eq!(integers(&results, "jobs", "finish_ns"), vec![15; 4_295]);
    let other = json!([compute(10, json!({"unit": u32::MAX})), compute(5, json!({"unit": 0}))]);
    assert_eq!(integers(&run(json!([job("j", other)])).results(), "operations", "end_ns"), [10, 5]);
}

#[test]
fn a_run_of_computing_alone_ends_with_it() {
    let network = run(json!([job("j", json!([compute(1_000, json!({}))]))]));
    assert!(network.has_ended());
    assert_eq!(network.now(), Time::from_ns(1_000));
    let nothing = run(json!([job("j", json!([compute(0, json!({})), compute(0, json!({"after": [0]}))]))]));
    assert!(nothing.has_ended());
    assert_eq!(nothing.now(), Time::ZERO);
    assert_eq!(integers(&nothing.results(), "operations", "end_ns"), [0, 0]);
}

#[test]
fn a_collective_ends_for_no_rank_before_all_ranks_have_started() {
    let fine = json!([job("j", json!([part(0, json!({})), part(1, json!({"after_start": [0]}))]))]);
    let ends = integers(&run(fine).results(), "operations", "end_ns");
    assert!(ends.len() == 2 && ends.iter().all(|&end| end > 100_000), "{ends:?}");
    let said =
        refusal(json!([job("j", json!([part(0, json!({"name": "p"})), part(1, json!({"after": [0]}))]))]));
    let begin = "jobs[0].operations[1]: it never starts, as each of 1 -> p -> 1 waits for the next";
    assert!(said.starts_with(begin) && said.contains("all of its ranks have started"), "{said}");
    // Over a job's own operation, and a part in another job.
    let said = refusal(json!([
        job("x", json!([part(0, json!({})), compute(1, json!({"name": "c", "after": [0]}))])),
        job("y", json!([part(1, json!({"name": "q", "after": [1]})), compute(1, json!({"after": [0]}))])),
    ]));
    assert!(said.starts_with("jobs[1].operations[0]: \"q\" never starts, as each of y/q -> y/1"), "{said}");
}

#[test]
fn ranks_of_a_collective_do_not_share_a_unit() {
    let said = refusal(json!([job("j", json!([part(0, json!({"unit": 7})), part(1, json!({"unit": 7}))]))]));
    let begin = "jobs[0].operations[1].unit: 1 and 0 are ranks of one collective and share a unit";
    assert!(said.starts_with(begin), "{said}");
    build(&json!([job("j", json!([part(0, json!({"unit": 7})), part(1, json!({"unit": 8}))]))]))
        .expect("fine");
}

#[test]
fn jobs_and_operations_have_names_of_their_own() {
    let one = || json!([compute(1, json!({}))]);
    let named = |name: &str| compute(1, json!({"name": name}));
    let cases = [
        (job("j", json!([])), "jobs[0].operations: the job has no operation"),
        (job("", one()), "jobs[0].name: the name is empty"),
        (job("j", json!([named("")])), "jobs[0].operations[0].name: the name is empty"),
        (
            job("j", json!([named("x"), named("y"), named("x")])),
            "jobs[0].operations[2].name: two operations are named \"x\"",
        ),
    ];
    for (job, said) in cases {
        let error = refusal(json!([job]));
        assert!(error.starts_with(said), "{error}");
    }
    let network =
        run(json!([job("j", json!([named("x"), compute(1, json!({}))])), job("k", json!([named("x")]))]));
    assert_eq!(texts(&network.results(), "operations", "operation"), ["x", "1", "x"]);
}
