"use strict";
(() => {
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const places = Object.keys(figures).map((name) => document.getElementById(name));
  const touch = matchMedia("(pointer: coarse)").matches; // there a drag scrolls the page
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const IN_THE_DARK = {
    "#ffffff": "#15181b", "#1c2024": "#e8eaed", "#E3E7EA": "#31373d", "#8A939B": "#79838c", "#EEF0F2": "#22272c",
    "#000000": "#ffffff", "#555555": "#bbbbbb", "#0072B2": "#3d9fe0",
  };
  const painted = (data, layout, isDark) =>
    isDark ? JSON.parse(JSON.stringify([data, layout]), (_, value) => IN_THE_DARK[value] ?? value) : [data, layout];
  const paint = (isDark, size = {}) =>
    places.forEach((place) => {
      const [data, layout] = painted(figures[place.id].data, figures[place.id].layout, isDark);
      data.forEach((trace, k) => (trace.visible = place.data[k].visible ?? true));
      Plotly.react(place, data, { ...layout, ...size });
    });
  for (const place of places) {
    const { data, layout } = figures[place.id];
    if (place.clientWidth < 480) layout.xaxis.nticks = 5;
    layout.dragmode = touch ? false : "zoom";
    Plotly.newPlot(place, ...painted(data, layout, dark.matches), { responsive: true, displayModeBar: false });
  }
  dark.addEventListener("change", () => paint(dark.matches));

  for (const legend of document.querySelectorAll(".legend")) {
    const place = document.getElementById(legend.dataset.figure);
    legend.querySelectorAll("button").forEach((button, trace) =>
      button.addEventListener("click", () => {
        const shown = button.getAttribute("aria-pressed") !== "true";
        button.setAttribute("aria-pressed", shown);
        Plotly.restyle(place, { visible: shown }, [trace]);
      }),
    );
  }

  const other = document.getElementById("other-prices");
  if (other) {
    const { now, steps, unit, decimals, digits, subject, policies, fixed } = JSON.parse(other.textContent);
    const section = document.getElementById("what-if");
    const slider = document.getElementById("review-price");
    const withUnit = (text) => (unit ? `${text} ${unit}` : text);
    const number = (value) =>
      value.toLocaleString("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
    const cell = (kind, text) => Object.assign(document.createElement(kind), { textContent: text });
    const show = () => {
      const review = (now * slider.value) / steps;
      const cost = ([, mistakes, reviewed]) => mistakes + reviewed * review;
      const best = fixed.reduce((one, other) => (cost(other) < cost(one) ? other : one));
      const price = withUnit(Number(review.toPrecision(6)).toLocaleString("en-US", { maximumFractionDigits: 9 }));
      const name = best[0] ? `best fixed threshold: ${best[0]}` : "best: everything to review";
      const rows = [...policies, [name, ...best.slice(1)]];
      section.querySelector("tbody").replaceChildren(
        ...rows.map((row, k) => {
          const line = document.createElement("tr");
          const head = cell("th", row[0]);
          head.scope = "row";
          line.className = k ? "" : "gate";
          line.append(head, cell("td", number(cost(row))), cell("td", `${(100 * row[2]).toFixed(digits)} %`));
          return line;
        }),
      );
      slider.setAttribute("aria-valuetext", price);
      section.querySelector("output").textContent =
        `At ${price} per review, ${subject} costs ${withUnit(number(cost(policies[0])))} per case, ` +
        `and the best fixed threshold ${withUnit(number(cost(best)))}.`;
    };
    slider.addEventListener("input", show);
    show();
    section.hidden = false;
  }

  // A browser lays the page out anew for paper, but a drawing keeps the width it has.
  const PAPER = 660;
  addEventListener("beforeprint", () => paint(false, { width: PAPER }));
  addEventListener("afterprint", () => paint(dark.matches, { autosize: true }));
})();
