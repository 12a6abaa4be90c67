// Sliders of parameters over what their run shows, in a frame that reaches nothing else. The state is that of the model.

const STEPS = 1000;
const STYLE =
  "display:grid;grid-template-columns:fit-content(40%) minmax(6em,24em) max-content;gap:2px 10px;align-items:center";

function made(tag, attributes, ...children) {
  const found = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) found.setAttribute(name, value);
  found.append(...children);
  return found;
}

// The value at a place of a slider from 0 to STEPS, and the place of a value.
const valueAt = ({ low, high, log }, place) => {
  const share = place / STEPS;
  if (share <= 0 || share >= 1) return share <= 0 ? low : high;
  return Number((log ? low * (high / low) ** share : low + share * (high - low)).toPrecision(4));
};
const placeOf = ({ low, high, log }, value) =>
  Math.round((STEPS * (log ? Math.log(value / low) : value - low)) / (log ? Math.log(high / low) : high - low));

function render({ model, el }) {
  const inputs = model.get("sliders").map((one) => {
    const value = made("output", {}),
      input = made("input", { type: "range", min: "0", max: String(STEPS), step: "1", "aria-label": one.name });
    const write = (x) => {
      value.textContent = `${Number((x / one.factor).toPrecision(4))} ${one.unit}`;
    };
    input.addEventListener("input", () => write(valueAt(one, Number(input.value))));
    input.addEventListener("change", () => {
      model.set("values", { ...model.get("values"), [one.name]: valueAt(one, Number(input.value)) });
      model.save_changes();
    });
    return { one, input, value, write };
  });
  const said = made("p", { role: "status", style: "margin:4px 0;min-height:1.4em" }),
    frame = made("iframe", {
      sandbox: "allow-scripts allow-downloads",
      title: "run",
      style: `width:100%;height:${model.get("height")}px;border:0`,
    }),
    rows = inputs.flatMap(({ one, input, value }) => [made("label", {}, one.name), input, value]);
  const values = () => {
    for (const { one, input, write } of inputs) {
      const x = model.get("values")[one.name];
      input.value = String(placeOf(one, x));
      write(x);
    }
  };
  const state = () => {
    said.textContent = model.get("busy") ? "running …" : model.get("said");
    frame.style.opacity = model.get("busy") ? "0.5" : "1";
  };
  const shown = () => {
    frame.srcdoc = model.get("document");
  };
  const events = { "change:values": values, "change:busy": state, "change:said": state, "change:document": shown };
  for (const [event, action] of Object.entries(events)) {
    model.on(event, action);
    action();
  }
  el.append(made("div", { style: STYLE }, ...rows), said, frame);
  return () => {
    for (const [event, action] of Object.entries(events)) model.off(event, action);
  };
}

export default { render };
