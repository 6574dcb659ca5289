"use strict";
// Live pages, copying, plots. Every page can be read without this file.
(() => {
  const base = document.body.dataset.base;
  const news = document.getElementById("news");

  // A change of the store reloads what is live; an open stream belongs to the visible page alone,
  // for browsers open only six connections to a server.
  let stream = null, soon = 0;
  const live = () => document.getElementById("live");
  const changed = () => {
    clearTimeout(soon);
    soon = setTimeout(() => {
      const picked = document.getSelection();
      const reads = !picked.isCollapsed && live().contains(picked.anchorNode);
      if (reads) changed(); else htmx.trigger(document.body, "changed");
    }, 400);
  };
  const listen = () => {
    if (document.hidden || !live()) { stream?.close(); stream = null; return; }
    if (stream) return;
    stream = new EventSource(`${base}/api/v1/events`);
    for (const name of ["hold", "answer", "state"]) stream.addEventListener(name, changed);
    stream.addEventListener("hold", (event) => {
      const { id, reason } = JSON.parse(event.data);
      news.textContent = `${id} was held: ${reason}`;
    });
  };
  document.addEventListener("visibilitychange", () => { if (!document.hidden && live()) changed(); listen(); });

  // What is open stays open when the page renews itself.
  let open = new Map();
  document.addEventListener("htmx:beforeSwap", () => {
    open = new Map([...document.querySelectorAll("details[id]")].map((one) => [one.id, one.open]));
  });
  document.addEventListener("htmx:afterSettle", () => {
    for (const [id, was] of open) { const one = document.getElementById(id); if (one) one.open = was; }
    prepare();
  });

  const copy = async (button) => {
    const from = document.getElementById(button.dataset.copy);
    try { await navigator.clipboard.writeText(from.textContent); } catch {
      getSelection().selectAllChildren(from);  // plain HTTP has no clipboard
      document.execCommand("copy");
      getSelection().removeAllRanges();
    }
    const label = button.textContent;
    button.textContent = "Copied";
    news.textContent = "The commands are copied";
    setTimeout(() => { button.textContent = label; }, 1500);
  };
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy]");
    if (button) copy(button);
  });

  const colours = ["#d9822b", "#2f80c8", "#1f9d73", "#8d7bc7", "#c9431d", "#7d8b97"];
  const plot = (figure) => {
    const { names, data } = JSON.parse(figure.dataset.plot);
    const style = getComputedStyle(document.body);
    const short = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" }, long = { month: "short", day: "numeric" };
    const utc = (seconds, how) => new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", ...how }).format(seconds * 1000);
    const axis = { stroke: style.getPropertyValue("--soft"), grid: { stroke: style.getPropertyValue("--line"), width: 1 }, ticks: { show: false }, font: "12px system-ui" };
    // Bars are stacked: each is drawn from nothing to its sum with those before it, the last first.
    const sums = names.map((_, k) => data[0].map((_, t) => data.slice(1, k + 2).reduce((sum, one) => sum + one[t], 0) || null));
    const series = names.map((label, k) => ({
      label, stroke: colours[k], fill: colours[k], paths: uPlot.paths.bars({ size: [0.6, 24] }), points: { show: false },
      value: (_, __, ___, at) => (at === null ? "–" : data[k + 1][at]),
    }));
    const size = () => ({ width: figure.clientWidth, height: 220 });
    const drawing = new uPlot({
      ...size(), tzDate: (at) => uPlot.tzDate(new Date(at * 1000), "UTC"),
      series: [{ label: "UTC", value: (_, at) => (at === null ? "" : utc(at, { ...long, ...short })) }, ...series.toReversed()],
      axes: [{ ...axis, values: (_, ticks, __, ___, step) => ticks.map((at) => utc(at, at % 86400 && step < 86400 ? short : long)) }, { ...axis, size: 44 }],
      scales: { y: { range: (_, __, most) => [0, Math.max(most, 1) * 1.05] } }, cursor: { drag: { x: false, y: false } },
    }, [data[0], ...sums.toReversed()], figure);
    new ResizeObserver(() => drawing.setSize(size())).observe(figure);
  };

  const prepare = () => {
    for (const one of document.querySelectorAll("[data-copy][hidden]")) one.hidden = false;
    for (const one of document.querySelectorAll("[data-plot]:empty")) plot(one);
  };
  document.querySelector("nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
  prepare();
  listen();
})();
