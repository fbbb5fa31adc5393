// What all figures share: Plotly's settings, colours of the page, reaction to its size.

import { throttled } from "./frames.js";
import { colour, onTheme } from "./theme.js";

const CONFIG = {
  displaylogo: false,
  responsive: false,
  // Nothing of a run leaves this machine.
  showSendToCloud: false,
  plotlyServerURL: "",
  modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"],
  displayModeBar: "hover",
};

/** The layout in the page's colours; `more` is laid over it, axes one by one. */
export function layout(more = {}) {
  const axis = {
    gridcolor: colour("grid"),
    linecolor: colour("line"),
    zerolinecolor: colour("line"),
    tickcolor: colour("line"),
    // Each figure gives room for its labels: measuring them costs more than drawing.
    automargin: false,
    tickangle: 0,
    ticklabeloverflow: "allow",
  };
  const { xaxis = {}, yaxis = {}, ...rest } = more;
  return {
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: "system-ui, sans-serif", size: 12, color: colour("muted") },
    hoverlabel: {
      bgcolor: colour("card"),
      bordercolor: colour("line"),
      font: { color: colour("text") },
      align: "left",
    },
    margin: { l: 52, r: 12, t: 8, b: 40 },
    legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", font: { size: 11 } },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("muted"), activecolor: colour("text") },
    uirevision: "kept",
    ...rest,
    xaxis: { ...axis, ...xaxis },
    yaxis: { ...axis, ...yaxis },
  };
}

// A figure this far outside what is seen of the page is drawn ahead of being scrolled to.
const AHEAD = "150px";

/**
 * A figure in `node`: `make()` gives `{traces, layout}`, which are drawn now and at each change of colours or size.
 * `ask()` draws soon, at most once within `interval_ms`, by `redraw` if given; what nobody sees waits until it is seen.
 */
export class Chart {
  constructor(node, make, interval_ms, redraw = null) {
    Object.assign(this, { node, make, size: "", isSeen: true, isStale: false });
    this.draw();
    this.ask = throttled(() => {
      this.isStale = !this.isSeen;
      if (this.isStale) return;
      if (redraw) redraw();
      else this.draw();
    }, interval_ms);
    onTheme(() => this.draw());
    new ResizeObserver(() => {
      if (`${node.clientWidth} ${node.clientHeight}` !== this.size) this.draw();
    }).observe(node);
    new IntersectionObserver(
      (entries) => {
        this.isSeen = entries.at(-1).isIntersecting;
        if (this.isSeen && this.isStale) this.ask();
      },
      { rootMargin: AHEAD },
    ).observe(node);
  }

  draw() {
    const [width, height] = [this.node.clientWidth, this.node.clientHeight];
    // A hidden node has no width to draw in.
    if (width === 0) return;
    this.size = `${width} ${height}`;
    const { traces, layout: shape } = this.make();
    window.Plotly.react(this.node, traces, { ...shape, width, height }, CONFIG);
  }
}
