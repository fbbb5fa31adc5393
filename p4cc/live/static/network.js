// The network as the server describes it once, and names for its ports and links.

/** Nodes, links and ports, and what they are called. Ports and links are numbers, the places in their lists. */
export class Network {
  constructor(told) {
    Object.assign(this, told);
    this.node = new Map(this.nodes.map((node) => [node.name, node]));
    this.switches = this.nodes.filter((node) => node.kind === "switch").map((node) => node.name);
    const pairs = new Map();
    const pair = (port) => JSON.stringify([port.switch, port.peer]);
    for (const port of this.ports) pairs.set(pair(port), (pairs.get(pair(port)) ?? 0) + 1);
    this.portNames = this.ports.map((port) => {
      const between = `${port.switch} → ${port.peer}`;
      return pairs.get(pair(port)) > 1 ? `${between} (port ${port.port})` : between;
    });
    // The port that sends on a link's way, by 2 * link + way; hosts have none.
    this.sender = new Map(this.ports.map((port, number) => [2 * port.link + port.way, number]));
    // Thresholds over time, as the page has seen them: [[time_ns, K, K_dc], ...] of each port.
    this.thresholds = this.ports.map((port) => [[0, port.k_pkts, port.k_dc_pkts]]);
  }

  /** Takes over the thresholds that the server has now. */
  setThresholds(ports, time_ns) {
    ports.forEach(({ k_pkts, k_dc_pkts }, number) => {
      const port = this.ports[number];
      if (port.k_pkts === k_pkts && port.k_dc_pkts === k_dc_pkts) return;
      Object.assign(port, { k_pkts, k_dc_pkts });
      this.thresholds[number].push([time_ns, k_pkts, k_dc_pkts]);
    });
  }

  /** From and to of one way of a link. */
  ends(link, way) {
    const { a, b } = this.links[link];
    return way === 0 ? [a, b] : [b, a];
  }
}
