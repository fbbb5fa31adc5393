//! SetForwardingPipelineConfig and GetForwardingPipelineConfig.

use p4cc_p4runtime::errors::Failure;
use p4cc_switch::Switch;
use tonic::Code;

use super::clients::{Clients, SHARED};
use super::device::{Device, Loaded};
use crate::proto::bfrt_proto as wire;
use wire::SetForwardingPipelineConfigResponseType as Phase;
use wire::set_forwarding_pipeline_config_request::Action;
use wire::stream_message_response::Update;

/// Pipes of the chip, which one program has.
const PIPES: u32 = 4;

/// Whether a request starts the device anew, so that a switch is to be staged for it.
pub(super) fn starts_anew(loaded: &Loaded, request: &wire::SetForwardingPipelineConfigRequest) -> bool {
    let begins = [Action::VerifyAndWarmInitBegin, Action::VerifyAndWarmInitBeginAndEnd];
    begins.map(|action| action as i32).contains(&request.action) && verify(loaded, request).is_ok()
}

/// Binds a client to the program, or starts the device anew with what was staged.
///
/// # Errors
/// Another program, or a phase that does not follow.
pub(super) fn set(
    clients: &mut Clients,
    device: &mut Device,
    loaded: &Loaded,
    (switch, staged): (&mut Switch, Option<&mut Switch>),
    request: &wire::SetForwardingPipelineConfigRequest,
) -> Result<(), Failure> {
    let action = Action::try_from(request.action)
        .map_err(|_| Failure::invalid(format!("there is no action {}", request.action)))?;
    match action {
        Action::Bind => bind(clients, loaded, request),
        Action::Verify => verify(loaded, request),
        Action::VerifyAndWarmInitBegin | Action::VerifyAndWarmInitBeginAndEnd => {
            verify(loaded, request)?;
            let staged = staged.ok_or_else(|| Failure::new(Code::Internal, "nothing was staged"))?;
            begin(clients, request.client_id)?;
            device.start_anew(switch, staged);
            tell(clients, request, Phase::WarmInitStarted);
            if action == Action::VerifyAndWarmInitBeginAndEnd {
                end(clients, request.client_id)?;
                tell(clients, request, Phase::WarmInitFinished);
            }
            Ok(())
        }
        Action::WarmInitEnd => {
            if !request.config.is_empty() {
                return Err(Failure::invalid("WARM_INIT_END takes no config; it ends what was begun before"));
            }
            end(clients, request.client_id)?;
            tell(clients, request, Phase::WarmInitFinished);
            Ok(())
        }
        Action::ReconcileAndWarmInitEnd => Err(Failure::unimplemented(
            "RECONCILE_AND_WARM_INIT_END is not supported; use VERIFY_AND_WARM_INIT_BEGIN_AND_END and write the entries again",
        )),
    }
}

fn bind(
    clients: &mut Clients,
    loaded: &Loaded,
    request: &wire::SetForwardingPipelineConfigRequest,
) -> Result<(), Failure> {
    let [config] = request.config.as_slice() else {
        return Err(Failure::invalid("BIND takes one config, with the program's p4_name"));
    };
    // Who is not subscribed is told so first.
    clients.get_mut(request.client_id)?;
    if config.p4_name != loaded.name && config.p4_name != SHARED {
        return Err(other_program(loaded, &config.p4_name));
    }
    clients.bind(request.client_id, &config.p4_name)
}

fn other_program(loaded: &Loaded, name: &str) -> Failure {
    Failure::not_found(format!("there is no program `{name:.128}`; the device runs {}", loaded.name))
}

/// The config must be of the program that runs: what the chip's compiler makes of another cannot run here.
fn verify(loaded: &Loaded, request: &wire::SetForwardingPipelineConfigRequest) -> Result<(), Failure> {
    let [config] = request.config.as_slice() else {
        let count = request.config.len();
        return Err(Failure::invalid(format!("{count} configs are given; give that of {}", loaded.name)));
    };
    if config.p4_name != loaded.name {
        return Err(Failure::unimplemented(format!(
            "program `{:.128}` cannot be loaded: files of the chip's compiler do not run here; push its source over \
             P4Runtime, or start p4cc-switch with it. The device runs {}",
            config.p4_name, loaded.name
        )));
    }
    Ok(())
}

fn begin(clients: &mut Clients, id: u32) -> Result<(), Failure> {
    let Ok(client) = clients.get_mut(id) else { return Ok(()) };
    if client.is_starting {
        return Err(Failure::new(
            Code::Unavailable,
            "the device is restarting; end the restart with WARM_INIT_END",
        ));
    }
    client.is_starting = true;
    Ok(())
}

fn end(clients: &mut Clients, id: u32) -> Result<(), Failure> {
    let Ok(client) = clients.get_mut(id) else { return Ok(()) };
    if !std::mem::take(&mut client.is_starting) {
        return Err(Failure::new(
            Code::Unavailable,
            "nothing was begun; call VERIFY_AND_WARM_INIT_BEGIN before WARM_INIT_END",
        ));
    }
    Ok(())
}

fn tell(clients: &Clients, request: &wire::SetForwardingPipelineConfigRequest, phase: Phase) {
    let response = wire::SetForwardingPipelineConfigResponse {
        set_forwarding_pipeline_config_response_type: phase.into(),
    };
    let update = Update::SetForwardingPipelineConfigResponse(response);
    clients.send(request.device_id.into(), &update, |_| true);
}

/// The program and its tables.
pub(super) fn get(loaded: &Loaded) -> wire::GetForwardingPipelineConfigResponse {
    let profile = wire::forwarding_pipeline_config::Profile {
        profile_name: "pipe".to_owned(),
        pipe_scope: (0..PIPES).collect(),
        ..Default::default()
    };
    let config = wire::ForwardingPipelineConfig {
        p4_name: loaded.name.clone(),
        bfruntime_info: loaded.program_json.clone().into_bytes(),
        profiles: vec![profile],
    };
    let chip = wire::NonP4Config { bfruntime_info: loaded.chip_json.clone().into_bytes() };
    wire::GetForwardingPipelineConfigResponse { config: vec![config], non_p4_config: Some(chip) }
}
