"use strict";
// The page asks for itself again every few seconds and takes over the parts marked data-live.
(() => {
  const body = document.body;
  const byId = (id) => document.getElementById(id);
  const say = (text) => { byId("announce").textContent = text; };
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const dark = matchMedia("(prefers-color-scheme: dark)");

  if (body.dataset.reload) setTimeout(() => location.reload(), Number(body.dataset.reload));

  // Polling.
  async function look(address = location.href) {
    const reply = await fetch(address, { credentials: "same-origin", headers: { accept: "text/html" } });
    if (reply.redirected && new URL(reply.url).pathname === "/ui/login") { location.assign(reply.url); return null; }
    if (!reply.ok) throw new Error(`the server says ${reply.status}`);
    return new DOMParser().parseFromString(await reply.text(), "text/html");
  }
  function takeOver(other) {
    for (const part of document.querySelectorAll("[data-live]")) {
      const next = other.getElementById(part.id);
      if (!next || part.isEqualNode(next)) continue;
      if ("announce" in part.dataset && next.textContent.trim() !== part.textContent.trim())
        say(next.textContent.trim() || "No model is in alarm any more.");
      for (const { name } of [...part.attributes]) if (!next.hasAttribute(name)) part.removeAttribute(name);
      for (const { name, value } of next.attributes) part.setAttribute(name, value);
      part.replaceChildren(...next.childNodes);
    }
  }
  let lost = false;
  async function poll() {
    if (!document.hidden) {
      try {
        const other = await look();
        if (other) { takeOver(other); draw(); }
        if (lost) { lost = false; say("Connected again."); byId("offline").hidden = true; }
      } catch {
        if (!lost) { lost = true; say(byId("offline").textContent); byId("offline").hidden = false; }
      }
    }
    setTimeout(poll, Number(body.dataset.poll));
  }
  if (body.dataset.poll) setTimeout(poll, Number(body.dataset.poll));

  // Figures. Plotly reads markup in names; ours are text.
  const plain = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const short = (text) => (text.length > 28 ? `${text.slice(0, 14)}…${text.slice(-12)}` : text);
  const DASHES = { solid: "none", dash: "6 4", dot: "2 3", dashdot: "7 3 2 3", longdash: "11 3", longdashdot: "11 3 2 3" };
  let drawn = "";
  function layout(more, y, narrow) {
    const axis = { gridcolor: style("--grid"), linecolor: style("--line"), zeroline: false, automargin: true, fixedrange: true, tickfont: { color: style("--soft"), size: 12 } };
    return {
      margin: { l: 8, r: 12, t: 8, b: 8 }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", showlegend: false,
      font: { family: getComputedStyle(body).fontFamily, color: style("--ink") }, hovermode: "x unified", dragmode: false,
      hoverlabel: { bgcolor: style("--band"), bordercolor: style("--line"), font: { color: style("--ink"), size: 12 } },
      xaxis: { ...axis, showgrid: false, nticks: narrow ? 4 : 8 }, yaxis: { ...axis, rangemode: "tozero", nticks: 6, ...y }, ...more,
    };
  }
  function legend(id, lines, area) {
    const list = byId(id);
    list.replaceChildren(...lines.map((line) => {
      const item = document.createElement("li");
      const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
      svg.setAttribute("viewBox", "0 0 28 10");
      const mark = document.createElementNS(svg.namespaceURI, area ? "rect" : "line");
      const values = area ? { width: 28, height: 10, fill: line.colour }
        : { x1: 0, x2: 28, y1: 5, y2: 5, stroke: line.colour, "stroke-width": line.kind === "gate" ? 4 : 2, "stroke-dasharray": DASHES[line.dash] };
      for (const [name, value] of Object.entries(values)) mark.setAttribute(name, value);
      svg.append(mark);
      item.append(svg, line.name);
      return item;
    }));
  }
  function draw() {
    const kept = byId("live-figures");
    if (!kept || !window.Plotly) return;
    const text = kept.dataset.figures + dark.matches;
    if (text === drawn) return;
    drawn = text;
    const shown = JSON.parse(kept.dataset.figures);
    if (!shown.x.length) return;
    const config = { responsive: true, displayModeBar: false, doubleClick: false, showTips: false };
    const narrow = byId("price").clientWidth < 480;
    const trace = (y, name, colour, more) => ({ type: "scatter", mode: shown.x.length > 1 ? "lines" : "markers", x: shown.x, y, name: plain(short(name)), line: { color: colour, width: 2 }, ...more });
    const put = (id, data, more, y) => Plotly.react(byId(id), data, layout(more, y, narrow), config);
    put("price", shown.price.map((line) => trace(line.y, line.name, line.colour, { opacity: line.kind === "model" && !dark.matches ? 0.8 : 1, line: { color: line.kind === "gate" ? style("--mark") : line.kind === "today" ? style("--ink") : line.colour, width: line.kind === "gate" ? 3.5 : line.kind === "today" ? 2 : 1.5, dash: line.dash }, hovertemplate: "%{y:.3g}" })), {}, {});
    legend("price-legend", shown.price.slice().reverse().map((line) => ({ ...line, colour: line.kind === "gate" ? style("--mark") : line.kind === "today" ? style("--ink") : line.colour })), false);
    const share = { ticksuffix: " %", tickformat: ",~g", hoverformat: ".1f" };
    const inPerCent = (y) => y.map((one) => (one === null ? null : 100 * one));
    const limit = shown.capacity === null ? [] : [trace(shown.x.map(() => 100 * shown.capacity), "capacity", style("--warn"), { line: { color: style("--warn"), width: 1.5, dash: "dot" } })];
    put("reviewed", [trace(inPerCent(shown.reviewed), "reviewed", style("--mark")), ...limit], {}, share);
    put("threshold", [trace(shown.threshold, "threshold", style("--mark"), { line: { color: style("--mark"), width: 2, shape: "hv" } })], {}, { range: [0, 1.02], hoverformat: ".3f" });
    put("followed", shown.followed.map((line) => trace(inPerCent(line.y), line.name, line.colour, { stackgroup: "all", line: { color: style("--page"), width: 1 }, fillcolor: line.colour })), {}, { ...share, range: [0, 100] });
    legend("followed-legend", shown.followed, true);
  }
  dark.addEventListener("change", draw);
  draw();

  // Changes: nothing is sent before it is confirmed in a dialog.
  async function call(method, path, content) {
    const reply = await fetch(path, { method, credentials: "same-origin", headers: { "content-type": "application/json" }, body: JSON.stringify(content) });
    if (reply.ok) return reply.json();
    const problem = await reply.json().catch(() => ({}));
    throw new Error(problem.detail || problem.title || `The server says ${reply.status}.`);
  }
  for (const button of document.querySelectorAll("[data-open]")) {
    const dialog = byId(button.dataset.open), form = dialog.querySelector("form");
    const go = form.querySelector("[value=go]"), confirm = form.querySelector(".confirm"), error = form.querySelector(".error");
    const changes = () => {
      const numbers = [...form.querySelectorAll("input[data-was]")];
      if (numbers.length) return Object.fromEntries(numbers.filter((one) => one.value !== "" && Number(one.value) !== Number(one.dataset.was)).map((one) => [one.name, Number(one.value)]));
      const mode = form.querySelector("[name=mode]:checked").value;
      return mode === confirm.dataset.now ? {} : { mode };
    };
    const check = () => {
      const found = changes();
      error.textContent = "";
      go.disabled = !Object.keys(found).length || !form.checkValidity();
      confirm.textContent = go.disabled ? "" : found.mode ? confirm.dataset.confirm.replace("{}", found.mode)
        : [...form.querySelectorAll("input[data-was]")].filter((one) => one.name in found).map((one) => `${one.parentElement.firstChild.textContent.trim()}: from ${Number(one.dataset.was)} to ${Number(one.value)}.`).join(" ") + " Decisions follow the new prices at once. Change them?";
    };
    button.addEventListener("click", () => { form.reset(); check(); dialog.showModal(); });
    form.querySelector("[data-close]").addEventListener("click", () => dialog.close());
    form.addEventListener("input", check);
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      if (go.disabled) return;
      go.disabled = true;
      try {
        await call(form.dataset.call, form.dataset.path, changes());
        location.reload();
      } catch (problem) {
        error.textContent = problem.message;
        go.disabled = false;
      }
    });
  }

  // Reviews: one key per class, n for the next case, / to type.
  if ("review" in body.dataset) {
    const desk = byId("live-review"), error = byId("review-error");
    const queue = `/ui/gates/${encodeURIComponent(body.dataset.gate)}/review`;
    let busy = false, last = null;
    async function show(address) {
      const other = await look(address);
      if (!other) return;
      takeOver(other);
      error.textContent = "";
      if (address !== location.href) history.replaceState(null, "", address);
      byId("case-title")?.focus();
      window.scrollTo(0, 0);
      if (!desk.dataset.case && !body.dataset.poll) { body.dataset.poll = "3000"; setTimeout(poll, 3000); }
    }
    async function send(value, text) {
      if (busy || !desk.dataset.case) return;
      busy = true;
      error.textContent = "";
      const name = desk.dataset.case, correction = "correct" in desk.dataset;
      try {
        // Not by its path: browsers take the ids . and .. out of paths.
        const row = { case: name, label: value, ...(correction ? { correction } : { source: "review" }) };
        const { labels: [reply] } = await call("POST", `/v1/gates/${encodeURIComponent(body.dataset.gate)}/labels`, { labels: [row] });
        if (reply.status === "invalid") throw new Error(reply.detail);
        const taken = reply.status === "conflict";
        if (!taken) {
          byId("last").textContent = `${name}: ${text} (${reply.status}).`;
          byId("correct").hidden = false;
          last = name;
        }
        await show(correction ? queue : location.href);
        if (taken) error.textContent = `${name}: somebody else has labelled it.`;
      } catch (problem) {
        error.textContent = problem.message;
      } finally {
        busy = false;
      }
    }
    desk.addEventListener("click", (event) => {
      const button = event.target.closest("button[data-label]");
      if (button) send(JSON.parse(button.dataset.label), button.lastChild.textContent.trim());
      const skip = event.target.closest("#skip");
      if (skip) { event.preventDefault(); show(skip.href); }
    });
    byId("correct").addEventListener("click", () => last !== null && show(`${queue}?case=${encodeURIComponent(last)}`));
    desk.addEventListener("submit", (event) => {
      event.preventDefault();
      const form = event.target, given = form.elements.label.value.trim();
      // What is typed as a class is shown is that class; 3 is a number where the classes are numbers.
      const known = [...form.querySelectorAll("option")].find((one) => one.value === given);
      if (known) send(JSON.parse(known.dataset.label), given);
      else if ("fixed" in form.dataset) error.textContent = `${given} is none of the classes of this gate.`;
      else if (given) send("numbers" in form.dataset && Number.isFinite(Number(given)) ? Number(given) : given, given);
    });
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
      const field = document.querySelector("#other input");
      if (event.target.matches("input")) {
        if (event.key === "Escape") event.target.blur();
        return;
      }
      const key = event.key.toLowerCase();
      const button = [...document.querySelectorAll("[data-key]")].find((one) => one.dataset.key === key);
      if (button) { event.preventDefault(); button.click(); }
      else if (key === "n" && byId("skip")) { event.preventDefault(); byId("skip").click(); }
      else if (key === "backspace" && last !== null) { event.preventDefault(); byId("correct").click(); }
      else if (key === "/" && field) { event.preventDefault(); field.focus(); }
    });
  }
})();
