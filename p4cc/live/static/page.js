// The live page: reads the network once, then shows each look of the run.

import { NO_TOKEN, get, post } from "./api.js";
import { Changes } from "./changes.js";
import { Controls } from "./controls.js";
import { Depths, PORT_COLUMNS } from "./depths.js";
import { byId, complain, say, tell } from "./dom.js";
import { Flows, flowName } from "./flows.js";
import { count, instant } from "./format.js";
import { Network } from "./network.js";
import { choose } from "./picker.js";
import { Queues } from "./queues.js";
import { Stream } from "./stream.js";
import { SwitchPanel } from "./switch.js";
import { tableOnDemand } from "./tables.js";
import { startTheme } from "./theme.js";
import { LINK_COLUMNS, Topology } from "./topology.js";
import { Totals } from "./totals.js";

const OPTIONS = 50;

function banner(text, kind = "") {
  const node = byId("banner");
  node.hidden = text === null;
  node.dataset.kind = kind;
  say(node, text ?? "");
}

/** Asks for what is watched; the server is told ports and flows together. */
async function watch(asked, part) {
  await post("/api/watch", { ...asked, ...part });
  Object.assign(asked, part);
}

function choosePorts(network, queues, asked) {
  const all = network.ports.map((_, key) => ({ key, name: network.portNames[key] }));
  choose({
    title: "Ports to watch",
    chosen: queues.history.shown.map((key) => ({ key, name: network.portNames[key] })),
    find: async (text) => {
      const words = text.toLowerCase().split(/\s+/);
      const found = all.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)));
      return { options: found.slice(0, OPTIONS), total: found.length };
    },
    send: (ports) => watch(asked, { ports }),
  });
}

const size = ({ size_bytes }) => (size_bytes === null ? "" : ` of ${count(size_bytes)}`);

function chooseFlows(flows, asked) {
  choose({
    title: "Flows to watch",
    chosen: flows.history.shown.map((key) => ({ key, name: flows.history.lines.get(key).name })),
    find: async (text) => {
      const { flows: found, total } = await get(`/api/flows?search=${encodeURIComponent(text)}&limit=${OPTIONS}`);
      const options = found.map((flow) => ({
        key: flow.flow_id,
        name: flowName(flow),
        about: `${flow.state}, ${count(flow.acked_bytes)}${size(flow)} bytes`,
      }));
      return { options, total };
    },
    send: (keys) => watch(asked, { flows: keys }),
  });
}

function names(network) {
  say(byId("title"), network.title);
  const { nodes, switches, links } = network;
  const hosts = nodes.length - switches.length;
  const sizes = [[switches.length, "switch", "es"], [hosts, "host", "s"], [links.length, "link", "s"]]
    .map(([number, what, more]) => `${count(number)} ${what}${number === 1 ? "" : more}`).join(", ");
  say(byId("case"), `${network.case} · ${network.kind === "lab" ? "lab" : "virtual time"} · ${sizes}`);
  document.title = `${network.title} · p4cc live`;
}

function start(network) {
  names(network);
  const controls = new Controls(network);
  const totals = new Totals();
  const changes = new Changes();
  const select = (name) => panel.select(name, true);
  const topology = new Topology(byId("topology"), byId("readout"), network, select);
  const depths = new Depths(byId("depths"), network, select);
  const queues = new Queues(byId("queues"), network);
  const flows = new Flows(network);
  const views = [controls, totals, topology, depths, queues, flows];
  const asked = { ports: [], flows: [] };
  let last = null;
  const reread = async ({ at_ns }) => {
    const { ports } = await get("/api/ports");
    network.setThresholds(ports, at_ns);
    if (last) for (const view of [depths, queues]) view.look({ ...last, watched: { ports: [], flows: [] } }, false);
    await Promise.all([changes.read(), panel.read()]);
    tell("The change is written.");
  };
  const panel = new SwitchPanel(network, depths, { onSelect: (name) => topology.select(name), onChange: reread });
  tableOnDemand(byId("links-table"), "Links", LINK_COLUMNS, () => topology.rows());
  tableOnDemand(byId("ports-table"), "Ports", PORT_COLUMNS, () => depths.tableRows());
  byId("ports-choose").addEventListener("click", () => choosePorts(network, queues, asked));
  byId("flows-choose").addEventListener("click", () => chooseFlows(flows, asked));
  changes.read();
  new Stream({
    look: (look, isFirst) => {
      last = look;
      for (const view of views) view.look(look, isFirst);
      const isOver = look.state === "ended" || look.state === "failed";
      if (look.state === "failed")
        banner(`The run failed at ${instant(look.time_ns)}: ${look.why ?? "no reason was given"}`, "bad");
      else if (isOver)
        banner(`The run has ended at ${instant(look.time_ns)}${look.why ? `: ${look.why}` : ""}.`, "end");
      else banner(null);
    },
    lost: () => {
      controls.connection(false);
      controls.badge("connection lost", "lost");
      banner("The connection to the run broke. Trying again …", "bad");
      tell("The connection to the run broke.");
    },
    back: () => {
      controls.state = null;
      controls.connection(true);
      banner(null);
    },
    end: () => changes.read(),
    gone: () => {
      panel.isGone = true;
      controls.connection(false);
      const failed =
        last?.state === "failed" ? `The run failed: ${last.why ?? "no reason was given"}. ` : "The run has ended. ";
      banner(
        `${failed}Its command has ended too: the page shows the last state.`,
        last?.state === "failed" ? "bad" : "end",
      );
      tell("The run's command has ended.");
    },
    refused: () => {
      banner(`${NO_TOKEN.cause}: ${NO_TOKEN.remedy}`, "bad");
      complain(NO_TOKEN);
    },
  });
}

startTheme();
try {
  start(new Network(await get("/api/network")));
} catch (error) {
  byId("state").dataset.state = "failed";
  say(byId("state"), "no run");
  banner([error.cause ?? error.message, error.remedy].filter(Boolean).join(": "), "bad");
  complain(error);
}
