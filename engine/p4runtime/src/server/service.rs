//! The calls of the service: each takes the one lock, finds
//! its device, and hands over to the file of its verb.

#![expect(deprecated, reason = "numbers of roles are honoured")]

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use p4cc_exec::State;
use p4cc_switch::Switch;
use p4cc_units::Time;
use tokio::sync::{Mutex, MutexGuard, mpsc};
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Request, Response, Status, Streaming};

use super::device::{Device, Link, MAX_WAITING_MESSAGES};
use super::epochs::Epochs;
use super::roles::RoleKey;
use super::{Delivered, Devices, Held};
use super::{pipeline, snapshot, stream};
use crate::codec::uint128;
use crate::device_config;
use crate::entity::digest::Instant;
use crate::entity::table;
use crate::errors::{Failure, batch_status};
use crate::packet_io::decode_packet_in;
use crate::proto::p4::v1 as p4;
use p4::p4_runtime_server::P4Runtime;
use p4::stream_message_response::Update;
use p4::write_request::Atomicity;

/// Version of the P4Runtime API that the messages are of.
const API_VERSION: &str = "1.5.0";
/// Most entities in one message of a read.
const READ_CHUNK: usize = 1_024;

type StreamOf<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

/// The service; clones share everything.
#[derive(Clone)]
pub(super) struct Service {
    devices: Arc<dyn Devices>,
    /// By device id, made when first used. Tokio's mutex is fair: requests are applied in arrival order.
    states: Arc<Mutex<BTreeMap<u64, Device>>>,
    last_session: Arc<AtomicU64>,
    epochs: Arc<Epochs>,
}

impl Service {
    pub(super) fn new(devices: Arc<dyn Devices>) -> Self {
        Self { devices, states: Arc::default(), last_session: Arc::default(), epochs: Arc::default() }
    }

    /// A service for devices that are copies of this one's: with the same programs, without controllers.
    pub(super) fn beside(&self, devices: Arc<dyn Devices>) -> Self {
        let states = self.states.blocking_lock();
        let copies = states.iter().map(|(&device_id, device)| (device_id, device.without_controllers()));
        Self { states: Arc::new(Mutex::new(copies.collect())), ..Self::new(devices) }
    }

    /// Applies one request to one device, when its turn comes.
    pub(super) async fn apply<T>(
        &self,
        device_id: u64,
        f: impl FnOnce(&mut Device, &mut Switch, Time) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut states = self.states.lock().await;
        // The owner may be busy for a while, and compiling takes its time; other connections go on meanwhile.
        tokio::task::block_in_place(|| self.apply_locked(&mut states, device_id, f))
    }

    fn apply_locked<T>(
        &self,
        states: &mut MutexGuard<'_, BTreeMap<u64, Device>>,
        device_id: u64,
        f: impl FnOnce(&mut Device, &mut Switch, Time) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let (mut f, mut result) = (Some(f), None);
        let lent = self.devices.with_device(device_id, &mut |switch, now| {
            if let Some(f) = f.take() {
                result = Some(f(states.entry(device_id).or_default(), switch, now));
            }
        });
        match (lent, result) {
            (Ok(()), Some(result)) => result,
            (Err(missing), _) => Err(Failure::not_found(missing.to_string())),
            (Ok(()), None) => Err(Failure::new(tonic::Code::Internal, "the device was not lent")),
        }
    }

    /// Like [`Self::apply`], for what concerns only the
    /// controllers of a device. An unknown device does nothing.
    pub(super) async fn with_controllers(&self, device_id: u64, f: impl FnOnce(&mut Device)) {
        if let Some(device) = self.states.lock().await.get_mut(&device_id) {
            f(device);
        }
    }

    /// The number of a new stream.
    pub(super) fn next_session(&self) -> u64 {
        self.last_session.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(super) fn devices(&self) -> &dyn Devices {
        &*self.devices
    }

    pub(super) fn epochs(&self) -> &Epochs {
        &self.epochs
    }

    /// Whether some device has a primary controller.
    pub(super) fn has_primary(&self) -> bool {
        self.states.blocking_lock().values().any(Device::has_primary)
    }

    /// Installs a program that no controller pushed.
    pub(super) fn install(&self, device_id: u64, device_config: Vec<u8>) -> Result<(), Failure> {
        let mut states = self.states.blocking_lock();
        self.apply_locked(&mut states, device_id, |device, switch, _| {
            pipeline::install(device, switch, device_config)
        })
    }

    /// The text of the program that a device runs.
    pub(super) fn device_config(&self, device_id: u64) -> Option<String> {
        let mut states = self.states.blocking_lock();
        let text = self.apply_locked(&mut states, device_id, |device, switch, _| {
            device_config::text(&device.running(switch)?.config.p4_device_config).map(str::to_owned)
        });
        text.ok()
    }

    /// A device's state.
    pub(super) fn save(&self, device_id: u64) -> Result<Vec<u8>, Failure> {
        let mut states = self.states.blocking_lock();
        self.apply_locked(&mut states, device_id, |device, switch, now| {
            device.with_target(switch, now, |target| snapshot::save(target))
        })
    }

    /// Puts a device into a state that was saved.
    pub(super) fn restore(&self, device_id: u64, state: &[u8]) -> Result<(), Failure> {
        let mut states = self.states.blocking_lock();
        self.apply_locked(&mut states, device_id, |device, switch, now| {
            device.with_target(switch, now, |target| snapshot::load(target, state))
        })
    }

    /// Takes what the switches hold for their controllers and sends it.
    pub(super) fn deliver(&self, now: Time) -> Delivered {
        let mut states = self.states.blocking_lock();
        let timestamp_ns = i64::try_from(self.devices.since_epoch_ns(now)).unwrap_or(i64::MAX);
        let mut all = Delivered::default();
        for device_id in self.devices.ids() {
            let mut sent = 0;
            let done = self.apply_locked(&mut states, device_id, |device, switch, _| {
                let (packets, messages) = (switch.take_packet_ins(), switch.take_digests());
                let Ok(running) = device.running(switch) else { return Ok(()) };
                let loaded = Arc::clone(&running.loaded);
                for packet in packets {
                    let packet = decode_packet_in(&loaded.catalog, &packet.to_vec());
                    let update = Update::Packet(packet.clone());
                    sent += device.send_to_primaries(&update, |role| role.receives(&packet));
                }
                for list in device.digests.lists(&loaded.catalog, &messages, Instant { now, timestamp_ns }) {
                    let id = list.digest_id;
                    sent += device.send_to_primaries(&Update::Digest(list), |role| role.has(id));
                }
                let idle = device.with_target(switch, now, table::take_idle)?;
                sent += device.send_idle(&table::idle_messages(&loaded.catalog, &idle), timestamp_ns);
                if !(messages.is_empty() && idle.is_empty()) {
                    let pipeline = Arc::clone(&loaded.pipeline);
                    all.held.push(Held { device_id, pipeline, digests: messages, idle });
                }
                Ok(())
            });
            // A device that went away between the two calls has nothing to deliver.
            let _: Result<(), Failure> = done;
            if sent > 0 {
                all.sent.push((device_id, sent));
            }
        }
        all
    }

    /// When the next digest list or idle entry is due by time alone.
    pub(super) fn next_due(&self) -> Option<Time> {
        let mut states = self.states.blocking_lock();
        let due = self.devices.ids().into_iter().filter_map(|device_id| {
            let of_device = self.apply_locked(&mut states, device_id, |device, switch, _| {
                device.running(switch)?;
                let idle = switch.state().and_then(State::next_idle);
                Ok(idle.into_iter().chain(device.digests.next_due()).min())
            });
            of_device.ok().flatten()
        });
        due.min()
    }
}

/// The updates of a batch. By default each on its own: one that fails stops nothing.
fn write(
    device: &mut Device,
    switch: &mut Switch,
    now: Time,
    request: &p4::WriteRequest,
) -> Result<Vec<Result<(), Failure>>, Failure> {
    let key = RoleKey::new(&request.role, request.role_id)?;
    let role = device.role(&key)?;
    role.arbitration.check_primary(request.election_id.as_ref().map(uint128))?;
    let allowed: Vec<Result<(), Failure>> =
        request.updates.iter().map(|update| role.check_write(&key, update)).collect();
    let whole = match Atomicity::try_from(request.atomicity) {
        Ok(Atomicity::ContinueOnError) => false,
        // No packet passes between two updates, so that going back is atomic for the data plane too.
        Ok(Atomicity::RollbackOnError | Atomicity::DataplaneAtomic) => true,
        Err(_) => return Err(Failure::invalid(format!("there is no atomicity {}", request.atomicity))),
    };
    device.with_target(switch, now, |target| {
        let updates = request.updates.iter().zip(allowed);
        if !whole {
            return Ok(updates
                .map(|(update, allowed)| allowed.and_then(|()| target.write(update)))
                .collect());
        }
        let before = target.before();
        let failed = updates.enumerate().find_map(|(at, (update, allowed))| {
            let failure = allowed.and_then(|()| target.write(update)).err()?;
            Some((at, failure))
        });
        let Some((at, failure)) = failed else { return Ok(vec![Ok(()); request.updates.len()]) };
        target.restore(before);
        let aborted = Failure::new(Code::Aborted, format!("not applied, as update {at} of the batch failed"));
        let mut results = vec![Err(aborted); request.updates.len()];
        results[at] = Err(failure);
        Ok(results)
    })
}

type ReadOutcome = (Vec<p4::Entity>, Vec<Result<(), Failure>>);

/// What a role may see of what is asked for.
fn read(
    device: &mut Device,
    switch: &mut Switch,
    now: Time,
    request: &p4::ReadRequest,
) -> Result<ReadOutcome, Failure> {
    let key = RoleKey::new(&request.role, 0)?;
    device.role(&key)?;
    let (mut found, results) = device.with_target(switch, now, |target| {
        let mut found = Vec::new();
        let results = request.entities.iter().map(|entity| target.read(entity, &mut found)).collect();
        Ok((found, results))
    })?;
    let role = device.role(&key)?;
    found.retain(|entity| role.has_entity(entity));
    Ok((found, results))
}

#[tonic::async_trait]
impl P4Runtime for Service {
    type ReadStream = StreamOf<p4::ReadResponse>;
    type StreamChannelStream = StreamOf<p4::StreamMessageResponse>;

    async fn write(&self, request: Request<p4::WriteRequest>) -> Result<Response<p4::WriteResponse>, Status> {
        let request = request.into_inner();
        let applied =
            self.apply(request.device_id, |device, switch, now| write(device, switch, now, &request));
        let results = applied.await;
        batch_status::<p4::Error>(&results.map_err(Failure::status)?)?;
        Ok(Response::new(p4::WriteResponse {}))
    }

    async fn read(&self, request: Request<p4::ReadRequest>) -> Result<Response<Self::ReadStream>, Status> {
        let request = request.into_inner();
        let read = self.apply(request.device_id, |device, switch, now| read(device, switch, now, &request));
        let (mut found, results) = read.await.map_err(Failure::status)?;
        let end = batch_status::<p4::Error>(&results).err();
        // Messages are made one by one as the client takes them.
        let mut rest = std::mem::take(&mut found).into_iter();
        let chunks = std::iter::from_fn(move || {
            let entities: Vec<_> = rest.by_ref().take(READ_CHUNK).collect();
            (!entities.is_empty()).then(|| Ok(p4::ReadResponse { entities }))
        });
        Ok(Response::new(Box::pin(tokio_stream::iter(chunks.chain(end.map(Err))))))
    }

    async fn set_forwarding_pipeline_config(
        &self,
        request: Request<p4::SetForwardingPipelineConfigRequest>,
    ) -> Result<Response<p4::SetForwardingPipelineConfigResponse>, Status> {
        let request = request.into_inner();
        let election_id = request.election_id.as_ref().map(uint128);
        let set = self.apply(request.device_id, |device, switch, now| {
            let key = RoleKey::new(&request.role, request.role_id)?;
            let role = device.role(&key)?;
            role.arbitration.check_primary(election_id)?;
            role.check_pipeline(&key)?;
            pipeline::set(device, switch, request.action, request.config, now)
        });
        set.await.map_err(Failure::status)?;
        Ok(Response::new(p4::SetForwardingPipelineConfigResponse {}))
    }

    async fn get_forwarding_pipeline_config(
        &self,
        request: Request<p4::GetForwardingPipelineConfigRequest>,
    ) -> Result<Response<p4::GetForwardingPipelineConfigResponse>, Status> {
        let request = request.into_inner();
        let get = self.apply(request.device_id, |device, switch, _| {
            pipeline::get(device, switch, request.response_type)
        });
        let config = get.await.map_err(Failure::status)?;
        Ok(Response::new(p4::GetForwardingPipelineConfigResponse { config }))
    }

    async fn stream_channel(
        &self,
        request: Request<Streaming<p4::StreamMessageRequest>>,
    ) -> Result<Response<Self::StreamChannelStream>, Status> {
        let session = self.next_session();
        let (sender, receiver) = mpsc::channel(MAX_WAITING_MESSAGES);
        let link = Link { sender, released: Arc::default() };
        tokio::spawn(stream::serve(self.clone(), session, link, request.into_inner()));
        Ok(Response::new(Box::pin(ReceiverStream::new(receiver))))
    }

    async fn capabilities(
        &self,
        request: Request<p4::CapabilitiesRequest>,
    ) -> Result<Response<p4::CapabilitiesResponse>, Status> {
        let device_id = request.into_inner().device_id;
        if device_id != 0 && !self.devices.ids().contains(&device_id) {
            return Err(Failure::not_found(super::NoSuchDevice(device_id).to_string()).status());
        }
        let p4runtime_api_version = API_VERSION.to_owned();
        Ok(Response::new(p4::CapabilitiesResponse { p4runtime_api_version, ..Default::default() }))
    }
}
