// What every contact does over time, as bars: colour and hatching tell the mode; a click goes there.

// How a mode is drawn: its colour's name and its pattern. The first mode of a timeline is that nothing touches.
const LOOKS = {
  open: ["open", ""],
  free: ["open", ""],
  closed: ["closed", "full"],
  stick: ["stick", "dots"],
  slip: ["slip", "stripes"],
  "one-sided": ["slip", "stripes"],
  crosswise: ["stick", "dots"],
  face: ["closed", "full"],
  other: ["other", "cross"],
};
const BAR = 14;

class Modes {
  constructor(host, runs, clock) {
    Object.assign(this, { runs, clock, rows: [], used: new Set() });
    this.key = element("p", { class: "key" });
    host.append(this.key);
    const names = new Set(runs.flatMap((run) => run.info.timelines.map((line) => line.name)));
    for (const name of names) {
      runs.forEach((run, r) => {
        const k = run.info.timelines.findIndex((line) => line.name === name);
        if (k >= 0) this.row(host, run, r, name, k);
      });
    }
    if (!names.size) host.append(element("p", {}, "There are no contacts."));
    this.repaint();
    clock.on("window", () => this.draw());
    clock.on("time", () => this.cursor());
    this.watch = new ResizeObserver(() => this.draw());
    this.watch.observe(host);
  }

  row(host, run, r, name, k) {
    const { modes } = run.info.timelines[k],
      start = run.tables[`mode_start_${k}`][0] ?? [],
      mode = run.tables[`mode_${k}`][0] ?? [];
    const spent = modes.map(() => 0),
      whole = run.end - run.start || 1;
    start.forEach((from, i) => {
      spent[mode[i]] += (start[i + 1] ?? run.end) - from;
    });
    const shares = modes.flatMap((one, m) => (spent[m] > 0 ? [`${one} ${percent(spent[m] / whole)}`] : []));
    modes.forEach((one, m) => spent[m] > 0 && this.used.add(one));
    const label = element("div", { class: "label" }, element("b", {}, named(name)));
    if (this.runs.length > 1) label.append(named(run.label, "name run"));
    label.append(element("span", { class: "shares" }, shares.join(", ")));
    const canvas = element("canvas", { role: "img", "aria-label": `${name}: ${shares.join(", ")}` });
    const bar = element("div", { class: r ? "bar second" : "bar" }, canvas),
      now = element("div", { class: "now" });
    bar.append(now);
    host.append(label, bar);
    const at = (event) => {
      const [from, to] = this.clock.window,
        t = from + (event.offsetX / bar.clientWidth) * (to - from);
      return [t, rowAt(start, t)];
    };
    bar.addEventListener("click", (event) => {
      this.clock.pause();
      this.clock.seek(at(event)[0]);
    });
    bar.addEventListener("dblclick", (event) => {
      const [, i] = at(event);
      this.clock.zoom(start[i], start[i + 1] ?? run.end);
    });
    bar.addEventListener("pointermove", (event) => {
      const [, i] = at(event);
      if (start.length)
        bar.title = `${modes[mode[i]]}, ${digits(start[i], 7)} to ${digits(start[i + 1] ?? run.end, 7)} s`;
    });
    this.rows.push({ canvas, now, bar, start, mode, modes, end: run.end });
  }

  repaint() {
    const colours = palette().modes,
      context = document.createElement("canvas").getContext("2d");
    this.fills = Object.fromEntries(
      Object.entries(LOOKS).map(([name, [colour, kind]]) => [name, pattern(context, colours[colour], kind)]),
    );
    this.key.replaceChildren();
    for (const name of Object.keys(LOOKS)) {
      if (!this.used.has(name)) continue;
      const swatch = element("canvas", { class: "swatch", width: "22", height: "12" }),
        ink = swatch.getContext("2d");
      ink.fillStyle = this.fills[name];
      ink.fillRect(0, 0, 22, 12);
      this.key.append(swatch, `${name} `);
    }
    this.draw();
  }

  draw() {
    const [from, to] = this.clock.window;
    for (const row of this.rows) {
      const { canvas, bar, start, mode, modes, end } = row,
        width = bar.clientWidth;
      if (!width) continue;
      row.width = width;
      const context = sized(canvas, width, BAR),
        x = (t) => ((t - from) / (to - from)) * width;
      for (let i = rowAt(start, from); i < start.length && start[i] <= to; i++) {
        context.fillStyle = this.fills[modes[mode[i]]];
        const left = Math.max(x(start[i]), 0),
          right = Math.min(x(start[i + 1] ?? end), width);
        context.fillRect(left, 0, Math.max(right - left, mode[i] ? 1 : 0), BAR);
      }
    }
    this.cursor();
  }

  cursor() {
    const [from, to] = this.clock.window,
      share = (this.clock.t - from) / (to - from);
    for (const { now, width } of this.rows) {
      now.style.transform = `translateX(${share * (width ?? 0)}px)`;
      now.style.visibility = share < 0 || share > 1 ? "hidden" : "visible";
    }
  }
}

function percent(share) {
  return share >= 0.01 ? `${Math.round(100 * share)} %` : "< 1 %";
}

// A colour with stripes, dots or a grid on it, so that colour alone tells nothing.
function pattern(context, colour, kind) {
  if (!kind || kind === "full") return colour;
  const tile = document.createElement("canvas");
  tile.width = tile.height = 6;
  const ink = tile.getContext("2d");
  ink.fillStyle = colour;
  ink.fillRect(0, 0, 6, 6);
  ink.strokeStyle = ink.fillStyle = "rgba(0, 0, 0, 0.45)";
  ink.beginPath();
  if (kind === "dots") ink.arc(3, 3, 1.3, 0, 2 * Math.PI);
  else
    for (const shift of [-6, 0, 6]) {
      ink.moveTo(shift - 1, 7);
      ink.lineTo(shift + 7, -1);
    }
  if (kind === "cross")
    for (const shift of [-6, 0, 6]) {
      ink.moveTo(shift - 1, -1);
      ink.lineTo(shift + 7, 7);
    }
  if (kind === "dots") ink.fill();
  else ink.stroke();
  return context.createPattern(tile, "repeat");
}
