//! Commands of a run case for what a Tofino chip has beside the program:
//!
//! ```text
//! // chip node ID RID PORT...        a multicast node
//! // chip lag NODE LAG PORT...       a LAG, of which a node that is there gets one copy
//! // chip group ID NODE[:XID]...     a multicast group of nodes, each with its exclusion number
//! // chip prune XID PORT...          ports that a level-2 exclusion number leaves out
//! // chip mirror ID PORT BYTES       a session that cuts to so many bytes; 0 for whole packets
//! // chip metadata PORT HEX          port metadata
//! // chip loop PORT                  what the port sends comes back
//! // chip deflect PIPE PORT QUEUE    where packets go whose queue is full
//! // chip generates PORT             the packet generator may send there, and compare what goes round
//! // chip buffer PIPE OFFSET HEX     its buffer
//! // chip app PIPE ID OFFSET BYTES TRIGGER...
//! // chip capacity PORT PACKETS      of each queue
//! // time NS                         the clock; what the packet generator sends until then
//! ```
//!
//! A trigger is `timer NS`, `periodic NS`, `down`, `round HEX`, `asked HEX`: hexadecimal digits are compared
//! with the first bytes.

use p4cc_switch::Switch;
use p4cc_switch::chip::{App, GeneratorPort, Group, L1Node, Lag, Member, MirrorSession, Trigger};
use p4cc_switch::chip::{Deflection, pktgen::CONTEXT_BYTES};
use p4cc_units::Time;

use crate::script::{bytes, small};

/// Words of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command(Vec<String>);

impl Command {
    /// A command of the words behind `chip`.
    pub fn new(words: &[&str]) -> Self {
        Self(words.iter().map(|&word| word.to_owned()).collect())
    }

    /// Carries it out.
    ///
    /// # Errors
    /// What is wrong with it, or why the switch refuses it.
    pub fn run(&self, switch: &mut Switch, now: Time) -> Result<(), String> {
        let words: Vec<&str> = self.0.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["deflect", pipe, port, queue] => {
                let to = Deflection { port: small(port)?, queue: small(queue)?, enabled: true };
                told(switch.control().chip_mut().set_deflection(small(pipe)? as u8, Some(to)))
            }
            ["capacity", port, packets] => {
                let known = switch.control().set_queue_capacity(small(port)?, None, small(packets)?);
                if known { Ok(()) } else { Err(format!("there is no port {port}")) }
            }
            ["metadata", port, hex] => {
                told(switch.control().chip_mut().set_port_metadata(small(port)?, Some(&bytes(hex)?)))
            }
            ["loop", port] => told(switch.control().chip_mut().set_loopback(small(port)?, true)),
            ["mirror", id, port, cut] => {
                let session = MirrorSession {
                    enabled: true,
                    unicast_port: small(port)?,
                    unicast_valid: true,
                    max_length_bytes: small(cut)? as u16,
                    ..MirrorSession::new(small(id)? as u16)
                };
                told(switch.control().chip_mut().mirrors.insert(session))
            }
            [what @ ("node" | "lag" | "group" | "prune"), rest @ ..] => multicast(switch, what, rest),
            _ => generator(switch, now, &words),
        }
    }
}

fn told<T>(result: Result<T, impl ToString>) -> Result<(), String> {
    result.map(drop).map_err(|error| error.to_string())
}

fn multicast(switch: &mut Switch, what: &str, words: &[&str]) -> Result<(), String> {
    let numbers = || words.iter().map(|word| small(word)).collect::<Result<Vec<u32>, String>>();
    let tree = &mut switch.control().chip_mut().multicast;
    if what == "group" {
        let [id, members @ ..] = words else { return Err("a group needs a number".to_owned()) };
        let member = |word: &&str| match word.split_once(':') {
            Some((id, xid)) => Ok(Member { id: small(id)?, l1_xid: Some(small(xid)? as u16) }),
            None => Ok(Member { id: small(word)?, l1_xid: None }),
        };
        let nodes = members.iter().map(member).collect::<Result<_, String>>()?;
        return told(tree.insert_group(Group { id: small(id)? as u16, nodes, ecmps: Vec::new() }));
    }
    match (what, numbers()?.as_slice()) {
        ("node", [id, rid, ports @ ..]) => {
            let node = L1Node { id: *id, rid: *rid as u16, ports: ports.to_vec(), lags: Vec::new() };
            told(tree.insert_node(node))
        }
        ("lag", [node, id, ports @ ..]) => {
            let lag = Lag { id: *id as u8, ports: ports.to_vec(), ..Lag::default() };
            told(tree.put_lag(lag))?;
            let mut node = tree.node(*node).cloned().ok_or("there is no such node")?;
            node.lags.push(*id as u8);
            told(tree.modify_node(node))
        }
        ("prune", [xid, ports @ ..]) => told(tree.set_prune(*xid as u16, ports.iter().copied().collect())),
        _ => Err(format!("`chip {what}` has too few numbers")),
    }
}

fn generator(switch: &mut Switch, now: Time, words: &[&str]) -> Result<(), String> {
    match words {
        ["generates", port] => {
            let known = GeneratorPort { generates: true, matches_pattern: true, ..GeneratorPort::default() };
            told(switch.control().chip_mut().generator.set_port(small(port)?, known))
        }
        ["buffer", pipe, offset, hex] => {
            let (pipe, offset) = (small(pipe)? as u8, small(offset)? as usize);
            told(switch.control().chip_mut().generator.write_buffer(pipe, offset, &bytes(hex)?))
        }
        ["app", pipe, id, offset, length, trigger @ ..] => {
            let app = App {
                trigger: self::trigger(trigger)?,
                enabled: true,
                offset_bytes: small(offset)? as u16,
                length_bytes: small(length)? as u16,
                channel: 6,
                ..App::default()
            };
            told(switch.control().chip_mut().generator.set_app(
                now,
                small(pipe)? as u8,
                small(id)? as u8,
                app,
            ))
        }
        ["down", port] => {
            switch.control().set_port_up(small(port)?, false);
            Ok(())
        }
        _ => Err(format!("`chip {}` is no command", words.join(" "))),
    }
}

fn trigger(words: &[&str]) -> Result<Trigger, String> {
    let pattern = |hex: &str| -> Result<_, String> {
        let (mut value, mut mask) = ([0; CONTEXT_BYTES], [0; CONTEXT_BYTES]);
        for (at, byte) in bytes(hex)?.into_iter().enumerate().take(CONTEXT_BYTES) {
            (value[at], mask[at]) = (byte, 0xff);
        }
        Ok((value, mask))
    };
    Ok(match words {
        ["timer", ns] => Trigger::OneShot { timer_ns: small(ns)? },
        ["periodic", ns] => Trigger::Periodic { timer_ns: small(ns)? },
        ["down"] => Trigger::PortDown { mask: 0 },
        ["round", hex] => {
            let (value, mask) = pattern(hex)?;
            Trigger::Recirculation { value, mask }
        }
        ["asked", hex] => {
            let (value, mask) = pattern(hex)?;
            Trigger::Deparser { value, mask }
        }
        _ => return Err(format!("`{}` is no trigger", words.join(" "))),
    })
}
