//! SetForwardingPipelineConfig and GetForwardingPipelineConfig.

#![expect(deprecated, reason = "numbers of roles are honoured")]

use std::sync::Arc;

use p4cc_switch::Switch;
use prost::Message;

use super::carry::carry_over;
use super::connections::Peer;
use super::device::{Device, Installed, Saved};
use super::roles::RoleKey;
use super::service::Service;
use super::whole::Held;
use super::work::Cancel;
use crate::codec::uint128;
use crate::device_config;
use crate::entity::Target;
use crate::entity::digest_lists::DigestConfigs;
use crate::errors::Failure;
use crate::proto::p4::v1 as p4;
use p4::get_forwarding_pipeline_config_request::ResponseType;
use p4::set_forwarding_pipeline_config_request::Action;

/// Who pushes: checked before anything is compiled, and again when the program is to run.
struct Pusher {
    role: RoleKey,
    election_id: Option<u128>,
}

impl Pusher {
    fn check(&self, device: &mut Device) -> Result<(), Failure> {
        let role = device.role(&self.role)?;
        role.arbitration.check_primary(self.election_id)?;
        role.check_pipeline(&self.role)
    }
}

/// Verifies, saves or commits a program. It is compiled, and its state is made, while the device serves
/// others and runs the program before; the device is held for the exchange only.
pub(super) async fn set(
    service: &Service,
    request: p4::SetForwardingPipelineConfigRequest,
) -> Result<(), Failure> {
    let (device_id, config) = (request.device_id, request.config);
    let role = RoleKey::new(&request.role, request.role_id)?;
    let pusher = Pusher { role, election_id: request.election_id.as_ref().map(uint128) };
    service.apply(device_id, |device, _, _| pusher.check(device)).await?;
    let action = Action::try_from(request.action).unwrap_or(Action::Unspecified);
    match action {
        Action::Unspecified => {
            return Err(Failure::invalid("the request has no action; give VERIFY_AND_COMMIT, for instance"));
        }
        Action::Commit if config.is_some() => {
            return Err(Failure::invalid("COMMIT takes no config; it commits the one saved before"));
        }
        Action::Verify => {
            let verified = service.workers().run(move |cancel| verify(config, cancel).map(drop));
            return service.stopping().unless(verified).await?;
        }
        Action::Commit | Action::VerifyAndSave | Action::VerifyAndCommit | Action::ReconcileAndCommit => {}
    }
    let _turn = service.stopping().unless(service.workers().turn(device_id)).await??;
    if action == Action::Commit {
        let exchanged = service.change(device_id, |device, switch, _| {
            pusher.check(device)?;
            let saved = device.saved.take().ok_or_else(|| {
                Failure::not_found("there is no saved config; call VERIFY_AND_SAVE before COMMIT")
            })?;
            Ok(commit(device, switch, saved))
        });
        return exchanged.await.map(discard);
    }
    let staging = service.apply(device_id, |device, switch, _| {
        pusher.check(device)?;
        Ok(switch.staging())
    });
    let staging = staging.await?;
    let staged = service.workers().run(move |cancel| {
        let installed = verify(config, cancel)?;
        Ok(stage(staging, installed))
    });
    let mut next = service.stopping().unless(staged).await??;
    let exchanged = service.change(device_id, |device, switch, now| {
        // Another may have become primary meanwhile.
        pusher.check(device)?;
        if action == Action::VerifyAndSave {
            return Ok(device.saved.replace(next).map(Box::new));
        }
        if action == Action::ReconcileAndCommit
            && let Ok(running) = device.running(switch)
        {
            let loaded = Arc::clone(&running.loaded);
            let digests = &mut device.digests;
            let switch = &mut *switch;
            let mut running =
                Target { catalog: &loaded.catalog, switch, digests, now, is_replay: false, pipe: 0 };
            carry_over(&mut running, &mut next, service.stopping())?;
        }
        device.saved = None;
        Ok(Some(Box::new(commit(device, switch, next))))
    });
    exchanged.await.map(discard)
}

/// Frees a program with its state, which may take a moment, where it keeps nobody waiting.
fn discard<T>(gone: T) {
    tokio::task::block_in_place(|| drop(gone));
}

/// Compiles a program that comes without a controller, with the P4Info that is its own.
pub(super) fn prepare(switch: Switch, p4_device_config: Vec<u8>) -> Result<Saved, Failure> {
    let loaded = device_config::load(&p4_device_config, None, &Cancel::default())?;
    let p4info = Some(loaded.p4info.clone());
    let config = p4::ForwardingPipelineConfig { p4info, p4_device_config, cookie: None };
    Ok(stage(switch, Installed { loaded, config: Arc::new(config) }))
}

/// Compiles the program and finds in it what the P4Info names.
fn verify(config: Option<p4::ForwardingPipelineConfig>, cancel: &Cancel) -> Result<Installed, Failure> {
    let Some(config) = config else {
        return Err(Failure::invalid("the config is missing; only COMMIT takes none"));
    };
    let Some(given) = &config.p4info else {
        return Err(Failure::invalid(
            "the config has no P4Info; give the one of the program in p4_device_config",
        ));
    };
    let loaded = device_config::load(&config.p4_device_config, Some(given), cancel)?;
    Ok(Installed { loaded, config: Arc::new(config) })
}

/// A program that does not run yet, with a state of its own on a switch that is for nothing else.
fn stage(mut switch: Switch, installed: Installed) -> Saved {
    switch.control().set_pipeline(Arc::clone(&installed.loaded.pipeline));
    Saved { installed, switch, digests: DigestConfigs::default() }
}

/// Runs a program with the state that was written to it; what ran before is given back.
pub(super) fn commit(device: &mut Device, switch: &mut Switch, next: Saved) -> Saved {
    let Saved { installed, switch: mut staged, digests } = next;
    switch.control().take_over(&mut staged);
    let digests = std::mem::replace(&mut device.digests, digests);
    let before = device.installed.replace(installed.clone());
    Saved { installed: before.unwrap_or(installed), switch: staged, digests }
}

/// The parts of the running program's config that a request asks for, once there is room for them; none if
/// there is no program.
pub(super) async fn get(
    service: &Service,
    peer: &Peer,
    request: p4::GetForwardingPipelineConfigRequest,
) -> Result<(Option<p4::ForwardingPipelineConfig>, Option<Held>), Failure> {
    let running = service.apply(request.device_id, |device, switch, _| {
        Ok(device.running(switch).ok().map(|running| Arc::clone(&running.config)))
    });
    let Some(config) = running.await? else { return Ok((None, None)) };
    let response_type = request.response_type;
    let (p4info, device_config) = match ResponseType::try_from(response_type) {
        Ok(ResponseType::All) => (true, true),
        Ok(ResponseType::CookieOnly) => (false, false),
        Ok(ResponseType::P4infoAndCookie) => (true, false),
        Ok(ResponseType::DeviceConfigAndCookie) => (false, true),
        Err(_) => return Err(Failure::invalid(format!("there is no response type {response_type}"))),
    };
    let of_info = config.p4info.as_ref().filter(|_| p4info);
    let of_program = if device_config { config.p4_device_config.as_slice() } else { &[] };
    let bytes = of_info.map_or(0, Message::encoded_len) + of_program.len();
    let held = service.stopping().unless(service.reads().room.hold(peer, bytes)).await??;
    let parts = p4::ForwardingPipelineConfig {
        p4info: of_info.cloned(),
        p4_device_config: of_program.to_vec(),
        cookie: config.cookie,
    };
    Ok((Some(parts), held))
}
