//! A server over one switch, a client of it, and the packets between.

use std::sync::Arc;
use std::time::Duration;

use p4cc_p4runtime::proto::google::rpc;
use p4cc_p4runtime::proto::p4::config::v1::P4Info;
use p4cc_p4runtime::proto::p4::v1 as p4;
use p4cc_p4runtime::{Devices, Epoch, NoSuchDevice, Options, Server};
use p4cc_switch::{DEFAULT_PASS_LIMIT, Packet, PortConfig, Switch, SwitchConfig, TimestampUnit};
use p4cc_units::{Rate, Time};
use parking_lot::Mutex;
use prost::Message;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Status, Streaming};
use tonic_prost::ProstCodec;

use crate::pushed::id;
use p4::entity::Entity as Of;
use p4::field_match::FieldMatchType;
use p4::get_forwarding_pipeline_config_request::ResponseType;
use p4::stream_message_request::Update as Said;
use p4::stream_message_response::Update as Told;
use p4::update::Type;

pub const PROGRAM: &str = include_str!("program.p4");
pub const DEVICE: u64 = 1;
pub const CPU_PORT: u32 = 510;
/// Ports of the switch.
pub const PORTS: std::ops::Range<u32> = 0..8;
/// How far the network's zero is from the Epoch.
pub const EPOCH_NS: u64 = 1_800_000_000_000_000_000;
pub const PATIENCE: Duration = Duration::from_secs(20);

struct Bench {
    switch: Mutex<Switch>,
    now: Mutex<Time>,
}

impl Devices for Bench {
    fn ids(&self) -> Vec<u64> {
        vec![DEVICE]
    }

    fn with_device(&self, device_id: u64, f: &mut dyn FnMut(&mut Switch, Time)) -> Result<(), NoSuchDevice> {
        if device_id != DEVICE {
            return Err(NoSuchDevice(device_id));
        }
        let now = *self.now.lock();
        f(&mut self.switch.lock(), now);
        Ok(())
    }

    fn since_epoch_ns(&self, now: Time) -> u64 {
        EPOCH_NS + now.as_ns()
    }

    fn packet_out(&self, device_id: u64, packet: Packet) -> Result<(), NoSuchDevice> {
        let now = *self.now.lock();
        self.with_device(device_id, &mut |switch, _| switch.packet_out(now, packet.clone()))
    }
}

/// Any free port of this machine.
const LOCAL: &str = "127.0.0.1:0";

/// A switch with the program of this folder, its server, and a client.
pub struct Lab {
    bench: Arc<Bench>,
    server: Server,
    runtime: Runtime,
    channel: Channel,
    pub info: P4Info,
}

/// One StreamChannel.
pub struct Stream {
    to: mpsc::Sender<p4::StreamMessageRequest>,
    from: Streaming<p4::StreamMessageResponse>,
}

impl Lab {
    pub fn new() -> Self {
        let mut lab = Self::bare(CPU_PORT);
        lab.install(PROGRAM);
        lab.info = lab.info_of_switch();
        lab
    }

    /// A lab whose switch has no program.
    pub fn bare(cpu_port: u32) -> Self {
        Self::bare_with(cpu_port, Options::default())
    }

    /// The same with a server that is told more.
    pub fn bare_with(cpu_port: u32, options: Options) -> Self {
        let ports = PORTS.map(|port| PortConfig {
            port,
            rate: Rate::from_bps(1_000_000_000),
            capacity_pkts: 16,
            ..PortConfig::default()
        });
        let config = SwitchConfig {
            device_id: DEVICE,
            ports: ports.collect(),
            timestamp_unit: TimestampUnit::Us,
            buffer: None,
            cpu_port: Some(cpu_port),
            drop_port: 511,
            seed: 0,
            pass_limit: DEFAULT_PASS_LIMIT,
            deflect_on_drop: false,
        };
        let switch = Mutex::new(Switch::new(config).expect("the configuration is sound"));
        let bench = Arc::new(Bench { switch, now: Mutex::new(Time::ZERO) });
        let devices = Arc::clone(&bench) as Arc<dyn Devices>;
        let addr = LOCAL.parse().expect("an address");
        let server = Server::start_with(addr, devices, options).expect("a server");
        Self::over(bench, server)
    }

    /// A lab beside this one: a copy of its switch behind a server that knows this one's programs.
    pub fn beside(&self) -> Self {
        let switch = Mutex::new(self.switch(|switch| switch.fork(1)));
        let bench = Arc::new(Bench { switch, now: Mutex::new(Time::ZERO) });
        let devices = Arc::clone(&bench) as Arc<dyn Devices>;
        let server = self.server.start_beside(LOCAL.parse().expect("an address"), devices).expect("a server");
        let mut lab = Self::over(bench, server);
        lab.info = lab.info_of_switch();
        lab
    }

    fn over(bench: Arc<Bench>, server: Server) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("threads");
        let endpoint = Endpoint::from_shared(format!("http://{}", server.local_addr())).expect("an address");
        // Answers that are left where they are keep no other from coming.
        let endpoint = endpoint.http2_max_header_list_size(1 << 20).initial_connection_window_size(1 << 26);
        let channel = runtime.block_on(endpoint.connect()).expect("a connection");
        Self { bench, server, runtime, channel, info: P4Info::default() }
    }

    /// Gives the switch a program without a client.
    pub fn install(&self, program: &str) {
        self.server.install(DEVICE, program.as_bytes().to_vec()).expect("the program compiles");
    }

    /// The P4Info that the server has.
    pub fn info_of_switch(&self) -> P4Info {
        let request = p4::GetForwardingPipelineConfigRequest { device_id: DEVICE, response_type: 0 };
        let method = "/p4.v1.P4Runtime/GetForwardingPipelineConfig";
        let got: p4::GetForwardingPipelineConfigResponse = self.call(method, request).expect("an answer");
        got.config.and_then(|config| config.p4info).expect("a program with a P4Info")
    }

    /// A lab with a primary of the default role.
    pub fn with_primary() -> (Self, Stream) {
        let lab = Self::new();
        let mut stream = lab.open();
        assert_eq!(lab.arbitrate(&mut stream, 1, None), Code::Ok);
        (lab, stream)
    }

    /// One call with one answer.
    pub fn call<M, R>(&self, method: &'static str, message: M) -> Result<R, Status>
    where
        M: Message + Send + Sync + 'static,
        R: Message + Default + Send + Sync + 'static,
    {
        let mut grpc = Grpc::new(self.channel.clone());
        self.runtime.block_on(async {
            grpc.ready().await.expect("the server is there");
            let path = PathAndQuery::from_static(method);
            let answer = grpc.unary(Request::new(message), path, ProstCodec::<M, R>::default()).await;
            answer.map(tonic::Response::into_inner)
        })
    }

    /// A batch of updates by the primary with election id 1.
    pub fn write(&self, request: p4::WriteRequest) -> Result<(), Status> {
        let election_id = request.election_id.or(Some(p4::Uint128 { high: 0, low: 1 }));
        let request = p4::WriteRequest { device_id: DEVICE, election_id, ..request };
        self.call::<_, p4::WriteResponse>("/p4.v1.P4Runtime/Write", request).map(|_| ())
    }

    /// One update; its own code if it failed.
    pub fn update(&self, verb: Type, entity: Of) -> Result<(), (Code, String)> {
        let update = p4::Update { r#type: verb.into(), entity: Some(p4::Entity { entity: Some(entity) }) };
        let written = self.write(p4::WriteRequest { updates: vec![update], ..Default::default() });
        written.map_err(|status| match errors(&status).into_iter().next() {
            Some(error) => (Code::from(error.canonical_code), error.message),
            None => (status.code(), status.message().to_owned()),
        })
    }

    pub fn insert(&self, entity: Of) -> Result<(), (Code, String)> {
        self.update(Type::Insert, entity)
    }

    pub fn modify(&self, entity: Of) -> Result<(), (Code, String)> {
        self.update(Type::Modify, entity)
    }

    /// What a read of one entity gives.
    pub fn read(&self, entity: Of) -> Result<Vec<Of>, Status> {
        let mut answer = self.try_read(vec![entity])?;
        let mut found = Vec::new();
        while let Some(message) = self.take(&mut answer)? {
            found.extend(message.entities.into_iter().filter_map(|entity| entity.entity));
        }
        Ok(found)
    }

    /// Starts a read.
    pub fn try_read(&self, entities: Vec<Of>) -> Result<Streaming<p4::ReadResponse>, Status> {
        let entities = entities.into_iter().map(|entity| p4::Entity { entity: Some(entity) }).collect();
        let request = p4::ReadRequest { device_id: DEVICE, entities, ..Default::default() };
        let mut grpc = Grpc::new(self.channel.clone());
        self.runtime.block_on(async {
            grpc.ready().await.expect("the server is there");
            let path = PathAndQuery::from_static("/p4.v1.P4Runtime/Read");
            let codec = ProstCodec::<_, p4::ReadResponse>::default();
            Ok(grpc.server_streaming(Request::new(request), path, codec).await?.into_inner())
        })
    }

    /// The same where nothing is wrong with the request.
    pub fn start_read(&self, entities: Vec<Of>) -> Streaming<p4::ReadResponse> {
        self.try_read(entities).expect("a read begins")
    }

    /// The next message of an answer; none at its end.
    pub fn take(&self, answer: &mut Streaming<p4::ReadResponse>) -> Result<Option<p4::ReadResponse>, Status> {
        self.runtime
            .block_on(async { tokio::time::timeout(PATIENCE, answer.message()).await.expect("in time") })
    }

    /// Asks for parts of the config, and leaves the answer where it is; none if it has not begun by then.
    pub fn start_config(
        &self,
        parts: ResponseType,
        patience: Duration,
    ) -> Option<Streaming<p4::GetForwardingPipelineConfigResponse>> {
        let request =
            p4::GetForwardingPipelineConfigRequest { device_id: DEVICE, response_type: parts.into() };
        let mut grpc = Grpc::new(self.channel.clone()).max_decoding_message_size(1 << 30);
        self.runtime.block_on(async {
            grpc.ready().await.expect("the server is there");
            let path = PathAndQuery::from_static("/p4.v1.P4Runtime/GetForwardingPipelineConfig");
            let codec = ProstCodec::default();
            let asked = grpc.server_streaming(Request::new(request), path, codec);
            let begun = tokio::time::timeout(patience, asked).await.ok()?;
            Some(begun.expect("an answer").into_inner())
        })
    }

    /// The config that an answer has.
    pub fn take_config(
        &self,
        answer: &mut Streaming<p4::GetForwardingPipelineConfigResponse>,
    ) -> Result<p4::ForwardingPipelineConfig, Status> {
        let taken = self
            .runtime
            .block_on(async { tokio::time::timeout(PATIENCE, answer.message()).await.expect("in time") })?;
        Ok(taken.and_then(|answer| answer.config).expect("a config"))
    }

    /// Opens a stream.
    pub fn open(&self) -> Stream {
        let (to, requests) = mpsc::channel(16);
        let mut grpc = Grpc::new(self.channel.clone());
        let opened = self.runtime.block_on(async {
            grpc.ready().await.expect("the server is there");
            let path = PathAndQuery::from_static("/p4.v1.P4Runtime/StreamChannel");
            let codec = ProstCodec::<p4::StreamMessageRequest, p4::StreamMessageResponse>::default();
            grpc.streaming(Request::new(ReceiverStream::new(requests)), path, codec).await
        });
        Stream { to, from: opened.expect("a stream").into_inner() }
    }

    /// Says something on a stream.
    pub fn say(&self, stream: &Stream, update: Option<Said>) {
        let message = p4::StreamMessageRequest { update };
        self.runtime.block_on(stream.to.send(message)).expect("the stream is open");
    }

    /// The next message of a stream; its status if the server ended it.
    pub fn hear(&self, stream: &mut Stream) -> Result<Told, Status> {
        let next =
            self.runtime.block_on(async { tokio::time::timeout(PATIENCE, stream.from.message()).await });
        let next = next.expect("the server says something")?;
        Ok(next.and_then(|message| message.update).expect("a message of a kind"))
    }

    /// Asks to be primary of a role; how things stand.
    pub fn arbitrate(&self, stream: &mut Stream, election_id: u64, role: Option<p4::Role>) -> Code {
        let election_id = Some(p4::Uint128 { high: 0, low: election_id });
        let update = p4::MasterArbitrationUpdate { device_id: DEVICE, role, election_id, status: None };
        self.say(stream, Some(Said::Arbitration(update)));
        match self.hear(stream) {
            Ok(Told::Arbitration(told)) => Code::from(told.status.unwrap_or_default().code),
            Ok(other) => panic!("no arbitration: {other:?}"),
            Err(status) => status.code(),
        }
    }

    /// Lets a packet of the program's header arrive.
    pub fn receive(&self, port: u32, kind: u8, address: u32) {
        let mut bytes = vec![kind];
        bytes.extend_from_slice(&address.to_be_bytes());
        self.receive_bytes(port, &bytes);
    }

    /// Lets a packet arrive.
    pub fn receive_bytes(&self, port: u32, bytes: &[u8]) {
        let now = *self.bench.now.lock();
        self.switch(|switch| switch.receive(now, port, Packet::new(bytes, 0)));
    }

    /// Looks at the switch.
    pub fn switch<T>(&self, f: impl FnOnce(&mut Switch) -> T) -> T {
        f(&mut self.bench.switch.lock())
    }

    /// Sets the time and hands over what waits for controllers; how many messages were sent.
    pub fn deliver_at(&self, now_ns: u64) -> usize {
        *self.bench.now.lock() = Time::from_ns(now_ns);
        self.server.deliver(Time::from_ns(now_ns)).sent.iter().map(|(_, count)| count).sum()
    }

    /// Has requests leave, as at the server's end.
    pub fn begin_stop(&self) {
        self.server.begin_stop();
    }

    /// Lets controllers lead the time.
    pub fn lead_by_epochs(&self) {
        self.server.lead_by_epochs();
    }

    /// The next epoch that a controller asks for.
    pub fn take_epoch(&self, timeout: Duration) -> Option<Epoch> {
        self.server.take_epoch(timeout)
    }

    /// When something will be due without a packet.
    pub fn next_due_ns(&self) -> Option<u64> {
        self.server.next_due().map(Time::as_ns)
    }

    pub fn table(&self, alias: &str) -> u32 {
        id(self.info.tables.iter().map(|one| &one.preamble), alias)
    }

    pub fn profile(&self, alias: &str) -> u32 {
        id(self.info.action_profiles.iter().map(|one| &one.preamble), alias)
    }

    pub fn digest(&self) -> u32 {
        id(self.info.digests.iter().map(|one| &one.preamble), "seen_t")
    }

    /// `forward` to a port.
    pub fn forward(&self, port: u8) -> p4::Action {
        let action_id = id(self.info.actions.iter().map(|one| &one.preamble), "forward");
        p4::Action { action_id, params: vec![p4::action::Param { param_id: 1, value: vec![port] }] }
    }

    /// The same for a table.
    pub fn forwards(&self, port: u8) -> Option<p4::TableAction> {
        Some(p4::TableAction { r#type: Some(p4::table_action::Type::Action(self.forward(port))) })
    }
}

/// The errors of a batch's members.
pub fn errors(status: &Status) -> Vec<p4::Error> {
    let details = rpc::Status::decode(status.details()).expect("a status").details;
    details.iter().map(|any| p4::Error::decode(any.value.as_slice()).expect("an error")).collect()
}

/// A match of one field.
pub fn field(field_id: u32, of: FieldMatchType) -> p4::FieldMatch {
    p4::FieldMatch { field_id, field_match_type: Some(of) }
}

/// A match of an exact field.
pub fn exact(field_id: u32, value: &[u8]) -> p4::FieldMatch {
    field(field_id, FieldMatchType::Exact(p4::field_match::Exact { value: value.to_vec() }))
}
