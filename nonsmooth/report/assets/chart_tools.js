// The buttons of a chart or an orbit: as large as the window, its picture, its numbers.

class ChartTools {
  // `chart` has a title, a caption, a unit, a canvas as wide as its plot, draw(always); `keys` tells the names of its
  // curves with their colours, `lines` its numbers.
  constructor(chart, keys, lines) {
    Object.assign(this, { chart, keys });
    this.larger = this.button("larger", "this chart as large as the window (Escape ends it)", () =>
      chart.all.enlarge(chart),
    );
    this.host = element(
      "span",
      { class: "chart-buttons" },
      this.larger,
      this.button("PNG", "picture of this chart", () => this.picture().toBlob((blob) => save(this.file("png"), blob))),
      this.button("CSV", "numbers of this chart", () =>
        save(this.file("csv"), new Blob([`${lines().join("\r\n")}\r\n`], { type: "text/csv" })),
      ),
    );
  }

  button(words, title, action) {
    const found = element("button", { type: "button", title, "aria-label": `${title}: ${this.chart.title}` }, words);
    found.addEventListener("click", action);
    return found;
  }

  file(ending) {
    const { title, unit } = this.chart,
      name = `${title.split(" [")[0]} ${unit.replace("µ", "u")}`.replace(/[^A-Za-z0-9]+/g, "_").replace(/_+$/, "");
    return `${name}.${ending}`;
  }

  // The chart as it is shown, with its title and the names of its curves.
  picture() {
    this.chart.draw(true);
    const { canvas, plot, caption, all } = this.chart,
      ratio = canvas.width / plot.clientWidth,
      keys = this.keys(),
      line = 18,
      found = document.createElement("canvas"),
      context = found.getContext("2d");
    found.width = canvas.width;
    found.height = canvas.height + Math.round((keys.length + 2) * line * ratio);
    context.fillStyle = all.colours.card;
    context.fillRect(0, 0, found.width, found.height);
    context.drawImage(canvas, 0, Math.round(line * ratio));
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = "12px system-ui, sans-serif";
    context.fillStyle = all.colours.ink;
    context.fillText(caption, MARGIN.left, 13);
    keys.forEach(([name, colour], i) => {
      const y = canvas.height / ratio + (i + 2) * line;
      context.fillStyle = colour;
      context.fillRect(MARGIN.left, y - 6, 14, 4);
      context.fillStyle = all.colours.ink;
      context.fillText(name, MARGIN.left + 20, y);
    });
    return found;
  }
}

// Charts, one of which may be as large as the window.
class Enlarging {
  enlarge(chart) {
    for (const one of this.charts) one.enlarge(one === chart && one !== this.large);
    this.large = chart && chart !== this.large ? chart : null;
  }

  redraw() {
    for (const chart of this.charts) chart.draw();
  }
}

// Rows of the curves of a chart that are shown, in the time that is shown; at jumps the left limit, then the right one.
function timeLines(chart) {
  const shown = chart.series.filter((one) => one.on),
    { runs, axes } = chart.all,
    head = [...(runs.length > 1 ? ["run"] : []), "t [s]", ...shown.map(({ name }) => `${name} [${chart.unit}]`)],
    lines = [head.map(quoted).join(",")],
    [from, to] = chart.clock.window;
  runs.forEach((run, r) => {
    const columns = shown.map((one) => chart.curves(one)[r]);
    axes[r].t.forEach((t, i) => {
      if (t < from || t > to) return;
      const values = columns.map((column) => (column && Number.isFinite(column[i]) ? String(column[i]) : ""));
      lines.push([...(runs.length > 1 ? [quoted(run.label)] : []), String(t), ...values].join(","));
    });
  });
  return lines;
}

// A word of a CSV file.
const quoted = (text) => `"${text.replace(/"/g, '""')}"`;

// Hand a file to the browser.
function save(name, blob) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1e4);
}
