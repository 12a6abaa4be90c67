// Charts over time: one window, one cursor, jumps from the left to the right limit. Of two runs the second is dashed.

// Share of the largest value of a chart below which a column varies by round-off alone, and a value is written as zero.
const ROUND_OFF = 1e-12;
const ZERO = 1e-9;

const GROUPS = [
  ["Gaps", "gap"],
  ["Contact forces", "lam_N"],
  ["Positions", "q"],
  ["Velocities", "v"],
  ["Energy", "energy"],
  ["Joint reactions", "reaction"],
];

class Charts extends Enlarging {
  constructor(host, runs, clock) {
    super();
    Object.assign(this, { host, runs, clock, charts: [], colours: palette(), filter: "" });
    this.axes = runs.map(doubledRows);
    this.sight = new IntersectionObserver((entries) => this.see(entries), { rootMargin: "300px" });
    for (const [title, table] of GROUPS) this.group(title, table);
    if (!this.charts.length) host.append(element("p", {}, "Nothing changes in this run."));
    clock.on("time", () => this.cursor());
    clock.on("window", () => this.redraw());
    this.watch = new ResizeObserver(() => this.redraw());
    this.watch.observe(host);
  }

  // Charts far from the window are drawn when they come near.
  see(entries) {
    for (const { target, isIntersecting } of entries) {
      const chart = this.charts.find((one) => one.figure === target);
      chart.seen = isIntersecting;
      if (isIntersecting && chart.stale) chart.draw();
    }
  }

  // All at once, to be printed.
  drawAll() {
    for (const chart of this.charts) chart.draw(true);
  }

  // The names of a table that vary in a run, by unit: one chart each.
  group(title, table) {
    const units = new Map(),
      sizes = new Map(),
      each = (visit) => {
        for (const run of this.runs)
          run.info.names[table].forEach((name, k) => visit(run.info.units[table][k], name, run.tables[table][k]));
      };
    each((unit, name, column) => sizes.set(unit, Math.max(sizes.get(unit) ?? 0, largest(column))));
    each((unit, name, column) => {
      if (!units.has(unit)) units.set(unit, new Set());
      if (extent(column) > ROUND_OFF * sizes.get(unit)) units.get(unit).add(name);
    });
    const charts = [...units].filter(([, names]) => names.size);
    if (!charts.length) return;
    const section = element("details", { class: "group" }),
      heading = element("summary", {}, element("h2", {}, title));
    section.open = table !== "reaction";
    section.append(heading);
    section.addEventListener("toggle", () => this.redraw());
    this.host.append(section);
    for (const [unit, names] of charts) this.charts.push(new Chart(this, section, title, table, unit, [...names]));
  }

  cursor() {
    const now = performance.now(),
      told = !this.clock.playing || now - (this.told ?? 0) > 120;
    for (const chart of this.charts) chart.cursor(told);
    if (told) this.told = now;
  }

  repaint() {
    this.colours = palette();
    this.redraw();
  }

  // Show the curves whose names contain a text; the first few of each chart where it is empty.
  choose(text) {
    this.filter = text.toLowerCase();
    for (const chart of this.charts) chart.choose(this.filter);
  }
}

// Rows of charts, those with a jump twice: [row, index of its left limit or -1].
function doubledRows(run) {
  const rows = [],
    before = [];
  for (let i = 0; i < run.t.length; i++) {
    const left = run.left.get(i);
    if (left !== undefined) {
      rows.push(i);
      before.push(left);
    }
    rows.push(i);
    before.push(-1);
  }
  return { rows, before, t: Float64Array.from(rows, (i) => run.t[i]) };
}
