//! Agents as programs, over the loopback interface: whole transfers, what is counted, exit codes.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use p4cc_transport::wire::UDP_PORT;
use serde_json::Value;

/// Two addresses of 127/8 that no other test of this process
/// has, nor one of another process that runs beside it.
fn addresses() -> (Ipv4Addr, Ipv4Addr) {
    static NEXT: AtomicU8 = AtomicU8::new(1);
    let at = NEXT.fetch_add(2, Ordering::Relaxed);
    let [high, low] = (std::process::id() as u16).to_be_bytes();
    (Ipv4Addr::new(127, high | 1, low, at), Ipv4Addr::new(127, high | 1, low, at + 1))
}

fn agent(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_p4cc-agent"));
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The agent's lines of a type.
fn lines(output: &Output, kind: &str) -> Vec<Value> {
    let text = String::from_utf8_lossy(&output.stdout);
    let values = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("a JSON line"));
    values.filter(|value| value["type"] == kind).collect()
}

/// A receiver that has opened its socket, and stops after a while at the latest.
fn receiver(address: Ipv4Addr, more: &[&str]) -> Child {
    let address = address.to_string();
    let arguments =
        [&["receive", "--bind", &address, "--metrics", "-", "--duration-ms", "20000"], more].concat();
    let child = agent(&arguments).spawn().expect("it starts");
    let end = Instant::now() + Duration::from_secs(10);
    // Its port is taken as soon as it is there: the address may be used again, but not without that option.
    while UdpSocket::bind((address.as_str(), UDP_PORT)).is_ok() {
        assert!(Instant::now() < end, "the receiver did not start");
        std::thread::sleep(Duration::from_millis(10));
    }
    child
}

/// Ends a child as a user would.
fn stop(child: Child) -> Output {
    let pid = child.id().to_string();
    Command::new("kill").args(["-TERM", &pid]).status().expect("kill is there");
    child.wait_with_output().expect("it ends")
}

#[test]
fn a_flow_arrives_whole_and_both_ends_say_so() {
    let (from, to) = addresses();
    let receiver = receiver(to, &[]);
    let (from, to) = (from.to_string(), to.to_string());
    let send = ["send", "--bind", &from, "--to", &to, "--bytes", "500000", "--metrics", "-", "--duration-ms"];
    let sent = agent(&[&send[..], &["15000", "--sample-ms", "1"]].concat()).output().expect("it runs");
    assert_eq!(sent.status.code(), Some(0), "{}", String::from_utf8_lossy(&sent.stderr));
    let received = stop(receiver);
    let flow = &lines(&sent, "flow")[0];
    assert_eq!(flow["acked_bytes"], 500_000);
    assert!(flow["fct_ns"].as_u64().expect("it is complete") > 0);
    assert_eq!(lines(&received, "received")[0]["bytes"], 500_000);
    assert!(!lines(&sent, "sample").is_empty());
}

#[test]
fn hosts_of_a_plan_find_each_other_with_either_transport() {
    let (one, two) = addresses();
    let plan = format!(
        r#"{{
        "hosts": {{"h1": "{one}", "h2": "{two}"}},
        "algorithms": {{"dctcp": {{"cc": {{"congestion_avoidance": {{"name": "dctcp"}}}}}}}},
        "rdma": {{"timely": {{"base_rtt_ns": 100000, "rto_ns": 20000000, "cc": {{"name": "timely", "r_min_mbps": 10}}}}}},
        "flows": [
            {{"id": 1, "src": "h1", "dst": "h2", "algorithm": "dctcp", "size_bytes": 200000}},
            {{"id": 2, "src": "h2", "dst": "h1", "algorithm": "timely", "size_bytes": 200000}},
            {{"id": 3, "src": "h1", "dst": "h2", "algorithm": "dctcp", "size_bytes": 1, "start_ns": 30000000,
              "deadline_ns": 5000000000}}
        ],
        "line_rate_bps": 200000000
    }}"#
    );
    // Both are there when the first packet leaves.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970");
    let start_at = (now + Duration::from_millis(500)).as_nanos().to_string();
    let run = |host: &str| {
        let more =
            ["run", "--plan", "-", "--host", host, "--metrics", "-", "--duration-ms", "15000", "--start-at"];
        let mut child = agent(&[&more[..], &[start_at.as_str()]].concat())
            .stdin(Stdio::piped())
            .spawn()
            .expect("it starts");
        child.stdin.take().expect("it is piped").write_all(plan.as_bytes()).expect("it reads");
        child
    };
    let children = [run("h1"), run("h2")];
    let [first, second] = children.map(|child| child.wait_with_output().expect("it ends"));
    assert_eq!((first.status.code(), second.status.code()), (Some(0), Some(0)));
    let whole = |output: &Output| {
        let flows = lines(output, "flow");
        let number = |flow: &Value, key: &str| flow[key].as_u64().expect("a number");
        flows
            .iter()
            .map(|flow| (number(flow, "flow"), number(flow, "acked_bytes")))
            .collect::<BTreeMap<_, _>>()
    };
    assert_eq!(whole(&first), BTreeMap::from([(1, 200_000), (3, 1)]));
    assert_eq!(whole(&second), BTreeMap::from([(2, 200_000)]));
    // 200 kB and their headers at 200 Mb/s take 8.4 ms: the
    // interface does not send faster than it is said to.
    for flow in lines(&first, "flow") {
        let fct_ns = flow["fct_ns"].as_u64().expect("it is complete");
        assert!(flow["flow"] != 1 || fct_ns > 8_000_000, "{fct_ns}");
        assert!(flow["flow"] != 3 || flow["deadline_met"] == true, "{flow}");
    }
}

#[test]
fn what_is_no_packet_is_counted_and_disturbs_nothing() {
    let (from, to) = addresses();
    let child = receiver(to, &["--prometheus", &free_address()]);
    let noise = UdpSocket::bind((from, 0)).expect("a port");
    for length in [0, 1, 35, 36, 100, 1_400] {
        for byte in [0x00, 0x10, 0x11, 0xff] {
            noise.send_to(&vec![byte; length], (to, UDP_PORT)).expect("it is sent");
        }
    }
    let (from, to) = (from.to_string(), to.to_string());
    let send = ["send", "--bind", &from, "--to", &to, "--bytes", "10000", "--duration-ms", "15000"];
    assert_eq!(agent(&send).output().expect("it runs").status.code(), Some(0));
    let received = stop(child);
    assert!(lines(&received, "received").iter().any(|flow| flow["bytes"] == 10_000));
    let refused = &lines(&received, "summary")[0]["counters"]["refused_malformed"];
    assert!(refused.as_u64().expect("a number") >= 12, "{refused}");
}

fn free_address() -> String {
    TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port").to_string()
}

#[test]
fn prometheus_sees_what_flows_do() {
    let (_, to) = addresses();
    let address = free_address();
    let child = receiver(to, &["--prometheus", &address, "--sample-ms", "10"]);
    let end = Instant::now() + Duration::from_secs(10);
    let page = loop {
        let mut stream = TcpStream::connect(&address).expect("it listens");
        stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n").expect("it reads");
        let mut page = String::new();
        stream.read_to_string(&mut page).expect("it answers");
        if page.contains("p4cc_agent_sent_pkts_total 0") {
            break page;
        }
        assert!(Instant::now() < end, "{page}");
        std::thread::sleep(Duration::from_millis(10));
    };
    assert!(page.starts_with("HTTP/1.1 200 OK\r\n"));
    stop(child);
}

#[test]
fn what_cannot_start_says_why_and_leaves_with_two() {
    let (here, there) = addresses();
    let (here, there) = (here.to_string(), there.to_string());
    let cases: [(&[&str], &str); 4] = [
        (&["run", "--plan", "/nowhere/plan.json", "--host", "h1"], "/nowhere/plan.json"),
        (&["send", "--bind", "192.0.2.1", "--to", &there], "192.0.2.1"),
        (&["send", "--bind", &here, "--to", &there, "--sender", r#"{"iw": 0}"#], "iw"),
        (&["send", "--bind", &here, "--to", &there, "--sender", r#"{"window": 1}"#], "--sender"),
    ];
    for (arguments, place) in cases {
        let output = agent(arguments).output().expect("it runs");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let said = BufReader::new(&output.stderr[..]).lines().next().expect("a line").expect("text");
        assert!(said.contains(place), "{said}");
    }
}

#[test]
fn a_flow_that_nobody_takes_ends_with_the_time() {
    let (from, to) = addresses();
    let (from, to) = (from.to_string(), to.to_string());
    let send =
        ["send", "--bind", &from, "--to", &to, "--bytes", "9", "--duration-ms", "50", "--metrics", "-"];
    let output = agent(&send).output().expect("it runs");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(lines(&output, "flow")[0]["fct_ns"], Value::Null);
}
