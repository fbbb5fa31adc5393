//! BMv2 JSON is read under the budget of source programs.

use std::fmt::Write;

use p4cc_budget::{Budget, Resource};
use p4cc_ir::limits;

const TABLES: &str = include_str!("../../filetests/cases/bmv2/tables.json");

/// The errors of a document that is read with less of a resource.
fn errors(text: &str, resource: Resource, limit: u64) -> Vec<p4cc_bmv2json::ReadError> {
    let (program, errors) = p4cc_bmv2json::read_within(text, &Budget::default().limited(resource, limit));
    assert!(program.is_none(), "{resource:?}");
    errors
}

#[test]
fn each_resource_that_a_document_takes_is_bounded_at_its_place() {
    let places = [
        (Resource::Tokens, "document"),
        (Resource::TableKeys, "pipelines[0].tables"),
        (Resource::ParserStates, "parsers[0].parse_states"),
        (Resource::Variables, "headers["),
        (Resource::Instructions, "actions["),
        (Resource::NameBytes, "headers["),
        (Resource::Steps, "header_types["),
    ];
    let budget = Budget::default();
    assert!(p4cc_bmv2json::read_within(TABLES, &budget).0.is_some());
    for (resource, place) in places {
        let spent = budget.spent(resource);
        assert!(spent > 0, "{resource:?}");
        let found = errors(TABLES, resource, 0);
        assert_eq!(found.len(), 1, "{resource:?}: {found:?}");
        assert!(found[0].path.starts_with(place), "{resource:?}: {}", found[0].path);
        assert!(found[0].cause.contains(resource.name()), "{}", found[0].cause);
        let enough = Budget::default().limited(resource, spent);
        assert!(
            p4cc_bmv2json::read_within(TABLES, &enough).0.is_some(),
            "{resource:?}: what it takes is enough"
        );
        errors(TABLES, resource, spent - 1);
    }
}

#[test]
fn a_call_that_was_cancelled_reads_no_document() {
    let budget = Budget::default();
    budget.cancel();
    let (program, errors) = p4cc_bmv2json::read_within(TABLES, &budget);
    assert!(program.is_none());
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].cause, "the compilation was cancelled");
}

#[test]
fn a_document_that_is_small_as_text_and_large_in_memory_is_not_parsed() {
    let text = format!("{{\"pipelines\": [{}0]}}", "0,".repeat(Resource::Tokens.limit() as usize));
    let (_, errors) = p4cc_bmv2json::read(&text);
    assert_eq!(errors.len(), 1);
    assert!(errors[0].cause.contains("tokens; at most 1048576 are allowed"), "{}", errors[0].cause);
}

/// A document with arrays of each kind.
fn arrays(count: usize, size: u32) -> String {
    let mut text = String::from("{\"pipelines\": []");
    for (kind, rest) in [
        ("counter_arrays", "\"is_direct\": false"),
        ("meter_arrays", "\"is_direct\": false, \"type\": \"bytes\", \"rate_count\": 2"),
        ("register_arrays", "\"bitwidth\": 2048"),
    ] {
        let array = |at| format!("{{\"name\": \"{kind}{at}\", \"id\": {at}, \"size\": {size}, {rest}}}");
        let all: Vec<_> = (0..count).map(array).collect();
        write!(text, ", \"{kind}\": [{}]", all.join(", ")).expect("a string takes everything");
    }
    text + "}"
}

#[test]
fn the_cells_of_all_arrays_together_are_bounded() {
    let (_, errors) = p4cc_bmv2json::read(&arrays(3, limits::MAX_ARRAY_CELLS));
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(errors[0].path, "counter_arrays[2]", "two of 256 MiB each go");
    assert!(errors[0].cause.contains("at most 536870912 are allowed"), "{}", errors[0].cause);
    // The same document with few cells lacks other things only.
    let (_, errors) = p4cc_bmv2json::read(&arrays(3, 16));
    assert!(errors.iter().all(|error| !error.cause.contains("allowed")), "{errors:?}");
}
