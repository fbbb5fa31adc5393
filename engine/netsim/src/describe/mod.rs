//! The description of a network: what a user gives, and its resolved and checked form.
//!
//! | file | what it has |
//! |---|---|
//! | [`spec`] | the JSON description as plain data |
//! | `limits` | bounds of its numbers |
//! | `topology` | the description resolved: names become indices, contradictions are refused |
//! | `names` | nodes and senders' configurations by name |
//! | `flow_plan`, `faults` | one flow, and one change of a link, resolved |

pub(crate) mod faults;
pub(crate) mod flow_plan;
pub(crate) mod limits;
pub(crate) mod names;
pub mod spec;
pub(crate) mod topology;
