// One chart: axes, curves, legend; drag narrows the time, a click goes there.

const STEPPED = new Set(["lam_N", "reaction"]); // means of the steps that end in the rows
const MOST_SHOWN = 8;
const HEIGHT = 150; // as in the style sheet; a large chart has so much of the window's height
const LARGE = 0.66;
const FINE = 4; // pixels between points of a curve between rows
const MARGIN = { left: 58, right: 10, top: 8, bottom: 22 };

class Chart {
  constructor(all, section, title, table, unit, names) {
    Object.assign(this, { all, clock: all.clock, table, names, stepped: STEPPED.has(table) });
    const size = Math.max(
      ...names.flatMap((name) =>
        all.runs.map((run) => {
          const k = run.info.names[table].indexOf(name);
          return k < 0 ? 0 : largest(run.tables[table][k]);
        }),
      ),
    );
    [this.factor, this.unit] = readable(unit, size);
    Object.assign(this, { zero: (ZERO * size) / this.factor, height: HEIGHT });
    this.series = names.map((name, i) => ({ name, i, on: false, curves: null }));
    this.figure = element("figure", { class: "chart" });
    const caption = this.unit === "1" ? "quaternions [-]" : `[${this.unit}]`;
    this.title = `${title} ${caption}`;
    this.caption = `${this.title} over t [s]`;
    const keys = () => this.series.filter((one) => one.on).map(({ name, colour }) => [name, colour]);
    this.tools = new ChartTools(this, keys, () => timeLines(this));
    this.figure.append(element("figcaption", {}, caption, this.tools.host));
    this.plot = element("div", { class: "plot" });
    this.canvas = element("canvas", { role: "img", "aria-label": `${this.title}, ${names.length} curves` });
    this.now = element("div", { class: "now" });
    this.selection = element("div", { class: "selection" });
    this.plot.append(this.canvas, this.selection, this.now);
    this.legend = element("div", { class: "legend" });
    this.figure.append(this.plot, this.legend);
    section.append(this.figure);
    all.sight.observe(this.figure);
    this.chips();
    this.choose("");
    this.gestures();
  }

  enlarge(on) {
    this.figure.classList.toggle("large", on);
    this.tools.larger.textContent = on ? "smaller" : "larger";
    this.height = on ? Math.max(Math.round(LARGE * window.innerHeight), HEIGHT) : HEIGHT;
    for (const part of [this.plot, this.canvas]) part.style.height = `${this.height}px`;
    this.draw(on);
  }

  chips() {
    for (const series of this.series) {
      series.value = element("span", { class: "value" });
      series.swatch = element("i", {});
      series.chip = element(
        "button",
        { type: "button", class: "chip" },
        series.swatch,
        named(series.name),
        series.value,
      );
      series.chip.addEventListener("click", () => this.turn(series, !series.on));
      this.legend.append(series.chip);
    }
    this.more = element("button", { type: "button", class: "chip" });
    this.more.addEventListener("click", () => {
      this.open = !this.open;
      this.fold();
    });
    this.legend.append(this.more);
  }

  // Names that are off are folded away, unless they are few or asked for.
  fold() {
    const fitting = this.series.filter((series) => series.fits),
      off = fitting.filter((series) => !series.on);
    for (const series of this.series)
      series.chip.hidden = !series.fits || (!series.on && !this.open && fitting.length > 2 * MOST_SHOWN);
    const folded = off.length && fitting.length > 2 * MOST_SHOWN;
    this.more.hidden = !folded;
    this.more.textContent = this.open ? "fewer names" : `${off.length} more names`;
  }

  turn(series, on) {
    series.on = on;
    series.chip.setAttribute("aria-pressed", String(on));
    this.draw();
    this.cursor(true);
  }

  choose(filter) {
    let count = 0;
    for (const series of this.series) {
      const fits = !filter || series.name.toLowerCase().includes(filter);
      series.fits = fits;
      series.on = fits && count < (filter ? 3 : 1) * MOST_SHOWN;
      count += series.on;
      series.chip.setAttribute("aria-pressed", String(series.on));
    }
    this.fold();
    this.draw();
    this.cursor(true);
  }

  // Values of a series at the doubled rows of each run; null where a run has no such column.
  curves(series) {
    series.curves ??= this.all.runs.map((run, r) => {
      const k = run.info.names[this.table].indexOf(series.name);
      if (k < 0) return null;
      const column = run.tables[this.table][k],
        jump = run.tables[`jump_${this.table}`]?.[k],
        { rows, before } = this.all.axes[r];
      return Float64Array.from(
        rows,
        (row, i) => (jump && before[i] >= 0 ? jump[before[i]] : column[row]) / this.factor,
      );
    });
    return series.curves;
  }

  draw(always = false) {
    this.stale = !(this.seen || always);
    const width = this.stale ? 0 : this.plot.clientWidth;
    if (!width) return;
    const context = sized(this.canvas, width, this.height),
      [from, to] = this.clock.window,
      inner = width - MARGIN.left - MARGIN.right,
      tall = this.height - MARGIN.top - MARGIN.bottom;
    this.inner = inner;
    this.x = (t) => MARGIN.left + ((t - from) / (to - from)) * inner;
    const [low, high] = this.range();
    this.y = (value) => MARGIN.top + (1 - (value - low) / (high - low)) * tall;
    this.axes(context, width, low, high);
    context.save();
    context.beginPath();
    context.rect(MARGIN.left, MARGIN.top - 2, inner, tall + 4);
    context.clip();
    for (const series of this.series) {
      series.colour = this.all.colours.series[series.i % 8];
      series.swatch.style.background = series.on ? series.colour : "transparent";
      series.swatch.style.borderColor = series.colour;
      if (series.on) this.curves(series).forEach((y, r) => y && this.curve(context, series, this.all.axes[r].t, y, r));
    }
    context.restore();
    this.ticks(context);
    this.cursor(true, true);
  }

  // Lowest and highest value of what is on, in the window.
  range() {
    let low = Infinity,
      high = -Infinity;
    for (const series of this.series) {
      if (!series.on) continue;
      this.curves(series).forEach((y, r) => {
        if (!y) return;
        const [first, last] = this.part(this.all.axes[r].t);
        for (let i = first; i <= last; i++) {
          if (y[i] < low) low = y[i];
          if (y[i] > high) high = y[i];
        }
      });
    }
    if (!(high >= low)) return [-1, 1];
    const room = (high - low || Math.abs(high) || 1) * 0.06;
    return [low - room, high + room];
  }

  part(t) {
    const [from, to] = this.clock.window;
    return [Math.max(rowAt(t, from) - 1, 0), Math.min(rowAt(t, to) + 1, t.length - 1)];
  }

  // A curve; where many rows share a pixel, their first, lowest, highest and last.
  curve(context, series, t, y, run) {
    const [first, last] = this.part(t),
      dense = (last - first) / Math.max(this.inner, 1) > 4;
    context.beginPath();
    let started = false,
      before = NaN;
    const go = (x, value) => {
      if (Number.isNaN(value)) return;
      if (started) context.lineTo(x, value);
      else context.moveTo(x, value);
      started = true;
    };
    const pixel = (this.clock.window[1] - this.clock.window[0]) / this.inner;
    for (let i = first; i <= last;) {
      const x = this.x(t[i]);
      if (dense) {
        const end = t[i] + pixel;
        let low = y[i],
          high = y[i],
          j = i;
        for (; j <= last && t[j] < end; j++) {
          if (y[j] < low) low = y[j];
          else if (y[j] > high) high = y[j];
        }
        if (j === i) j += 1; // a pixel shorter than the times can tell
        for (const value of [y[i], low, high, y[j - 1]]) go(x, this.y(value));
        i = j;
      } else {
        if (this.stepped && !Number.isNaN(before)) go(before, this.y(y[i]));
        if (this.table === "q" && x - before > 2 * FINE) {
          const [row, count] = [this.all.axes[run].rows[i - 1], Math.ceil((x - before) / FINE)];
          for (let k = 1; k < count; k++) {
            const time = t[i - 1] + (k / count) * (t[i] - t[i - 1]);
            go(this.x(time), this.y(this.between(series, run, row, time)));
          }
        }
        go(x, this.y(y[i]));
        before = x;
        i += 1;
      }
    }
    context.strokeStyle = series.colour;
    context.lineWidth = run ? 1.6 : 1.3;
    context.setLineDash(run ? [5, 4] : series.i >= 8 ? [9, 2] : []);
    context.lineJoin = "round";
    context.stroke();
    context.setLineDash([]);
  }

  axes(context, width, low, high) {
    const { colours } = this.all,
      [from, to] = this.clock.window;
    context.clearRect(0, 0, width, this.height);
    context.font = "11.5px system-ui, sans-serif";
    context.fillStyle = colours.soft;
    context.strokeStyle = colours.grid;
    context.lineWidth = 1;
    context.textBaseline = "middle";
    context.textAlign = "left";
    context.fillText("t [s]", 2, this.height - MARGIN.bottom + 12);
    context.textAlign = "right";
    for (const [value, words] of nice(low, high, Math.round(this.height / 30))) {
      const y = Math.round(this.y(value)) + 0.5;
      stroke(context, MARGIN.left, y, width - MARGIN.right, y);
      context.fillText(words, MARGIN.left - 6, y);
    }
    context.textAlign = "center";
    context.textBaseline = "top";
    for (const [t, words] of nice(from, to, Math.max(Math.floor(this.inner / 90), 2))) {
      const x = Math.round(this.x(t)) + 0.5;
      stroke(context, x, MARGIN.top, x, this.height - MARGIN.bottom);
      context.fillText(words, Math.min(x, width - MARGIN.right - 10), this.height - MARGIN.bottom + 6);
    }
  }

  // Marks of impacts at the foot.
  ticks(context) {
    const [from, to] = this.clock.window,
      foot = this.height - MARGIN.bottom;
    context.fillStyle = this.all.colours.hit;
    this.all.runs.forEach((run, r) => {
      let last = -1;
      for (const t of run.instants) {
        const x = Math.round(this.x(t));
        if (t < from || t > to || x === last) continue;
        last = x;
        context.fillRect(x, foot - (r ? 9 : 4), 1, 4);
      }
    });
  }

  // The line at the time, and values in the legend.
  cursor(told, always = false) {
    if (!this.x || !(this.seen || always)) return;
    const {
        t,
        window: [from, to],
      } = this.clock,
      x = this.x(t);
    this.now.style.transform = `translateX(${x}px)`;
    this.now.style.visibility = t < from || t > to ? "hidden" : "visible";
    if (!told) return;
    for (const series of this.series) {
      if (series.chip.hidden) continue;
      const values = series.on
        ? this.curves(series).map((y, r) => (y ? this.written(this.at(series, y, r, t)) : "–"))
        : [];
      series.value.textContent = values.join(" | ");
    }
  }

  written(value) {
    return digits(Math.abs(value) < this.zero ? 0 : value, 5);
  }

  // The value of a curve at a time, as it is drawn.
  at(series, y, r, t) {
    const { t: times, rows } = this.all.axes[r],
      i = rowAt(times, t),
      last = times.length - 1;
    if (t < times[0] || t > times[last]) return NaN;
    if (t === times[i] || i === last) return y[i];
    if (this.stepped) return y[i + 1];
    if (this.table === "q") return this.between(series, r, rows[i], t);
    const value = y[i] + ((t - times[i]) / (times[i + 1] - times[i])) * (y[i + 1] - y[i]);
    return Number.isNaN(value) ? y[i] : value;
  }

  // A coordinate after a row, as the picture has it.
  between(series, r, row, t) {
    const run = this.all.runs[r];
    return run.coordinate(run.info.names.q.indexOf(series.name), row, t) / this.factor;
  }

  gestures() {
    const { plot, clock } = this;
    let from = null;
    const time = (x) => clock.window[0] + ((x - MARGIN.left) / this.inner) * (clock.window[1] - clock.window[0]);
    const local = (event) =>
      Math.min(Math.max(event.clientX - plot.getBoundingClientRect().left, MARGIN.left), MARGIN.left + this.inner);
    plot.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      from = local(event);
      plot.setPointerCapture(event.pointerId);
    });
    plot.addEventListener("pointermove", (event) => {
      if (from === null) return;
      const x = local(event);
      this.selection.style.left = `${Math.min(from, x)}px`;
      this.selection.style.width = `${Math.abs(x - from)}px`;
    });
    plot.addEventListener("pointerup", (event) => {
      if (from === null) return;
      const x = local(event);
      if (Math.abs(x - from) > 4) clock.zoom(time(Math.min(from, x)), time(Math.max(from, x)));
      else {
        clock.pause();
        clock.seek(time(x));
      }
      this.stop();
      from = null;
    });
    plot.addEventListener("pointercancel", () => {
      from = null;
      this.stop();
    });
    plot.addEventListener("dblclick", () => clock.whole());
  }

  stop() {
    this.selection.style.width = "0";
  }
}

function stroke(context, x0, y0, x1, y1) {
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
}

function largest(column) {
  return column.reduce((most, x) => (Math.abs(x) > most ? Math.abs(x) : most), 0);
}

function extent(column) {
  let low = Infinity,
    high = -Infinity;
  for (const x of column) {
    if (x < low) low = x;
    if (x > high) high = x;
  }
  return high - low;
}

// About so many round numbers between two, with their names.
function nice(low, high, count) {
  const rough = (high - low) / count,
    power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((digit) => digit * power >= rough * 0.999) * power,
    found = [];
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9)),
    size = Math.max(Math.abs(low), Math.abs(high));
  for (let i = Math.ceil(low / step); i * step <= high; i++) {
    const value = i * step;
    found.push([
      value,
      size >= 1e5 || decimals > 7 ? digits(Math.abs(value) < 1e-9 * step ? 0 : value, 4) : value.toFixed(decimals),
    ]);
  }
  return found;
}
