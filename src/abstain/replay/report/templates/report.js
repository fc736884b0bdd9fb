"use strict";
(() => {
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const places = Object.keys(figures).map((name) => document.getElementById(name));
  const touch = matchMedia("(pointer: coarse)").matches; // there a drag scrolls the page
  for (const place of places) {
    const { data, layout } = figures[place.id];
    if (place.clientWidth < 480) layout.xaxis.nticks = 5;
    layout.dragmode = touch ? false : "zoom";
    Plotly.newPlot(place, data, layout, { responsive: true, displayModeBar: false });
  }

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

  // A browser lays the page out anew for paper, but a drawing keeps the width it has.
  const PAPER = 660;
  addEventListener("beforeprint", () => places.forEach((place) => Plotly.relayout(place, { width: PAPER })));
  addEventListener("afterprint", () => places.forEach((place) => Plotly.relayout(place, { width: null, autosize: true })));
})();
