// The complete table of impacts; a row goes there.

const PORTION = 100;

class Impacts {
  constructor(host, runs, clock) {
    Object.assign(this, { clock, sorted: 0, up: 1, shown: PORTION });
    this.list = runs.flatMap((run, r) => Array.from(run.impactT, (t, i) => ({ run, r, i, t })));
    const number =
      (column) =>
      ({ run, i }) =>
        run.tables.impacts[column][i];
    this.columns = [
      ["t [s]", (one) => one.t, 8],
      ["contact", (one) => one.run.info.names.gap[one.run.impactGap[one.i]]],
      ["P_N [N\u00a0s]", number(0), 4],
      ["P_T [N\u00a0s]", number(1), 4],
      ["rate before [m/s]", number(2), 4],
      ["rate after [m/s]", number(3), 4],
    ];
    if (runs.length > 1) this.columns.push(["run", (one) => one.run.label]);
    this.note = element("p", { class: "note" });
    host.append(this.note);
    if (!this.list.length) {
      this.note.textContent = runs.every((run) => run.info.compliant)
        ? "Compliant contact lasts: contact modes and forces show it, and run.contacts lists it."
        : "There are no impacts.";
      return;
    }
    this.head = element("tr");
    this.body = element("tbody");
    this.more = element("button", { type: "button", class: "more" });
    this.more.addEventListener("click", () => this.fill(10 * this.shown));
    this.columns.forEach((column, k) => this.heading(column[0], k));
    const go = (row) => {
      if (row) {
        clock.pause();
        clock.seek(Number(row.dataset.t));
      }
    };
    this.body.addEventListener("click", (event) => go(event.target.closest("tr")));
    this.body.addEventListener("keydown", (event) => {
      if (event.key === "Enter") go(event.target.closest("tr"));
    });
    const table = element("table", {}, element("thead", {}, this.head), this.body);
    host.append(
      element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "impacts" }, table),
      this.more,
    );
    this.fill();
  }

  heading(title, k) {
    const button = element("button", { type: "button" }, title),
      cell = element("th", { scope: "col", "aria-sort": "none" }, button);
    button.addEventListener("click", () => {
      this.up = this.sorted === k ? -this.up : this.columns[k][2] && k ? -1 : 1;
      this.sorted = k;
      this.fill();
    });
    this.head.append(cell);
  }

  // Show so many rows, sorted.
  fill(rows = this.shown) {
    this.shown = rows;
    if (!this.list.length) return;
    const [, value] = this.columns[this.sorted],
      { up } = this;
    this.list.sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      return x < y ? -up : x > y ? up : a.t - b.t;
    });
    [...this.head.children].forEach((cell, k) =>
      cell.setAttribute("aria-sort", k !== this.sorted ? "none" : up > 0 ? "ascending" : "descending"),
    );
    this.body.replaceChildren(
      ...this.list.slice(0, this.shown).map((one) => {
        const cells = this.columns.map(([, of, places]) =>
          element("td", { class: places ? "number" : "" }, places ? digits(of(one), places) : named(of(one))),
        );
        return element("tr", { tabindex: "0", "data-t": String(one.t) }, ...cells);
      }),
    );
    const count = this.list.length;
    this.note.textContent =
      count > this.shown ? `${this.shown} of ${count} impacts` : `${count} impact${count > 1 ? "s" : ""}`;
    this.more.textContent = `show ${Math.min(9 * this.shown, count - this.shown)} more`;
    this.more.hidden = count <= this.shown;
  }
}
