//! Commands of multicast.

use std::collections::BTreeMap;

use p4cc_thrift::value::Value;
use serde_json::Value as Json;

use crate::failure::Failure;
use crate::session::{CONTEXT, Outcome, Session, at_least, exactly, handle, number, show};

/// Most ports or LAGs that a map has.
const MAX_NUMBER: usize = 512;

/// Runs a command of this file; none if it is not one.
pub(crate) fn command(switch: &mut Session, verb: &str, words: &[&str]) -> Option<Outcome> {
    Some(match verb {
        "mc_mgrp_create" => group(switch, words, "Creating", "simple_pre_lag:bm_mc_mgrp_create"),
        "mc_mgrp_destroy" => group(switch, words, "Destroying", "simple_pre_lag:bm_mc_mgrp_destroy"),
        "mc_node_create" => node_create(switch, words),
        "mc_node_update" => node_update(switch, words),
        "mc_node_associate" => membership(switch, words, ("Associating", "to"), "bm_mc_node_associate"),
        "mc_node_dissociate" => membership(switch, words, ("Dissociating", "from"), "bm_mc_node_dissociate"),
        "mc_node_destroy" => node_destroy(switch, words),
        "mc_set_lag_membership" => set_lag(switch, words),
        "mc_dump" => dump(switch, words),
        _ => return None,
    })
}

fn group(switch: &mut Session, words: &[&str], doing: &str, call: &str) -> Outcome {
    let [group] = exactly(words)?;
    let id = handle(group, "multicast group id")?;
    switch.say(format!("{doing} multicast group {group}"));
    switch.tell(call, [CONTEXT, id])
}

/// Zeros and ones for numbers, the last for number 0.
fn map_of(words: &[&str], what: &str) -> Result<String, Failure> {
    let read = |word: &&str| {
        let number = word.parse().ok().filter(|number| *number < MAX_NUMBER);
        number.ok_or_else(|| Failure::error(format!("'{word}' is not a valid {what} number")))
    };
    let mut numbers: Vec<usize> = words.iter().map(read).collect::<Result<_, _>>()?;
    numbers.sort_unstable();
    if let Some(pair) = numbers.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(Failure::error(format!("Found duplicate {what} number '{}'", pair[0])));
    }
    let most = numbers.last().map_or(0, |most| most + 1);
    Ok((0..most).rev().map(|number| if numbers.contains(&number) { '1' } else { '0' }).collect())
}

/// Maps of the ports and, behind a bar, of the LAGs.
fn maps_of(words: &[&str]) -> Result<(String, String), Failure> {
    let mut sides = words.splitn(2, |word| *word == "|");
    let (ports, lags) = (sides.next().unwrap_or_default(), sides.next().unwrap_or_default());
    Ok((map_of(ports, "port")?, map_of(lags, "lag")?))
}

fn node_create(switch: &mut Session, words: &[&str]) -> Outcome {
    let ([rid], rest) = at_least(words)?;
    let rid_value = handle(rid, "rid")?;
    let (ports, lags) = maps_of(rest)?;
    switch.say(format!("Creating node with rid {rid} , port map {ports} and lag map {lags}"));
    let args = [CONTEXT, rid_value, Value::text(ports), Value::text(lags)];
    let node = switch.ask("simple_pre_lag:bm_mc_node_create", args)?;
    switch.say(format!("node was created with handle {}", show(&node)));
    Ok(())
}

fn node_update(switch: &mut Session, words: &[&str]) -> Outcome {
    let ([node, _], _) = at_least(words)?;
    let node_value = handle(node, "node handle")?;
    let (ports, lags) = maps_of(&words[1..])?;
    switch.say(format!("Updating node {node} with port map {ports} and lag map {lags}"));
    let args = [CONTEXT, node_value, Value::text(ports), Value::text(lags)];
    switch.tell("simple_pre_lag:bm_mc_node_update", args)
}

fn membership(switch: &mut Session, words: &[&str], doing: (&str, &str), call: &str) -> Outcome {
    let [group, node] = exactly(words)?;
    let args = [CONTEXT, handle(group, "multicast group id")?, handle(node, "node handle")?];
    let (verb, word) = doing;
    switch.say(format!("{verb} node {node} {word} multicast group {group}"));
    switch.tell(&format!("simple_pre_lag:{call}"), args)
}

fn node_destroy(switch: &mut Session, words: &[&str]) -> Outcome {
    let [node] = exactly(words)?;
    let node_value = handle(node, "node handle")?;
    switch.say(format!("Destroying node {node}"));
    switch.tell("simple_pre_lag:bm_mc_node_destroy", [CONTEXT, node_value])
}

fn set_lag(switch: &mut Session, words: &[&str]) -> Outcome {
    let ([lag, _], _) = at_least(words)?;
    let lag: i16 = number(lag, "Bad format for lag index")?;
    let ports = map_of(&words[1..], "lag")?;
    switch.say(format!("Setting lag membership: {lag} <- {ports}"));
    let args = [CONTEXT, Value::I16(lag), Value::text(ports)];
    switch.tell("simple_pre_lag:bm_mc_set_lag_membership", args)
}

fn list_of<'j>(of: &'j Json, name: &str) -> impl Iterator<Item = &'j Json> {
    of[name].as_array().into_iter().flatten()
}

fn numbers(of: &Json, name: &str) -> String {
    list_of(of, name).map(Json::to_string).collect::<Vec<_>>().join(", ")
}

fn dump(switch: &mut Session, _words: &[&str]) -> Outcome {
    let text = show(&switch.ask("simple_pre_lag:bm_mc_get_entries", [CONTEXT])?);
    let all: Json = serde_json::from_str(&text)
        .map_err(|error| Failure::error(format!("the switch's multicast groups: {error}")))?;
    let by_handle = |name| -> BTreeMap<String, &Json> {
        list_of(&all, name).map(|one| (one["handle"].to_string(), one)).collect()
    };
    let (first, second) = (by_handle("l1_handles"), by_handle("l2_handles"));
    switch.say("==========\nMC ENTRIES");
    for group in list_of(&all, "mgrps") {
        switch.say(format!("**********\nmgrp({})", group["id"]));
        for handle in list_of(group, "l1_handles") {
            let Some(node) = first.get(&handle.to_string()) else { continue };
            let Some(ports) = second.get(&node["l2_handle"].to_string()) else { continue };
            switch.say(format!(
                "  -> (L1h={handle}, rid={}) -> (ports=[{}], lags=[{}])",
                node["rid"],
                numbers(ports, "ports"),
                numbers(ports, "lags"),
            ));
        }
    }
    switch.say("==========\nLAGS");
    for lag in list_of(&all, "lags") {
        switch.say(format!("lag({}) -> ports=[{}]", lag["id"], numbers(lag, "ports")));
    }
    switch.say("==========");
    Ok(())
}
