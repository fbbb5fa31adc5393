// What all figures share: Plotly's settings, colours of the page, reaction to its width.

import { colour, onTheme } from "./theme.js";

const CONFIG = {
  displaylogo: false,
  responsive: false,
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
    // Room for labels is given by each figure: finding it costs a second layout.
    automargin: false,
  };
  const { xaxis = {}, yaxis = {}, ...rest } = more;
  return {
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: "system-ui, sans-serif", size: 12, color: colour("muted") },
    hoverlabel: { bgcolor: colour("card"), bordercolor: colour("line"), font: { color: colour("text") }, align: "left" },
    margin: { l: 52, r: 12, t: 8, b: 40 },
    legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", font: { size: 11 } },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("muted"), activecolor: colour("text") },
    uirevision: "kept",
    ...rest,
    xaxis: { ...axis, ...xaxis },
    yaxis: { ...axis, ...yaxis },
  };
}

/** A figure in `node`: `draw()` gives `{traces, layout}`, which are drawn now and at each change of colours or width. */
export class Chart {
  constructor(node, make, after = () => {}) {
    Object.assign(this, { node, make, after });
    onTheme(() => this.draw());
    this.width = node.clientWidth;
    new ResizeObserver(() => {
      if (node.clientWidth === this.width || node.clientWidth === 0) return;
      this.width = node.clientWidth;
      this.draw();
    }).observe(node);
  }

  draw() {
    // A hidden node has no width to draw in.
    if (this.node.clientWidth === 0) return;
    const { traces, layout: shape } = this.make();
    window.Plotly.react(this.node, traces, { ...shape, width: this.node.clientWidth, height: this.node.clientHeight }, CONFIG);
    this.after();
  }
}
