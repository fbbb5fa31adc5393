//! The calls of the service: each takes the one lock, finds its device, and hands over to the file of its
//! verb.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use p4cc_exec::Pipeline;
use p4cc_p4runtime::errors::{Failure, MetadataLimit, Outcomes, UpdateError};
use p4cc_p4runtime::server::answers::{Answer, Room};
use p4cc_p4runtime::server::connections::Peer;
use p4cc_p4runtime::server::outbox::outbox;
use p4cc_p4runtime::server::stopping::Stopping;
use p4cc_p4runtime::server::whole;
use p4cc_p4runtime::{Devices, Held, NoSuchDevice};
use p4cc_switch::Switch;
use p4cc_units::Time;
use prost::Message as _;
use tokio::sync::{Mutex, MutexGuard};
use tokio_stream::Stream as Messages;
use tonic::{Code, Request, Response, Status, Streaming};

use super::answer::OpenRead;
use super::batches::{self, Manner, Outcome, Told};
use super::clients::{Client, Clients, SHARED};
use super::device::{self, Device, Loaded};
use super::{Options, pipeline, streams};
use crate::pipes;
use crate::proto::bfrt_proto as wire;
use crate::tables::Done;
use crate::tables::ageing::Change;
use crate::target::{ALL_PIPES, Scope, Target, no_program};
use wire::bf_runtime_server::BfRuntime;

/// Updates after which packets and other requests have their turn.
const TURN: usize = 1_024;

type StreamOf<T> = Pin<Box<dyn Messages<Item = Result<T, Status>> + Send>>;

impl UpdateError for wire::Error {
    const TYPE_URL: &'static str = "type.googleapis.com/bfrt_proto.Error";

    fn new(canonical_code: i32, message: String) -> Self {
        Self { canonical_code, message, ..Self::default() }
    }
}

/// What a request's metadata ask for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wishes {
    until: Option<Instant>,
    pub(super) errors_in_answer: bool,
    ignores_missing: bool,
    /// What the client takes of a status.
    pub(super) metadata: MetadataLimit,
}

impl Wishes {
    fn of<T>(request: &Request<T>) -> Self {
        let metadata = request.metadata();
        let number = |name: &str| metadata.get(name)?.to_str().ok()?.parse::<u64>().ok();
        let (seconds, nanos) = (number("deadline_sec"), number("deadline_nsec"));
        let span =
            Duration::from_secs(seconds.unwrap_or(0)).checked_add(Duration::from_nanos(nanos.unwrap_or(0)));
        let until = (seconds.is_some() || nanos.is_some()).then_some(span).flatten();
        Self {
            until: until.and_then(|span| Instant::now().checked_add(span)),
            errors_in_answer: number("error_in_resp") == Some(1),
            ignores_missing: number("ignore_not_found") == Some(1),
            metadata: Peer::of(request).metadata(),
        }
    }

    /// # Errors
    /// The time is over.
    pub(super) fn check_time(&self, done: usize) -> Result<(), Failure> {
        match self.until {
            Some(until) if Instant::now() >= until => Err(Failure::new(
                Code::DeadlineExceeded,
                format!("the time that the request gave was over after {done} of its members"),
            )),
            _ => Ok(()),
        }
    }
}

/// Everything behind the one lock.
#[derive(Default)]
struct Inner {
    clients: Clients,
    /// By device id, made when first used.
    devices: BTreeMap<u64, Device>,
}

/// The service; clones share everything.
#[derive(Clone)]
pub(super) struct Service {
    owner: Arc<dyn Devices>,
    options: Arc<Options>,
    /// Tokio's mutex is fair: requests are applied in arrival order.
    inner: Arc<Mutex<Inner>>,
    last_session: Arc<AtomicU64>,
    room: Room,
    stopping: Stopping,
}

impl Service {
    pub(super) fn new(owner: Arc<dyn Devices>, options: Options) -> Self {
        let options = Arc::new(options);
        let (inner, last_session, room, stopping) = Default::default();
        Self { owner, options, inner, last_session, room, stopping }
    }

    /// The number of a new stream.
    pub(super) fn next_session(&self) -> u64 {
        self.last_session.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// # Errors
    /// There is no such device.
    pub(super) fn check_device(&self, device_id: u64) -> Result<(), Failure> {
        match self.owner.ids().contains(&device_id) {
            true => Ok(()),
            false => Err(Failure::not_found(NoSuchDevice(device_id).to_string())),
        }
    }

    /// Everything, when a request's turn comes.
    ///
    /// # Errors
    /// The server is to end.
    async fn lock(&self) -> Result<MutexGuard<'_, Inner>, Failure> {
        self.stopping.unless(self.inner.lock()).await
    }

    /// # Errors
    /// The server is to end.
    pub(super) async fn with_clients<T>(&self, f: impl FnOnce(&mut Clients) -> T) -> Result<T, Failure> {
        Ok(f(&mut self.lock().await?.clients))
    }

    pub(super) fn stopping(&self) -> &Stopping {
        &self.stopping
    }

    pub(super) fn room(&self) -> &Room {
        &self.room
    }

    /// Applies one request to one device, when its turn comes.
    async fn apply<T>(
        &self,
        device_id: u64,
        f: impl FnOnce(&mut Clients, &mut Device, &Loaded, (&mut Switch, Time)) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut f = Some(f);
        loop {
            let pipeline = {
                let mut inner = self.lock().await?;
                // The owner may be busy for a while; other connections are served meanwhile.
                let lent = tokio::task::block_in_place(|| self.apply_locked(&mut inner, device_id, &mut f));
                match lent? {
                    Lent::Done(result) => return result,
                    Lent::New(pipeline) => pipeline,
                }
            };
            // The tables of a large program take a moment to make, which nobody else waits for.
            let name = self.options.p4_name.as_deref();
            let loaded = Arc::new(tokio::task::block_in_place(|| Loaded::new(&pipeline, name))?);
            let mut inner = self.lock().await?;
            tokio::task::block_in_place(|| {
                let device = inner.devices.entry(device_id).or_default();
                self.owner.with_device(device_id, &mut |switch, _| device.load(switch, &loaded))
            })
            .map_err(|missing| Failure::not_found(missing.to_string()))?;
        }
    }

    fn apply_locked<T, F>(
        &self,
        inner: &mut MutexGuard<'_, Inner>,
        device_id: u64,
        f: &mut Option<F>,
    ) -> Result<Lent<T>, Failure>
    where
        F: FnOnce(&mut Clients, &mut Device, &Loaded, (&mut Switch, Time)) -> Result<T, Failure>,
    {
        let Inner { clients, devices } = &mut **inner;
        let mut result = None;
        let lent = self.owner.with_device(device_id, &mut |switch, now| {
            let device = devices.entry(device_id).or_default();
            let Some(loaded) = device.loaded(switch) else {
                result = Some(switch.observation().pipeline().cloned().map(Lent::New).ok_or_else(no_program));
                return;
            };
            let Some(f) = f.take() else { return };
            result = Some(Ok(Lent::Done(f(clients, device, &loaded, (switch, now)))));
        });
        match (lent, result) {
            (Ok(()), Some(result)) => result,
            (Err(missing), _) => Err(Failure::not_found(missing.to_string())),
            (Ok(()), None) => Err(Failure::new(Code::Internal, "the device was not lent")),
        }
    }

    /// Lends a device to a request that reads or writes tables.
    pub(super) async fn with_target<T>(
        &self,
        who: Who<'_>,
        f: impl FnOnce(&mut Target<'_>) -> T,
    ) -> Result<T, Failure> {
        let scope = who.scope;
        self.apply(scope.device_id.into(), |clients, device, loaded, (switch, now)| {
            who.check(clients, loaded)?;
            let done = device.with_target(loaded, (switch, now, scope), f);
            for update in streams::group_changes(&mut device.kept) {
                let wants = |client: &Client| client.wants.enable_selector_update_change_notifications;
                clients.send(scope.device_id.into(), &update, wants);
            }
            Ok(done)
        })
        .await
    }

    /// Sends what switches held to the clients that asked for it; how many messages went out.
    pub(super) fn deliver(&self, now: Time, held: &[Held]) -> usize {
        let mut inner = self.inner.blocking_lock();
        let mut sent = 0;
        let is_watched =
            |device: &Device| device.kept.ageing.is_on() || device.kept.attributes.notifies_any();
        let watched = inner.devices.iter().filter(|(_, device)| is_watched(device)).map(|(&id, _)| id);
        for device_id in watched.collect::<Vec<u64>>() {
            let deliver =
                |clients: &mut Clients, device: &mut Device, loaded: &Loaded, lent: (&mut Switch, Time)| {
                    let ports = streams::port_changes(device, loaded, lent.0);
                    let wants = |client: &Client| client.wants.enable_port_status_change_notifications;
                    let told =
                        ports.iter().map(|update| clients.send(device_id, update, wants)).sum::<usize>();
                    Ok(told + sweep(clients, device, loaded, (lent.0, now)))
                };
            sent += self.deliver_to(&mut inner, device_id, deliver);
        }
        for held in held {
            let deliver = |clients: &mut Clients, _: &mut Device, loaded: &Loaded, _: (&mut Switch, Time)| {
                Ok(deliver(clients, loaded, held))
            };
            sent += self.deliver_to(&mut inner, held.device_id, deliver);
        }
        sent
    }

    /// A device that went away, or whose program no client has asked for yet, has nobody to hear of it.
    fn deliver_to<F>(&self, inner: &mut MutexGuard<'_, Inner>, device_id: u64, deliver: F) -> usize
    where
        F: FnOnce(&mut Clients, &mut Device, &Loaded, (&mut Switch, Time)) -> Result<usize, Failure>,
    {
        match self.apply_locked(inner, device_id, &mut Some(deliver)) {
            Ok(Lent::Done(sent)) => sent.unwrap_or(0),
            Ok(Lent::New(_)) | Err(_) => 0,
        }
    }

    async fn write_batch(
        &self,
        request: &wire::WriteRequest,
        wishes: Wishes,
    ) -> Result<Vec<Outcome>, Failure> {
        let manner = Manner::new(request.atomicity, wishes.ignores_missing)?;
        let scope = request.target.as_ref().map_or_else(no_scope, Scope::from);
        let who = Who { client: request.client_id, p4_name: &request.p4_name, scope };
        if manner.is_whole {
            wishes.check_time(0)?;
            return self
                .with_target(who, |target| {
                    batches::apply(target, request.updates.iter(), (manner, &self.stopping))
                })
                .await;
        }
        let mut outcomes = Vec::with_capacity(request.updates.len());
        for updates in request.updates.chunks(TURN) {
            wishes.check_time(outcomes.len())?;
            outcomes.extend(
                self.with_target(who, |target| {
                    batches::apply(target, updates.iter(), (manner, &self.stopping))
                })
                .await?,
            );
        }
        if request.updates.is_empty() {
            self.with_target(who, |_| ()).await?;
        }
        Ok(outcomes)
    }
}

/// What came of lending a device to a request.
enum Lent<T> {
    Done(Result<T, Failure>),
    /// The switch runs a program whose tables are to be made first.
    New(Arc<Pipeline>),
}

fn no_scope() -> Scope {
    Scope { device_id: 0, pipe: ALL_PIPES, direction: 0xff, parser: 0xff }
}

/// Whose request it is, and what for.
#[derive(Clone, Copy)]
pub(super) struct Who<'a> {
    pub(super) client: u32,
    pub(super) p4_name: &'a str,
    pub(super) scope: Scope,
}

impl Who<'_> {
    /// A client is bound to the program, or names it in the request.
    fn check(&self, clients: &Clients, loaded: &Loaded) -> Result<(), Failure> {
        let bound = clients.get(self.client).and_then(|client| client.bound.as_deref());
        let named = (!self.p4_name.is_empty()).then_some(self.p4_name);
        match named.or(bound) {
            Some(name) if name == loaded.name || name == SHARED => Ok(()),
            Some(name) => Err(Failure::not_found(format!(
                "there is no program `{name:.128}`; the device runs {}",
                loaded.name
            ))),
            None => Err(Failure::not_found(format!(
                "client {} is bound to no program; BIND it, or give p4_name in the request",
                self.client
            ))),
        }
    }
}

/// Digests of one device.
fn deliver(clients: &Clients, loaded: &Loaded, held: &Held) -> usize {
    let device_id = u32::try_from(held.device_id).unwrap_or(u32::MAX);
    let is_bound = |client: &Client| client.bound.as_deref() == Some(loaded.name.as_str());
    let mut sent = 0;
    for message in &held.digests {
        let scope = Scope { device_id, pipe: message.pipe.into(), ..no_scope() };
        let Some(update) = streams::digest(loaded, scope, message) else { continue };
        sent += clients.send(held.device_id, &update, |client| {
            is_bound(client) && client.wants.enable_learn_notifications
        });
    }
    sent
}

/// Tells of entries that fell idle, or are hit again.
fn sweep(
    clients: &Clients,
    device: &mut Device,
    loaded: &Loaded,
    (switch, now): (&mut Switch, Time),
) -> usize {
    let device_id = switch.device_id();
    let scope = Scope { device_id: u32::try_from(device_id).unwrap_or(u32::MAX), ..no_scope() };
    let updates = device.with_target(loaded, (switch, now, scope), |target| {
        let changes = pipes::sweep(target);
        let mut update = |(pipe, table, entry, change)| {
            target.scope.pipe = pipe;
            streams::idle(target, table, &entry, change)
        };
        changes.into_iter().filter_map(&mut update).collect::<Vec<_>>()
    });
    let mut sent = 0;
    for (change, update) in updates {
        sent += clients.send(device_id, &update, |client| {
            let wants = match change {
                Change::Idle => client.wants.enable_idletimeout_notifications,
                Change::Active => client.wants.enable_entry_active_notifications,
            };
            wants && client.bound.as_deref() == Some(loaded.name.as_str())
        });
    }
    sent
}

/// What became of one update, as an answer tells it.
fn told(update: &wire::Update, outcome: &Outcome, manner: Manner) -> wire::Error {
    match outcome {
        Ok(Done::Applied) => wire::Error::default(),
        Ok(Done::Modified) => wire::Error {
            message: "the entry was there, and was modified".to_owned(),
            code: Code::AlreadyExists as i32,
            ..Default::default()
        },
        Err(failure) if batches::is_ignored(update, failure, manner) => {
            wire::Error { message: failure.message.clone(), code: failure.code as i32, ..Default::default() }
        }
        Err(failure) => UpdateError::new(failure.code as i32, failure.message.clone()),
    }
}

#[tonic::async_trait]
impl BfRuntime for Service {
    type ReadStream = StreamOf<wire::ReadResponse>;
    type StreamChannelStream = StreamOf<wire::StreamMessageResponse>;

    async fn write(
        &self,
        request: Request<wire::WriteRequest>,
    ) -> Result<Response<wire::WriteResponse>, Status> {
        let wishes = Wishes::of(&request);
        let request = request.into_inner();
        let outcomes = self.write_batch(&request, wishes).await.map_err(Failure::status)?;
        let manner = Manner::new(request.atomicity, wishes.ignores_missing).map_err(Failure::status)?;
        let pairs = || request.updates.iter().zip(&outcomes);
        let all = pairs().map(|(update, outcome)| told(update, outcome, manner));
        let tells =
            |error: &wire::Error| wishes.errors_in_answer || (error.canonical_code == 0 && error.code != 0);
        let mut errors = Told::default();
        all.filter(tells).for_each(|error| errors.push(error));
        // As the chip's server does: what failed fails the call too, whatever the answer would have said.
        let results = pairs().map(|(update, outcome)| match outcome {
            Err(failure) if !batches::is_ignored(update, failure, manner) => Err(failure.clone()),
            _ => Ok(()),
        });
        results.collect::<Outcomes>().status::<wire::Error>(wishes.metadata)?;
        Ok(Response::new(wire::WriteResponse { status: errors.list }))
    }

    async fn read(&self, request: Request<wire::ReadRequest>) -> Result<Response<Self::ReadStream>, Status> {
        let wishes = Wishes::of(&request);
        let peer = Peer::of(&request);
        let request = request.into_inner();
        let scope = request.target.as_ref().map_or_else(no_scope, Scope::from);
        let who = Who { client: request.client_id, p4_name: &request.p4_name, scope };
        self.with_target(who, |_| ()).await.map_err(Failure::status)?;
        let place = self.room.enter(peer, request.encoded_len());
        let place = self.stopping.unless(place).await.map_err(Failure::status)?.map_err(Failure::status)?;
        let read = Arc::new(OpenRead::new(self.clone(), request, scope, wishes));
        Ok(Response::new(Box::pin(Answer::new(place, read))))
    }

    async fn set_forwarding_pipeline_config(
        &self,
        request: Request<wire::SetForwardingPipelineConfigRequest>,
    ) -> Result<Response<wire::SetForwardingPipelineConfigResponse>, Status> {
        let request = request.into_inner();
        let device_id = request.device_id.into();
        let staging = self.apply(device_id, |_, device, loaded, (switch, _)| {
            let starts_anew = pipeline::starts_anew(loaded, &request);
            Ok(starts_anew.then(|| (device.loaded(switch), switch.staging())))
        });
        // A large state is made, and the old one freed, while others are served.
        let staging = staging.await.map_err(Failure::status)?;
        let mut staged = tokio::task::block_in_place(|| {
            let (loaded, staging) = staging?;
            loaded.map(|loaded| device::stage(&loaded, staging))
        });
        let set = self.apply(device_id, |clients, device, loaded, (switch, _)| {
            pipeline::set(clients, device, loaded, (switch, staged.as_mut()), &request)
        });
        set.await.map_err(Failure::status)?;
        tokio::task::block_in_place(|| drop(staged));
        Ok(Response::new(wire::SetForwardingPipelineConfigResponse::default()))
    }

    async fn get_forwarding_pipeline_config(
        &self,
        request: Request<wire::GetForwardingPipelineConfigRequest>,
    ) -> Result<Response<wire::GetForwardingPipelineConfigResponse>, Status> {
        let peer = Peer::of(&request);
        let device_id = request.into_inner().device_id.into();
        let loaded = self.apply(device_id, |_, device, _, (switch, _)| Ok(device.loaded(switch)));
        let loaded =
            loaded.await.and_then(|loaded| loaded.ok_or_else(no_program)).map_err(Failure::status)?;
        let held = self.room.hold(&peer, loaded.program_json.len() + loaded.chip_json.len());
        let held = self.stopping.unless(held).await.map_err(Failure::status)?.map_err(Failure::status)?;
        Ok(whole::answer(pipeline::get(&loaded), held))
    }

    async fn stream_channel(
        &self,
        request: Request<Streaming<wire::StreamMessageRequest>>,
    ) -> Result<Response<Self::StreamChannelStream>, Status> {
        let session = self.next_session();
        let (sender, outgoing) = outbox();
        tokio::spawn(streams::serve(self.clone(), session, sender, request.into_inner()));
        Ok(Response::new(Box::pin(outgoing)))
    }
}
