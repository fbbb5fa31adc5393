//! A server over one switch without a program, and a client of it.

use std::sync::Arc;
use std::time::Duration;

use p4cc_p4runtime::proto::google::rpc;
use p4cc_p4runtime::proto::p4::config::v1::{P4Info, Preamble};
use p4cc_p4runtime::proto::p4::v1 as p4;
use p4cc_p4runtime::{Devices, NoSuchDevice, Server};
use p4cc_switch::{Packet, PortConfig, Switch, SwitchConfig, TimestampUnit};
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

use p4::entity::Entity as Of;
use p4::set_forwarding_pipeline_config_request::Action;
use p4::stream_message_request::Update as Said;
use p4::stream_message_response::Update as Told;
use p4::update::Type;

pub const DEVICE: u64 = 1;
/// The CPU port of the programs here.
const CPU_PORT: u32 = 255;
const PATIENCE: Duration = Duration::from_secs(20);

struct Bench(Mutex<Switch>);

impl Devices for Bench {
    fn ids(&self) -> Vec<u64> {
        vec![DEVICE]
    }

    fn with_device(&self, device_id: u64, f: &mut dyn FnMut(&mut Switch, Time)) -> Result<(), NoSuchDevice> {
        if device_id != DEVICE {
            return Err(NoSuchDevice(device_id));
        }
        f(&mut self.0.lock(), Time::ZERO);
        Ok(())
    }

    fn packet_out(&self, device_id: u64, packet: Packet) -> Result<(), NoSuchDevice> {
        self.with_device(device_id, &mut |switch, now| switch.packet_out(now, packet.clone()))
    }
}

/// The server, its switch, and the primary.
pub struct Lab {
    bench: Arc<Bench>,
    server: Server,
    runtime: Runtime,
    channel: Channel,
    to: mpsc::Sender<p4::StreamMessageRequest>,
    from: Mutex<Streaming<p4::StreamMessageResponse>>,
}

impl Lab {
    pub fn new() -> Self {
        let ports = (0..8).map(|port| PortConfig {
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
            cpu_port: Some(CPU_PORT),
            drop_port: 511,
            seed: 0,
            pass_limit: p4cc_switch::DEFAULT_PASS_LIMIT,
        };
        let bench = Arc::new(Bench(Mutex::new(Switch::new(config).expect("the configuration is sound"))));
        let devices = Arc::clone(&bench) as Arc<dyn Devices>;
        let server = Server::start("127.0.0.1:0".parse().expect("an address"), devices).expect("a server");
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("threads");
        let endpoint = Endpoint::from_shared(format!("http://{}", server.local_addr())).expect("an address");
        let channel = runtime.block_on(endpoint.connect()).expect("a connection");
        let (to, requests) = mpsc::channel(16);
        let mut grpc = Grpc::new(channel.clone());
        let opened = runtime.block_on(async {
            grpc.ready().await.expect("the server is there");
            let path = PathAndQuery::from_static("/p4.v1.P4Runtime/StreamChannel");
            let codec = ProstCodec::<p4::StreamMessageRequest, p4::StreamMessageResponse>::default();
            grpc.streaming(Request::new(ReceiverStream::new(requests)), path, codec).await
        });
        let from = Mutex::new(opened.expect("a stream").into_inner());
        let lab = Self { bench, server, runtime, channel, to, from };
        let election_id = Some(p4::Uint128 { high: 0, low: 1 });
        let update = p4::MasterArbitrationUpdate { device_id: DEVICE, election_id, ..Default::default() };
        lab.say(Said::Arbitration(update));
        assert!(matches!(lab.hear(), Told::Arbitration(_)));
        lab
    }

    /// A lab that runs a program with a P4Info.
    pub fn with(program: &str, info: &P4Info) -> Self {
        let lab = Self::new();
        lab.push(program, info).expect("the P4Info is one of the program");
        lab
    }

    fn call<M, R>(&self, method: &'static str, message: M) -> Result<R, Status>
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

    /// VERIFY_AND_COMMIT.
    pub fn push(&self, program: &str, info: &P4Info) -> Result<(), Status> {
        let config = p4::ForwardingPipelineConfig {
            p4info: Some(info.clone()),
            p4_device_config: program.as_bytes().to_vec(),
            cookie: None,
        };
        let request = p4::SetForwardingPipelineConfigRequest {
            device_id: DEVICE,
            election_id: Some(p4::Uint128 { high: 0, low: 1 }),
            action: Action::VerifyAndCommit.into(),
            config: Some(config),
            ..Default::default()
        };
        let method = "/p4.v1.P4Runtime/SetForwardingPipelineConfig";
        self.call::<_, p4::SetForwardingPipelineConfigResponse>(method, request).map(|_| ())
    }

    /// The P4Info that the server has.
    pub fn info(&self) -> P4Info {
        let request = p4::GetForwardingPipelineConfigRequest { device_id: DEVICE, response_type: 0 };
        let method = "/p4.v1.P4Runtime/GetForwardingPipelineConfig";
        let got: p4::GetForwardingPipelineConfigResponse = self.call(method, request).expect("an answer");
        got.config.and_then(|config| config.p4info).expect("a program with a P4Info")
    }

    /// One update; its own code and message if it failed.
    pub fn update(&self, verb: Type, entity: Of) -> Result<(), (Code, String)> {
        let update = p4::Update { r#type: verb.into(), entity: Some(p4::Entity { entity: Some(entity) }) };
        let request = p4::WriteRequest {
            device_id: DEVICE,
            election_id: Some(p4::Uint128 { high: 0, low: 1 }),
            updates: vec![update],
            ..Default::default()
        };
        let written = self.call::<_, p4::WriteResponse>("/p4.v1.P4Runtime/Write", request);
        written.map(|_| ()).map_err(|status| {
            let details = rpc::Status::decode(status.details()).expect("a status").details;
            let error = p4::Error::decode(details[0].value.as_slice()).expect("an error");
            (Code::from(error.canonical_code), error.message)
        })
    }

    pub fn insert(&self, entry: p4::TableEntry) -> Result<(), (Code, String)> {
        self.update(Type::Insert, Of::TableEntry(entry))
    }

    /// What a read of one entity gives.
    pub fn read(&self, entity: Of) -> Vec<Of> {
        let entities = vec![p4::Entity { entity: Some(entity) }];
        let request = p4::ReadRequest { device_id: DEVICE, entities, ..Default::default() };
        let mut grpc = Grpc::new(self.channel.clone());
        self.runtime.block_on(async {
            grpc.ready().await.expect("the server is there");
            let path = PathAndQuery::from_static("/p4.v1.P4Runtime/Read");
            let codec = ProstCodec::<_, p4::ReadResponse>::default();
            let answers = grpc.server_streaming(Request::new(request), path, codec).await;
            let mut answers = answers.expect("an answer").into_inner();
            let mut found = Vec::new();
            while let Some(answer) = answers.message().await.expect("an answer") {
                found.extend(answer.entities.into_iter().filter_map(|entity| entity.entity));
            }
            found
        })
    }

    /// All entries of a table.
    pub fn entries(&self, table_id: u32) -> Vec<p4::TableEntry> {
        let read = self.read(Of::TableEntry(p4::TableEntry { table_id, ..Default::default() }));
        let entry = |of| if let Of::TableEntry(entry) = of { Some(entry) } else { None };
        read.into_iter().filter_map(entry).collect()
    }

    pub fn say(&self, update: Said) {
        let message = p4::StreamMessageRequest { update: Some(update) };
        self.runtime.block_on(self.to.send(message)).expect("the stream is open");
    }

    /// The next message of the stream.
    pub fn hear(&self) -> Told {
        let mut from = self.from.lock();
        let next = self.runtime.block_on(async { tokio::time::timeout(PATIENCE, from.message()).await });
        let next = next.expect("the server says something").expect("the stream is open");
        next.and_then(|message| message.update).expect("a message of a kind")
    }

    /// Lets a packet arrive.
    pub fn receive(&self, port: u32, bytes: &[u8]) {
        self.bench.0.lock().receive(Time::ZERO, port, Packet::new(bytes, 0));
    }

    /// Hands over what waits for the controller.
    pub fn deliver(&self) {
        self.server.deliver(Time::ZERO);
    }

    /// The bytes that a port sends next.
    pub fn sent(&self, port: u32) -> Option<Vec<u8>> {
        let sent = self.bench.0.lock().transmit(Time::ZERO, port)?;
        Some(sent.packet.to_vec())
    }

    /// The same for what a message on the stream makes it send.
    pub fn sent_soon(&self, port: u32) -> Option<Vec<u8>> {
        let until = std::time::Instant::now() + PATIENCE;
        loop {
            let sent = self.sent(port);
            if sent.is_some() || std::time::Instant::now() > until {
                return sent;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// The P4Info that a program has by itself.
pub fn own_info(program: &str) -> P4Info {
    let lab = Lab::new();
    lab.server.install(DEVICE, program.as_bytes().to_vec()).expect("the program compiles");
    lab.info()
}

/// The id of the object with this alias.
pub fn id<'a>(mut preambles: impl Iterator<Item = &'a Option<Preamble>>, alias: &str) -> u32 {
    let found = preambles.find_map(|preamble| preamble.as_ref().filter(|preamble| preamble.alias == alias));
    found.unwrap_or_else(|| panic!("there is no {alias}")).id
}

/// An action of an entry, with its arguments by id.
pub fn action(action_id: u32, params: &[(u32, &[u8])]) -> Option<p4::TableAction> {
    let param =
        |(param_id, value): &(u32, &[u8])| p4::action::Param { param_id: *param_id, value: value.to_vec() };
    let action = p4::Action { action_id, params: params.iter().map(param).collect() };
    Some(p4::TableAction { r#type: Some(p4::table_action::Type::Action(action)) })
}

/// A match of one field.
pub fn field(field_id: u32, of: p4::field_match::FieldMatchType) -> p4::FieldMatch {
    p4::FieldMatch { field_id, field_match_type: Some(of) }
}

/// A match of an exact field.
pub fn exact(field_id: u32, value: &[u8]) -> p4::FieldMatch {
    field(field_id, p4::field_match::FieldMatchType::Exact(p4::field_match::Exact { value: value.to_vec() }))
}

/// A match of an optional field.
pub fn optional(field_id: u32, value: &[u8]) -> p4::FieldMatch {
    let of = p4::field_match::Optional { value: value.to_vec() };
    field(field_id, p4::field_match::FieldMatchType::Optional(of))
}
