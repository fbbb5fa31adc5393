//! Roles: the share of a device that a group of controllers has.
//!
//! P4Runtime leaves the form of `Role.config` to agreement. Here it is Stratum's `P4RoleConfig`, which finsy
//! and Stratum's tools speak: ids that only this role may write, ids that several may, who gets packet-ins,
//! who may push a pipeline. Without a config a role may do everything, as may the default role, whose name is
//! empty.

#![expect(deprecated, reason = "numbers of roles are honoured")]

use std::collections::BTreeSet;
use std::fmt;

use prost::Message;
use prost_types::Any;

use super::arbitration::{Arbitration, Rule};
use crate::errors::Failure;
use crate::proto::p4::v1 as p4;
use p4::entity::Entity as Of;

/// Most roles of one device.
pub(super) const MAX_ROLES: usize = 64;
const TYPE_NAME: &str = "stratum.P4RoleConfig";

/// What names a role: its name, or its number as before P4Runtime 1.4. The default role has neither.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RoleKey {
    name: String,
    id: u64,
}

impl RoleKey {
    /// Of a message that has a field for each.
    ///
    /// # Errors
    /// Both are given.
    pub(super) fn new(name: &str, id: u64) -> Result<Self, Failure> {
        if !name.is_empty() && id != 0 {
            return Err(Failure::invalid(format!(
                "the role has the name {name} and the number {id}; give one of them"
            )));
        }
        Ok(Self { name: name.to_owned(), id })
    }

    /// Whether it is that of the default role.
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for RoleKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.id == 0 { f.write_str(&self.name) } else { write!(f, "number {}", self.id) }
    }
}

#[derive(Clone, PartialEq, Message)]
struct PacketFilter {
    #[prost(uint32, tag = "1")]
    metadata_id: u32,
    #[prost(bytes = "vec", tag = "2")]
    value: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
struct P4RoleConfig {
    #[prost(uint32, repeated, tag = "1")]
    exclusive_p4_ids: Vec<u32>,
    #[prost(uint32, repeated, tag = "2")]
    shared_p4_ids: Vec<u32>,
    #[prost(message, optional, tag = "3")]
    packet_in_filter: Option<PacketFilter>,
    #[prost(bool, tag = "4")]
    receives_packet_ins: bool,
    #[prost(bool, tag = "5")]
    can_push_pipeline: bool,
}

/// What a role may do.
#[derive(Clone, Debug)]
pub(super) struct RoleConfig {
    /// As it came, to be given back.
    given: Any,
    exclusive: BTreeSet<u32>,
    shared: BTreeSet<u32>,
    packet_ins: bool,
    filter: Option<PacketFilter>,
    pipeline: bool,
}

impl RoleConfig {
    /// Reads the config of an arbitration.
    ///
    /// # Errors
    /// It is of another form.
    pub(super) fn parse(given: &Any) -> Result<Self, Failure> {
        let name = given.type_url.rsplit('/').next().unwrap_or_default();
        if name != TYPE_NAME {
            return Err(Failure::invalid(format!(
                "the role's config is a {name}; this server knows {TYPE_NAME}, or leave it out for full access"
            )));
        }
        let config = P4RoleConfig::decode(given.value.as_slice()).map_err(|error| {
            Failure::invalid(format!("the role's {TYPE_NAME} cannot be decoded: {error}"))
        })?;
        Ok(Self {
            given: given.clone(),
            exclusive: config.exclusive_p4_ids.into_iter().collect(),
            shared: config.shared_p4_ids.into_iter().collect(),
            packet_ins: config.receives_packet_ins,
            filter: config.packet_in_filter,
            pipeline: config.can_push_pipeline,
        })
    }

    fn has(&self, id: u32) -> bool {
        self.exclusive.contains(&id) || self.shared.contains(&id)
    }

    /// An id that one of two roles has for itself and the other has too.
    fn conflict(&self, other: &Self) -> Option<u32> {
        let of_both = |mine: &BTreeSet<u32>, theirs: &Self| mine.iter().copied().find(|id| theirs.has(*id));
        of_both(&self.exclusive, other).or_else(|| of_both(&other.exclusive, self))
    }
}

/// A role of a device: its controllers, and what they may do; everything without a config.
#[derive(Debug, Default)]
pub(super) struct Role {
    pub(super) arbitration: Arbitration,
    pub(super) config: Option<RoleConfig>,
}

impl Role {
    pub(super) fn new(rule: Rule) -> Self {
        Self { arbitration: Arbitration::new(rule), config: None }
    }

    /// The role as messages name it; none for the default role.
    pub(super) fn message(&self, key: &RoleKey) -> Option<p4::Role> {
        let config = self.config.as_ref().map(|config| config.given.clone());
        let RoleKey { name, id } = key.clone();
        (!key.is_default() || config.is_some()).then_some(p4::Role { id, name, config })
    }

    /// Whether the role has the object with this id.
    pub(super) fn has(&self, id: u32) -> bool {
        self.config.as_ref().is_none_or(|config| config.has(id))
    }

    /// Whether the role has an entity. The packet replication engine has no id, so only full access has it.
    pub(super) fn has_entity(&self, entity: &p4::Entity) -> bool {
        self.config.is_none() || entity.entity.as_ref().and_then(object_id).is_some_and(|id| self.has(id))
    }

    /// Checks that the role may change an entity.
    ///
    /// # Errors
    /// It is not the role's.
    pub(super) fn check_write(&self, name: &RoleKey, update: &p4::Update) -> Result<(), Failure> {
        match &update.entity {
            Some(entity) if !self.has_entity(entity) => {
                let what = entity.entity.as_ref().and_then(object_id).map_or_else(
                    || "the packet replication engine".to_owned(),
                    |id| format!("the object with id {id} ({id:#010x})"),
                );
                Err(Failure::denied(format!("{what} is outside of role {name}")))
            }
            _ => Ok(()),
        }
    }

    /// Checks that the role may push a pipeline.
    ///
    /// # Errors
    /// It may not.
    pub(super) fn check_pipeline(&self, name: &RoleKey) -> Result<(), Failure> {
        match &self.config {
            Some(config) if !config.pipeline => {
                Err(Failure::denied(format!("role {name} may not push a pipeline (can_push_pipeline)")))
            }
            _ => Ok(()),
        }
    }

    /// Whether the role's primary gets a packet-in.
    pub(super) fn receives(&self, packet: &p4::PacketIn) -> bool {
        let Some(config) = &self.config else { return true };
        let passes = |filter: &PacketFilter| {
            let mut metadata = packet.metadata.iter();
            metadata.any(|one| one.metadata_id == filter.metadata_id && one.value == filter.value)
        };
        config.packet_ins && config.filter.as_ref().is_none_or(passes)
    }

    /// Checks that no other role has for itself what a config gives.
    ///
    /// # Errors
    /// One does.
    pub(super) fn check_beside(&self, name: &RoleKey, new: &RoleConfig) -> Result<(), Failure> {
        match self.config.as_ref().and_then(|config| config.conflict(new)) {
            None => Ok(()),
            Some(id) => Err(Failure::invalid(format!(
                "id {id} ({id:#010x}) is in role {name} too, and exclusive to one of the two"
            ))),
        }
    }
}

/// The id of the object that an entity belongs to.
fn object_id(entity: &Of) -> Option<u32> {
    let of_entry = |entry: &Option<p4::TableEntry>| entry.as_ref().map_or(0, |entry| entry.table_id);
    match entity {
        Of::TableEntry(entry) => Some(entry.table_id),
        Of::ActionProfileMember(member) => Some(member.action_profile_id),
        Of::ActionProfileGroup(group) => Some(group.action_profile_id),
        Of::CounterEntry(entry) => Some(entry.counter_id),
        Of::DirectCounterEntry(entry) => Some(of_entry(&entry.table_entry)),
        Of::MeterEntry(entry) => Some(entry.meter_id),
        Of::DirectMeterEntry(entry) => Some(of_entry(&entry.table_entry)),
        Of::RegisterEntry(entry) => Some(entry.register_id),
        Of::ValueSetEntry(entry) => Some(entry.value_set_id),
        Of::DigestEntry(entry) => Some(entry.digest_id),
        Of::PacketReplicationEngineEntry(_) => None,
        Of::ExternEntry(entry) => Some(entry.extern_id),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(exclusive: &[u32], shared: &[u32]) -> RoleConfig {
        let config = P4RoleConfig {
            exclusive_p4_ids: exclusive.to_vec(),
            shared_p4_ids: shared.to_vec(),
            packet_in_filter: Some(PacketFilter { metadata_id: 1, value: vec![7] }),
            receives_packet_ins: true,
            can_push_pipeline: false,
        };
        let type_url = format!("type.googleapis.com/{TYPE_NAME}");
        RoleConfig::parse(&Any { type_url, value: config.encode_to_vec() }).unwrap()
    }

    fn key(name: &str) -> RoleKey {
        RoleKey::new(name, 0).unwrap()
    }

    fn entry(table_id: u32) -> p4::Entity {
        p4::Entity { entity: Some(Of::TableEntry(p4::TableEntry { table_id, ..Default::default() })) }
    }

    #[test]
    fn a_role_has_its_ids_only() {
        let role = Role { config: Some(config(&[1], &[2])), ..Role::default() };
        assert!(role.has_entity(&entry(1)) && role.has_entity(&entry(2)) && !role.has_entity(&entry(3)));
        let update = p4::Update { entity: Some(entry(3)), ..Default::default() };
        assert_eq!(role.check_write(&key("r"), &update).unwrap_err().code, tonic::Code::PermissionDenied);
        assert!(role.check_pipeline(&key("r")).is_err());
        assert!(Role::default().has_entity(&entry(3)) && Role::default().check_pipeline(&key("")).is_ok());
    }

    #[test]
    fn packet_ins_pass_the_filter() {
        let role = Role { config: Some(config(&[], &[])), ..Role::default() };
        let packet = |value: u8| p4::PacketIn {
            payload: Vec::new(),
            metadata: vec![p4::PacketMetadata { metadata_id: 1, value: vec![value] }],
        };
        assert!(role.receives(&packet(7)) && !role.receives(&packet(8)));
    }

    #[test]
    fn what_is_exclusive_is_no_one_elses() {
        let role = Role { config: Some(config(&[1], &[2])), ..Role::default() };
        assert!(role.check_beside(&key("r"), &config(&[3], &[2])).is_ok());
        for other in [config(&[1], &[]), config(&[], &[1]), config(&[2], &[])] {
            assert!(role.check_beside(&key("r"), &other).is_err());
        }
        let unknown = Any { type_url: "x/y.Z".to_owned(), value: Vec::new() };
        assert_eq!(RoleConfig::parse(&unknown).unwrap_err().code, tonic::Code::InvalidArgument);
    }
}
