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
use prost::Message;
use tokio::sync::{Mutex, MutexGuard};
use tokio_stream::Stream;
use tonic::{Code, Request, Response, Status, Streaming};

use super::answers::Answer;
use super::arbitration::Rule;
use super::connections::Peer;
use super::device::{Device, Link};
use super::epochs::Epochs;
use super::outbox::outbox;
use super::reads::Reads;
use super::roles::RoleKey;
use super::stopping::Stopping;
use super::work::Workers;
use super::{Delivered, Devices, Held};
use super::{pipeline, snapshot, stream, whole};
use crate::codec::uint128;
use crate::device_config;
use crate::entity::Target;
use crate::entity::digest_lists::Instant;
use crate::entity::table;
use crate::errors::{Failure, Outcomes};
use crate::packet_io::decode_packet_in;
use crate::proto::p4::v1 as p4;
use p4::p4_runtime_server::P4Runtime;
use p4::stream_message_response::Update;
use p4::write_request::Atomicity;

/// Version of the P4Runtime API that the messages are of.
const API_VERSION: &str = "1.5.0";

type StreamOf<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

/// The service; clones share everything.
#[derive(Clone)]
pub(super) struct Service {
    devices: Arc<dyn Devices>,
    rule: Rule,
    /// By device id, made when first used. Tokio's mutex is fair: requests are applied in arrival order.
    states: Arc<Mutex<BTreeMap<u64, Device>>>,
    last_session: Arc<AtomicU64>,
    epochs: Arc<Epochs>,
    workers: Workers,
    reads: Reads,
    stopping: Stopping,
}

impl Service {
    pub(super) fn new(devices: Arc<dyn Devices>, rule: Rule) -> Self {
        Self {
            devices,
            rule,
            states: Arc::default(),
            last_session: Arc::default(),
            epochs: Arc::default(),
            workers: Workers::default(),
            reads: Reads::default(),
            stopping: Stopping::default(),
        }
    }

    /// A service for devices that are copies of this one's: with the same programs, without controllers.
    pub(super) fn beside(&self, devices: Arc<dyn Devices>) -> Self {
        let states = self.states.blocking_lock();
        let copies = states.iter().map(|(&device_id, device)| (device_id, device.without_controllers()));
        Self { states: Arc::new(Mutex::new(copies.collect())), ..Self::new(devices, self.rule) }
    }

    /// The devices, when a request's turn comes.
    ///
    /// # Errors
    /// The server is to end.
    async fn lock(&self) -> Result<MutexGuard<'_, BTreeMap<u64, Device>>, Failure> {
        self.stopping.unless(self.states.lock()).await
    }

    /// Applies one request to one device, when its turn comes.
    pub(super) async fn apply<T>(
        &self,
        device_id: u64,
        f: impl FnOnce(&mut Device, &mut Switch, Time) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut states = self.lock().await?;
        // The owner may be busy for a while; other connections are served meanwhile.
        tokio::task::block_in_place(|| self.apply_locked(&mut states, device_id, f))
    }

    /// The same for a request that changes what reads show.
    pub(super) async fn change<T>(
        &self,
        device_id: u64,
        f: impl FnOnce(&mut Device, &mut Switch, Time) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut states = self.lock().await?;
        tokio::task::block_in_place(|| self.change_locked(&mut states, device_id, f))
    }

    fn change_locked<T>(
        &self,
        states: &mut MutexGuard<'_, BTreeMap<u64, Device>>,
        device_id: u64,
        f: impl FnOnce(&mut Device, &mut Switch, Time) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.reads.complete(device_id, &mut |make| {
            self.apply_locked(states, device_id, |device, switch, now| {
                make(device, switch, now);
                Ok(())
            })
        });
        self.apply_locked(states, device_id, f)
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
                result =
                    Some(f(states.entry(device_id).or_insert_with(|| Device::new(self.rule)), switch, now));
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
        // A server that ends has no controllers left.
        let Ok(mut states) = self.lock().await else { return };
        if let Some(device) = states.get_mut(&device_id) {
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

    pub(super) fn workers(&self) -> &Workers {
        &self.workers
    }

    pub(super) fn reads(&self) -> &Reads {
        &self.reads
    }

    pub(super) fn stopping(&self) -> &Stopping {
        &self.stopping
    }

    /// Whether some device has a primary controller.
    pub(super) fn has_primary(&self) -> bool {
        self.states.blocking_lock().values().any(Device::has_primary)
    }

    /// Installs a program that no controller pushed.
    pub(super) fn install(&self, device_id: u64, device_config: Vec<u8>) -> Result<(), Failure> {
        let apply = |f: &mut dyn FnMut(&mut Device, &mut Switch)| {
            let mut states = self.states.blocking_lock();
            self.change_locked(&mut states, device_id, |device, switch, _| {
                f(device, switch);
                Ok(())
            })
        };
        let mut staging = None;
        apply(&mut |_, switch| staging = Some(switch.staging()))?;
        let mut next = staging.map(|switch| pipeline::prepare(switch, device_config)).transpose()?;
        let mut before = None;
        apply(&mut |device, switch| {
            device.saved = None;
            before = next.take().map(|next| pipeline::commit(device, switch, next));
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
        self.change_locked(&mut states, device_id, |device, switch, now| {
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
                let idle = switch.observation().state().and_then(State::next_idle);
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
    stopping: &Stopping,
) -> Result<Outcomes, Failure> {
    let key = RoleKey::new(&request.role, request.role_id)?;
    let role = device.role(&key)?;
    role.arbitration.check_primary(request.election_id.as_ref().map(uint128))?;
    // Usually everything is: then there is nothing to keep.
    let denied = |(at, update)| Some((at, role.check_write(&key, update).err()?));
    let mut denied: BTreeMap<usize, Failure> =
        request.updates.iter().enumerate().filter_map(denied).collect();
    let whole = match Atomicity::try_from(request.atomicity) {
        Ok(Atomicity::ContinueOnError) => false,
        // No packet passes between two updates, so that going back is atomic for the data plane too.
        Ok(Atomicity::RollbackOnError | Atomicity::DataplaneAtomic) => true,
        Err(_) => return Err(Failure::invalid(format!("there is no atomicity {}", request.atomicity))),
    };
    device.with_target(switch, now, |target| {
        let mut write = |target: &mut Target<'_>, at: usize, update: &p4::Update| match denied.remove(&at) {
            Some(failure) => Err(failure),
            None => stopping.check().and_then(|()| target.write(update)),
        };
        let updates = request.updates.iter().enumerate();
        if !whole {
            return Ok(updates.map(|(at, update)| write(target, at, update)).collect());
        }
        let before = target.before();
        let failed = updates
            .map(|(at, update)| (at, write(target, at, update)))
            .find_map(|(at, written)| Some((at, written.err()?)));
        let count = request.updates.len();
        let Some((at, failure)) = failed else { return Ok((0..count).map(|_| Ok(())).collect()) };
        target.restore(before);
        let aborted = Failure::new(Code::Aborted, format!("not applied, as update {at} of the batch failed"));
        let outcome = |place| Err(if place == at { failure.clone() } else { aborted.clone() });
        Ok((0..count).map(outcome).collect())
    })
}

#[tonic::async_trait]
impl P4Runtime for Service {
    type ReadStream = StreamOf<p4::ReadResponse>;
    type StreamChannelStream = StreamOf<p4::StreamMessageResponse>;

    async fn write(&self, request: Request<p4::WriteRequest>) -> Result<Response<p4::WriteResponse>, Status> {
        let peer = Peer::of(&request);
        let request = request.into_inner();
        let applied = self.change(request.device_id, |device, switch, now| {
            write(device, switch, now, &request, &self.stopping)
        });
        applied.await.map_err(Failure::status)?.status::<p4::Error>(peer.metadata())?;
        Ok(Response::new(p4::WriteResponse {}))
    }

    async fn read(&self, request: Request<p4::ReadRequest>) -> Result<Response<Self::ReadStream>, Status> {
        let peer = Peer::of(&request);
        let request = request.into_inner();
        let device_id = request.device_id;
        let role = RoleKey::new(&request.role, 0).map_err(Failure::status)?;
        let checked = self.apply(device_id, |device, switch, now| {
            device.role(&role)?;
            device.with_target(switch, now, |_| Ok(()))
        });
        checked.await.map_err(Failure::status)?;
        let metadata = peer.metadata();
        let place = self.reads.room.enter(peer, request.encoded_len());
        let place = self.stopping.unless(place).await.map_err(Failure::status)?.map_err(Failure::status)?;
        let read = self.reads.open(self, device_id, role, request.entities, metadata);
        Ok(Response::new(Box::pin(Answer::new(place, read))))
    }

    async fn set_forwarding_pipeline_config(
        &self,
        request: Request<p4::SetForwardingPipelineConfigRequest>,
    ) -> Result<Response<p4::SetForwardingPipelineConfigResponse>, Status> {
        pipeline::set(self, request.into_inner()).await.map_err(Failure::status)?;
        Ok(Response::new(p4::SetForwardingPipelineConfigResponse {}))
    }

    async fn get_forwarding_pipeline_config(
        &self,
        request: Request<p4::GetForwardingPipelineConfigRequest>,
    ) -> Result<Response<p4::GetForwardingPipelineConfigResponse>, Status> {
        let peer = Peer::of(&request);
        let got = pipeline::get(self, &peer, request.into_inner()).await;
        let (config, held) = got.map_err(Failure::status)?;
        Ok(whole::answer(p4::GetForwardingPipelineConfigResponse { config }, held))
    }

    async fn stream_channel(
        &self,
        request: Request<Streaming<p4::StreamMessageRequest>>,
    ) -> Result<Response<Self::StreamChannelStream>, Status> {
        let session = self.next_session();
        let (sender, outgoing) = outbox();
        let link = Link { sender, released: Arc::default() };
        tokio::spawn(stream::serve(self.clone(), session, link, request.into_inner()));
        Ok(Response::new(Box::pin(outgoing)))
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
