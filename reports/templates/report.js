"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const svgSpace = "http://www.w3.org/2000/svg";

  const element = (name, attributes = {}, text) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const shape = (name, attributes, text) => {
    const made = document.createElementNS(svgSpace, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const milliseconds = (nanoseconds) => `${(nanoseconds / 1e6).toFixed(1)} ms`;

  // Filters.
  const form = document.querySelector(".filters");
  const rows = [...document.querySelectorAll(".clauses tbody tr")];
  const filter = () => {
    const wanted = Object.fromEntries(new FormData(form));
    const text = wanted.text.toLowerCase();
    let shown = 0;
    for (const row of rows) {
      const fits = ["verdict", "level", "group"].every((name) => !wanted[name] || row.dataset[name] === wanted[name])
        && (!text || row.textContent.toLowerCase().includes(text));
      row.hidden = !fits;
      if (fits) shown += 1;
    }
    form.querySelector("output").textContent = `${shown} of ${rows.length} clauses`;
  };
  form.hidden = false;
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  filter();

  // One scenario's drawing.
  const LEFT = 70, WIDTH = 1100, RIGHT = 20, ROW = 22, TOP = 20;
  const timeline = (events) => {
    const last = Math.max(1, ...events.map((event) => event[1]));
    const height = TOP + data.lanes.length * ROW + 6;
    const drawing = shape("svg", { class: "timeline", viewBox: `0 0 ${WIDTH} ${height}`, role: "img",
      "aria-label": "Events on one clock; the table below lists them" });
    const x = (at) => LEFT + (at / last) * (WIDTH - LEFT - RIGHT);
    for (let tick = 0; tick <= 10; tick += 1) {
      const at = (last * tick) / 10;
      drawing.append(shape("line", { x1: x(at), x2: x(at), y1: TOP - 4, y2: height }),
        shape("text", { x: x(at), y: 12, "text-anchor": tick === 10 ? "end" : "middle" }, milliseconds(at)));
    }
    data.lanes.forEach((lane, row) => drawing.append(shape("text", { x: 6, y: TOP + row * ROW + 15 }, lane)));
    for (const [sequence, at, launch, lane, said] of events) {
      const mark = shape("circle", { class: "mark", cx: x(at), cy: TOP + lane * ROW + 11, r: 4, "data-sequence": sequence });
      mark.append(shape("title", {}, `${sequence} at ${milliseconds(at)}, launch ${launch}: ${said}`));
      drawing.append(mark);
    }
    return drawing;
  };

  const table = (events) => {
    const box = element("div", { class: "events", tabindex: "0" });
    const list = element("table");
    const head = element("tr");
    for (const name of ["event", "time", "lane", "what"]) head.append(element("th", { scope: "col" }, name));
    list.append(head);
    for (const [sequence, at, launch, lane, said, raw] of events) {
      const row = element("tr", { "data-sequence": sequence });
      const what = element("td");
      if (raw === null) what.textContent = said;
      else {
        const whole = element("details");
        whole.append(element("summary", {}, said), element("div", {}, raw));
        what.append(whole);
      }
      row.append(element("td", {}, String(sequence)), element("td", {}, milliseconds(at)),
        element("td", {}, `${data.lanes[lane]} ${launch}`), what);
      list.append(row);
    }
    box.append(list);
    return box;
  };

  const stills = (all) => {
    const box = element("div", { class: "still" });
    const label = element("label", {}, "The pane ");
    const slider = element("input", { type: "range", min: "0", max: String(all.length - 1), value: String(all.length - 1) });
    const place = element("span");
    const screen = element("pre");
    const show = () => {
      const still = all[Number(slider.value)];
      place.textContent = `after event ${still.sequence}`;
      screen.textContent = still.lines.join("\n");
    };
    slider.addEventListener("input", show);
    label.append(slider, place);
    box.append(label, screen);
    box.showAt = (sequence) => {
      const after = all.findIndex((still) => still.sequence >= sequence);
      slider.value = String(after < 0 ? all.length - 1 : after);
      show();
    };
    show();
    return box;
  };

  const light = (scenario, numbers, held) => {
    const lit = new Set(numbers.map(String));
    let first = null;
    for (const marked of scenario.querySelectorAll("[data-sequence]")) {
      const on = lit.has(marked.dataset.sequence);
      marked.classList.toggle("lit", on);
      marked.classList.toggle("held", on && held);
      if (marked.tagName === "circle") marked.setAttribute("r", on ? 7 : 4);
      if (on && first === null && marked.tagName === "TR") first = marked;
    }
    if (first !== null) first.parentNode.parentNode.scrollTop = first.offsetTop - 40;
    const still = scenario.querySelector(".still");
    if (still && numbers.length > 0) still.showAt(Math.max(...numbers));
  };

  const draw = (scenario) => {
    const place = scenario.querySelector(".drawing");
    if (place.childElementCount > 0) return;
    const { findings, events, stills: panes } = data.scenarios[Number(scenario.dataset.scenario)];
    const list = element("ul", { class: "findings" });
    const rank = { broken: 0, inconclusive: 1, "not-exercised": 1, held: 2 };
    const worstFirst = [...findings].sort((one, other) => (rank[one.finding] ?? 3) - (rank[other.finding] ?? 3));
    for (const finding of worstFirst) {
      const item = element("li");
      const colour = { held: "pass", broken: "fail", "not-applicable": "other" }[finding.finding] ?? "unproven";
      const button = element("button", { type: "button", "aria-pressed": "false", class: colour, title: finding.said,
        "data-clause": finding.clause }, `${finding.clause}: ${finding.finding}`);
      button.addEventListener("click", () => {
        for (const other of list.querySelectorAll("button")) other.setAttribute("aria-pressed", String(other === button));
        light(scenario, finding.events, finding.finding === "held");
      });
      item.append(button);
      list.append(item);
    }
    place.append(list);
    if (events.length > 0) {
      const scroll = element("div", { class: "wide" });
      scroll.append(timeline(events));
      place.append(scroll);
    }
    if (panes.length > 0) place.append(stills(panes));
    if (events.length > 0) place.append(table(events));
  };

  for (const scenario of document.querySelectorAll("details.scenario")) {
    scenario.addEventListener("toggle", () => { if (scenario.open) draw(scenario); });
  }
  const named = /^#scenario-\d+$/.test(location.hash) && document.getElementById(location.hash.slice(1));
  if (named) {
    named.open = true;
    draw(named);
    const broken = named.querySelector("button.fail");
    if (broken !== null) broken.click();
    named.scrollIntoView({ block: "start" });
  }
  document.addEventListener("click", (event) => {
    const mark = event.target.closest("circle.mark");
    if (mark !== null) {
      light(mark.closest("details.scenario"), [Number(mark.dataset.sequence)], false);
      return;
    }
    const link = event.target.closest("a[data-scenario]");
    if (link === null) return;
    event.preventDefault();
    const scenario = document.getElementById(`scenario-${link.dataset.scenario}`);
    scenario.open = true;
    draw(scenario);
    const numbers = link.dataset.events.split(" ").filter(Boolean).map(Number);
    const row = link.closest("tr");
    light(scenario, numbers, row !== null && row.dataset.verdict === "pass");
    scenario.scrollIntoView({ block: "start" });
  });
})();
