// Making elements, colours, and texts that fit.

function make(namespace, tag, settings, children) {
  const element = namespace ? document.createElementNS(namespace, tag) : document.createElement(tag);
  for (const [key, value] of Object.entries(settings || {})) {
    if (value === null || value === undefined || (value === false && !key.startsWith("aria-"))) continue;
    if (key === "text") element.textContent = value;
    else if (key === "style")
      for (const [name, own] of Object.entries(value)) element.style.setProperty(name, own);
    else if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}
const h = (tag, settings, ...children) => make(null, tag, settings, children);
const s = (tag, settings, ...children) => make("http://www.w3.org/2000/svg", tag, settings, children);
const colour = (k) => `var(--class-${k})`;
const swatch = (k) => h("span", { class: "swatch", style: { background: colour(k) } });

const PALETTE = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#767676"];

function mixed(hex, other, share) {
  const part = (text, i) => parseInt(text.slice(1 + 2 * i, 3 + 2 * i), 16);
  return `rgb(${[0, 1, 2].map((i) => Math.round(part(hex, i) * (1 - share) + part(other, i) * share)).join(",")})`;
}
/** Okabe and Ito's colours, then lighter and darker ones of them. */
function paint() {
  const variants = [
    ["#ffffff", 0],
    ["#ffffff", 0.5],
    ["#000000", 0.4],
    ["#ffffff", 0.75]
  ];
  const names = numeric ? 1 : D.classes.length;
  for (let k = 0; k < names; k++) {
    const [towards, share] = variants[Math.floor(k / PALETTE.length) % variants.length];
    document.documentElement.style.setProperty(`--class-${k}`, mixed(PALETTE[k % PALETTE.length], towards, share));
  }
}

/** A row of label, bar and number; `low` and `high` are where the bar begins and ends, from 0 to 1. */
function line(label, low, high, number, fill, both, extra) {
  return [
    h("span", { class: "label", title: label.title }, ...label.parts),
    h("span", { class: both ? "track both" : "track" },
      h("i", { class: extra, style: { left: `${100 * low}%`, width: `${100 * (high - low)}%`, ...(fill ?
          { background: fill } : {}) } })),
    h("span", { class: "number", text: number }),
  ];
}

const measuring = document.createElement("canvas").getContext("2d");
const FONTS = {};

function widthOf(text, font) {
  FONTS[font] = FONTS[font] || new Map();
  if (!FONTS[font].has(text)) {
    measuring.font = `${font} system-ui, "Segoe UI", Roboto, Arial, sans-serif`;
    FONTS[font].set(text, measuring.measureText(text).width);
  }
  return FONTS[font].get(text);
}

/** Shorten a text to a width, at its end; or in the middle, where names often begin alike. */
function fitted(text, width, font = "12px", inside = false) {
  if (widthOf(text, font) <= width) return text;
  const letters = [...text];
  const shorter = (kept) => {
    const after = inside ? Math.floor(kept / 2) : 0;
    return `${letters.slice(0, kept - after).join("")}…${letters.slice(letters.length - after).join("")}`;
  };
  let low = 0,
    high = letters.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (widthOf(shorter(middle), font) <= width) low = middle;
    else high = middle - 1;
  }
  return widthOf(shorter(low), font) <= width ? shorter(low) : "";
}
