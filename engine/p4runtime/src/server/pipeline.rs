//! SetForwardingPipelineConfig and GetForwardingPipelineConfig.

use std::sync::Arc;

use p4cc_switch::Switch;
use p4cc_units::Time;
use tonic::Code;

use super::device::{Device, Installed, Saved};
use crate::device_config;
use crate::entity::Target;
use crate::entity::digest::DigestConfigs;
use crate::errors::Failure;
use crate::proto::p4::v1 as p4;
use p4::get_forwarding_pipeline_config_request::ResponseType;
use p4::set_forwarding_pipeline_config_request::Action;

/// Verifies, saves or commits a program.
pub(super) fn set(
    device: &mut Device,
    switch: &mut Switch,
    action: i32,
    config: Option<p4::ForwardingPipelineConfig>,
    now: Time,
) -> Result<(), Failure> {
    match Action::try_from(action) {
        Ok(Action::Verify) => verify(config).map(|_| ()),
        Ok(Action::VerifyAndSave) => {
            device.saved = Some(stage(switch, verify(config)?));
            Ok(())
        }
        Ok(Action::VerifyAndCommit) => {
            start(device, switch, verify(config)?);
            Ok(())
        }
        Ok(Action::Commit) => {
            if config.is_some() {
                return Err(Failure::invalid("COMMIT takes no config; it commits the one saved before"));
            }
            let saved = device.saved.take().ok_or_else(|| {
                Failure::not_found("there is no saved config; call VERIFY_AND_SAVE before COMMIT")
            })?;
            commit(device, switch, saved)
        }
        Ok(Action::ReconcileAndCommit) => {
            let mut next = stage(switch, verify(config)?);
            if let Ok(running) = device.running(switch) {
                let loaded = Arc::clone(&running.loaded);
                let digests = &mut device.digests;
                let running =
                    Target { catalog: &loaded.catalog, switch, digests, now, is_replay: false, pipe: 0 };
                carry_over(&running, &mut next)?;
            }
            device.saved = None;
            commit(device, switch, next)
        }
        Ok(Action::Unspecified) | Err(_) => {
            Err(Failure::invalid("the request has no action; give VERIFY_AND_COMMIT, for instance"))
        }
    }
}

/// Runs a program with fresh state.
fn start(device: &mut Device, switch: &mut Switch, installed: Installed) {
    switch.set_pipeline(Arc::clone(&installed.loaded.pipeline));
    device.digests = DigestConfigs::default();
    device.saved = None;
    device.installed = Some(installed);
}

/// Compiles a program that comes without a controller, with the P4Info that is its own, and runs it.
pub(super) fn install(
    device: &mut Device,
    switch: &mut Switch,
    p4_device_config: Vec<u8>,
) -> Result<(), Failure> {
    let loaded = device_config::load(&p4_device_config, None)?;
    let p4info = Some(loaded.p4info.clone());
    let config = p4::ForwardingPipelineConfig { p4info, p4_device_config, cookie: None };
    start(device, switch, Installed { loaded, config });
    Ok(())
}

/// Compiles the program and finds in it what the P4Info names.
fn verify(config: Option<p4::ForwardingPipelineConfig>) -> Result<Installed, Failure> {
    let Some(config) = config else {
        return Err(Failure::invalid("the config is missing; only COMMIT takes none"));
    };
    let Some(given) = &config.p4info else {
        return Err(Failure::invalid(
            "the config has no P4Info; give the one of the program in p4_device_config",
        ));
    };
    let loaded = device_config::load(&config.p4_device_config, Some(given))?;
    Ok(Installed { loaded, config })
}

/// A switch of its own for a program that does not run yet.
fn stage(running: &Switch, installed: Installed) -> Saved {
    let mut switch = running.clone();
    switch.set_pipeline(Arc::clone(&installed.loaded.pipeline));
    Saved { installed, switch, digests: DigestConfigs::default() }
}

/// Runs a saved program with the state that was written to it.
fn commit(device: &mut Device, switch: &mut Switch, saved: Saved) -> Result<(), Failure> {
    let Saved { installed, switch: staged, digests } = saved;
    switch.set_pipeline(Arc::clone(&installed.loaded.pipeline));
    if let Some(written) = staged.state() {
        switch.set_state(written.clone());
    }
    *switch.pre_mut() = staged.pre().clone();
    device.digests = digests;
    device.installed = Some(installed);
    Ok(())
}

/// Entities in an order in which each finds what it refers to.
fn everything() -> [p4::Entity; 11] {
    use p4::entity::Entity as Of;
    use p4::packet_replication_engine_entry::Type;
    let entries = p4::TableEntry {
        counter_data: Some(p4::CounterData::default()),
        meter_config: Some(p4::MeterConfig::default()),
        ..Default::default()
    };
    let default_entries = p4::TableEntry { is_default_action: true, ..entries.clone() };
    let replication =
        |of| Of::PacketReplicationEngineEntry(p4::PacketReplicationEngineEntry { r#type: Some(of) });
    [
        Of::ActionProfileMember(p4::ActionProfileMember::default()),
        Of::ActionProfileGroup(p4::ActionProfileGroup::default()),
        Of::TableEntry(default_entries),
        Of::TableEntry(entries),
        Of::CounterEntry(p4::CounterEntry::default()),
        Of::MeterEntry(p4::MeterEntry::default()),
        Of::RegisterEntry(p4::RegisterEntry::default()),
        Of::ValueSetEntry(p4::ValueSetEntry::default()),
        Of::DigestEntry(p4::DigestEntry::default()),
        replication(Type::MulticastGroupEntry(p4::MulticastGroupEntry::default())),
        replication(Type::CloneSessionEntry(p4::CloneSessionEntry::default())),
    ]
    .map(|entity| p4::Entity { entity: Some(entity) })
}

/// Writes the state of the running program to the next one.
fn carry_over(running: &Target<'_>, next: &mut Saved) -> Result<(), Failure> {
    let Saved { installed, switch, digests } = next;
    let now = running.now;
    let mut target =
        Target { catalog: &installed.loaded.catalog, switch, digests, now, is_replay: true, pipe: 0 };
    for wanted in everything() {
        let mut found = Vec::new();
        running.read(&wanted, &mut found)?;
        for entity in found {
            let Some(mut update) = rewrite(entity) else { continue };
            let mut written = target.write(&update);
            // Entries that both programs come with are there already.
            if written.as_ref().is_err_and(|failure| failure.code == Code::AlreadyExists) {
                update.r#type = p4::update::Type::Modify.into();
                written = target.write(&update);
            }
            written.map_err(|failure| {
                Failure::invalid(format!(
                    "the state cannot be kept under the new program: {}",
                    failure.message
                ))
            })?;
        }
    }
    Ok(())
}

/// The update that writes what was read; none for what the program itself sets.
fn rewrite(entity: p4::Entity) -> Option<p4::Update> {
    use p4::entity::Entity as Of;
    use p4::update::Type;
    let verb = match &entity.entity {
        Some(Of::TableEntry(entry)) if entry.is_const => return None,
        Some(Of::TableEntry(entry)) if entry.is_default_action => Type::Modify,
        Some(Of::CounterEntry(_) | Of::MeterEntry(_) | Of::RegisterEntry(_) | Of::ValueSetEntry(_)) => {
            Type::Modify
        }
        _ => Type::Insert,
    };
    Some(p4::Update { r#type: verb.into(), entity: Some(entity) })
}

/// The parts of the running program's config that a request asks for; none if there is no program.
pub(super) fn get(
    device: &Device,
    switch: &Switch,
    response_type: i32,
) -> Result<Option<p4::ForwardingPipelineConfig>, Failure> {
    let Ok(running) = device.running(switch) else { return Ok(None) };
    let (p4info, device_config) = match ResponseType::try_from(response_type) {
        Ok(ResponseType::All) => (true, true),
        Ok(ResponseType::CookieOnly) => (false, false),
        Ok(ResponseType::P4infoAndCookie) => (true, false),
        Ok(ResponseType::DeviceConfigAndCookie) => (false, true),
        Err(_) => return Err(Failure::invalid(format!("there is no response type {response_type}"))),
    };
    let config = &running.config;
    Ok(Some(p4::ForwardingPipelineConfig {
        p4info: config.p4info.clone().filter(|_| p4info),
        p4_device_config: if device_config { config.p4_device_config.clone() } else { Vec::new() },
        cookie: config.cookie,
    }))
}
