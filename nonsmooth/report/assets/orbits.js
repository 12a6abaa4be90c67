// The paths of journals and balls in their clearances, each in the frame of its bearing, with the place at the time.

const MOST_ORBITS = 6;
const RIM = 1.14; // of the reach: half the width of what is shown
const SQUARE = { left: 44, right: 8, top: 8, bottom: 34 };

class Orbits extends Enlarging {
  constructor(host, runs, clock) {
    super();
    Object.assign(this, { host, runs, clock, charts: [], colours: palette() });
    const names = new Set(runs.flatMap((run) => run.info.orbits.map((one) => one.name)));
    byId("orbit-card").hidden = !names.size;
    this.key = element("p", { class: "key" });
    this.grid = element("div", { class: "orbits" });
    host.append(this.key, this.grid);
    for (const name of names) this.charts.push(new Orbit(this, name));
    this.more = element("button", { type: "button", class: "more" }, `show ${names.size - MOST_ORBITS} more`);
    this.more.addEventListener("click", () => this.fold(false));
    host.append(this.more);
    this.fold(names.size > MOST_ORBITS);
    this.repaint();
    clock.on("time", () => this.charts.forEach((one) => one.move()));
    clock.on("window", () => this.redraw());
    this.watch = new ResizeObserver(() => this.redraw());
    this.watch.observe(host);
  }

  fold(folded) {
    this.more.hidden = !folded;
    this.charts.forEach((one, k) => {
      one.figure.hidden = folded && k >= MOST_ORBITS;
    });
    if (!folded) this.redraw();
  }

  repaint() {
    this.colours = palette();
    const swatch = (colour, words) => {
      const mark = element("i", { class: "swatch" });
      mark.style.background = colour;
      return [mark, `${words} `];
    };
    const [flight, contact] = this.colours.series,
      struck = this.runs.some((run) => run.impactT.length),
      more = this.runs.length > 1 ? ["lighter: the second run"] : [];
    this.key.replaceChildren(
      ...swatch(flight, "flight"),
      ...swatch(contact, "contact"),
      ["\u00a0 dashed: clearance", "dot: now", ...(struck ? ["ticks: impacts"] : []), ...more].join(" · "),
    );
    this.redraw();
  }
}

class Orbit {
  constructor(all, name) {
    Object.assign(this, { all, clock: all.clock, name });
    this.paths = all.runs.flatMap((run, r) => {
      const k = run.info.orbits.findIndex((one) => one.name === name);
      if (k < 0) return [];
      const [x, y] = run.tables[`orbit_${k}`],
        [t] = run.tables[`orbit_t_${k}`],
        [pressing] = run.tables[`orbit_pressing_${k}`];
      return [{ ...run.info.orbits[k], run, r, x, y, t, pressing }];
    });
    const furthest = (most, { x, y }) => x.reduce((far, _, i) => Math.max(far, Math.hypot(x[i], y[i])), most);
    this.reach = this.paths.reduce(furthest, Math.max(...this.paths.map((path) => path.clearance)));
    [this.factor, this.unit] = readable("m", this.reach);
    this.title = `Orbit ${name} [${this.unit}]`;
    this.caption = this.title;
    this.figure = element("figure", { class: "chart orbit" });
    const keys = () => ["flight", "contact"].map((kind, k) => [kind, all.colours.series[k]]);
    this.tools = new ChartTools(this, keys, () => this.lines());
    this.figure.append(element("figcaption", {}, named(name), this.tools.host));
    this.plot = element("div", { class: "square" });
    this.canvas = element("canvas", { role: "img", "aria-label": `path of the centre in its clearance: ${name}` });
    this.dots = this.paths.map(() => element("div", { class: "spot" }));
    this.plot.append(this.canvas, ...this.dots);
    this.figure.append(this.plot);
    all.grid.append(this.figure);
  }

  // Points of the path in the time that is shown.
  lines() {
    const { unit, factor, all } = this,
      several = all.runs.length > 1,
      axes = this.paths[0].axes.map((axis) => `${axis} [${unit}]`),
      [from, to] = this.clock.window;
    const rows = this.paths.flatMap(({ run, t, x, y, pressing }) =>
      Array.from(t, (time, i) => [time, x[i] / factor, y[i] / factor, pressing[Math.min(i, pressing.length - 1)] ?? 0])
        .filter(([time]) => time >= from && time <= to)
        .map((row) => [...(several ? [quoted(run.label)] : []), ...row].join(",")),
    );
    return [[...(several ? ["run"] : []), "t [s]", ...axes, "contact"].map(quoted).join(","), ...rows];
  }

  enlarge(on) {
    this.figure.classList.toggle("large", on);
    this.tools.larger.textContent = on ? "smaller" : "larger";
    this.draw();
  }

  at(x, y) {
    return [this.middle[0] + this.scale * x, this.middle[1] - this.scale * y];
  }

  draw() {
    const { width, height } = this.plot.getBoundingClientRect();
    if (!width || this.figure.hidden) return;
    const { paths, all } = this,
      context = sized(this.canvas, width, height),
      room = [width - SQUARE.left - SQUARE.right, height - SQUARE.top - SQUARE.bottom],
      half = RIM * this.reach;
    this.scale = Math.min(...room) / (2 * half);
    this.middle = [SQUARE.left + room[0] / 2, SQUARE.top + room[1] / 2];
    this.axes(context, half);
    context.strokeStyle = all.colours.soft;
    context.setLineDash([5, 4]);
    for (const clearance of new Set(paths.map((path) => path.clearance))) {
      context.beginPath();
      context.arc(...this.middle, this.scale * clearance, 0, 2 * Math.PI);
      context.stroke();
    }
    context.setLineDash([]);
    for (const path of paths) this.curve(context, path);
    for (const path of paths) this.ticks(context, path);
    this.dots.forEach((dot, r) => {
      dot.style.background = paths[r].r ? all.colours.card : all.colours.ink;
    });
    this.move();
  }

  axes(context, half) {
    const { factor } = this,
      { colours } = this.all,
      [left, top] = this.at(-half, half),
      [right, bottom] = this.at(half, -half),
      words = this.paths[0].axes.map((axis) => `${axis} [${this.unit}]`);
    context.font = "11.5px system-ui, sans-serif";
    Object.assign(context, { fillStyle: colours.soft, strokeStyle: colours.grid, lineWidth: 1 });
    for (const [value, text] of nice(-half / factor, half / factor, 5)) {
      const [x, y] = this.at(value * factor, value * factor).map((place) => Math.round(place) + 0.5);
      stroke(context, x, top, x, bottom);
      stroke(context, left, y, right, y);
      Object.assign(context, { textAlign: "center", textBaseline: "top" });
      context.fillText(text, x, bottom + 4);
      Object.assign(context, { textAlign: "right", textBaseline: "middle" });
      context.fillText(text, left - 5, y);
    }
    Object.assign(context, { textAlign: "right", textBaseline: "top" });
    context.fillText(words[0], right, bottom + 18);
    Object.assign(context, { textAlign: "left", textBaseline: "top" });
    context.fillText(words[1], left + 3, top);
  }

  // Flight below, contact above it; of a second run both lighter.
  curve(context, { t, x, y, pressing, r }) {
    const [from, to] = this.clock.window,
      first = Math.max(rowAt(t, from), 0),
      last = Math.min(rowAt(t, to) + 1, t.length - 1);
    for (const kind of [0, 1]) {
      context.beginPath();
      for (let i = first, on = false; i < last; i++) {
        if (pressing[i] !== kind) on = false;
        else {
          if (!on) context.moveTo(...this.at(x[i], y[i]));
          context.lineTo(...this.at(x[i + 1], y[i + 1]));
          on = true;
        }
      }
      context.strokeStyle = this.all.colours.series[kind];
      context.lineWidth = kind ? 2 : 1;
      context.globalAlpha = r ? 0.45 : 1;
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  // Impacts stand on the rim.
  ticks(context, path) {
    const { run, gap } = path,
      contact = run.info.names.gap.indexOf(gap),
      [from, to] = this.clock.window;
    context.strokeStyle = this.all.colours.soft;
    context.lineWidth = 1;
    context.beginPath();
    run.impactT.forEach((t, i) => {
      if (run.impactGap[i] !== contact || t < from || t > to) return;
      const [x, y] = this.place(path, t),
        size = Math.hypot(x, y);
      if (!size) return;
      for (const [share, go] of [
        [1.03, "moveTo"],
        [1.1, "lineTo"],
      ])
        context[go](...this.at((share * this.reach * x) / size, (share * this.reach * y) / size));
    });
    context.stroke();
  }

  // Where the centre is at a time.
  place({ t, x, y }, time) {
    const i = rowAt(t, time),
      j = Math.min(i + 1, t.length - 1),
      share = t[j] > t[i] ? Math.min(Math.max((time - t[i]) / (t[j] - t[i]), 0), 1) : 0;
    return [x[i] + share * (x[j] - x[i]), y[i] + share * (y[j] - y[i])];
  }

  move() {
    if (!this.scale || this.figure.hidden) return;
    this.paths.forEach((path, r) => {
      const [x, y] = this.at(...this.place(path, this.clock.t));
      this.dots[r].style.transform = `translate(${x}px, ${y}px)`;
    });
  }
}
