// A part of the page as a picture: its canvases with what stands around them as text, so that names and axes are there.

import { cutText } from "../lib/elide";

type Box = Pick<DOMRect, "left" | "top" | "right" | "bottom">;

const overlap = (a: Box, b: Box): Box => ({
  left: Math.max(a.left, b.left),
  top: Math.max(a.top, b.top),
  right: Math.min(a.right, b.right),
  bottom: Math.min(a.bottom, b.bottom),
});
const isEmpty = ({ left, top, right, bottom }: Box) => right <= left || bottom <= top;

/** Draws into `to` whatever is within the box, with everything that cuts it off. */
function clipped(to: CanvasRenderingContext2D, box: Box, draw: () => void): void {
  to.save();
  to.beginPath();
  to.rect(box.left, box.top, box.right - box.left, box.bottom - box.top);
  to.clip();
  draw();
  to.restore();
}

function drawText(to: CanvasRenderingContext2D, node: Text, style: CSSStyleDeclaration, box: Box): void {
  const text = node.data.replace(/\s+/g, " ");
  const range = document.createRange();
  range.selectNodeContents(node);
  const at = range.getBoundingClientRect();
  if (text.trim() === "" || at.width === 0) return;
  clipped(to, box, () => {
    to.font = `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    to.fillStyle = style.color;
    to.textBaseline = "middle";
    const isCut = style.textOverflow === "ellipsis";
    to.fillText(
      isCut ? cutText(text, box.right - at.left + 1, (part) => to.measureText(part).width) : text,
      at.left,
      (at.top + at.bottom) / 2,
    );
  });
}

const NO_COLOUR = "rgba(0, 0, 0, 0)";

/** The colour that is seen through an element without one. */
function backdrop(element: Element): string {
  for (let at: Element | null = element; at !== null; at = at.parentElement) {
    const { backgroundColor } = getComputedStyle(at);
    if (backgroundColor !== NO_COLOUR) return backgroundColor;
  }
  return "#fff";
}

/** Draws an element and what is in it, in the order of the document. */
function drawElement(to: CanvasRenderingContext2D, element: Element, around: Box): void {
  const style = getComputedStyle(element);
  if (style.display === "none" || style.visibility === "hidden" || Number(style.opacity) === 0) return;
  const own = element.getBoundingClientRect();
  const seen = overlap(own, around);
  if (style.backgroundColor !== NO_COLOUR && !isEmpty(seen)) {
    to.fillStyle = style.backgroundColor;
    to.fillRect(seen.left, seen.top, seen.right - seen.left, seen.bottom - seen.top);
  }
  if (element instanceof HTMLCanvasElement) {
    if (element.width > 0 && !isEmpty(seen)) {
      clipped(to, around, () => to.drawImage(element, own.left, own.top, own.width, own.height));
    }
    return;
  }
  const inside = style.overflow === "visible" ? around : seen;
  for (const child of element.childNodes) {
    if (child instanceof Text) drawText(to, child, style, inside);
    else if (child instanceof HTMLElement) drawElement(to, child, inside);
  }
}

/** Marks what is for hands alone, and in no picture. */
const TOOLS = ".graph-menu, .state-key-button";

/** A PNG as a data URI; nothing for what has no place on the page. */
export function pictureOf(element: HTMLElement): string | null {
  const box = element.getBoundingClientRect();
  if (box.width < 1 || box.height < 1) return null;
  const ratio = Math.max(1, globalThis.devicePixelRatio || 1);
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(box.width * ratio);
  canvas.height = Math.round(box.height * ratio);
  const to = canvas.getContext("2d");
  if (to === null) return null;
  to.scale(ratio, ratio);
  to.translate(-box.left, -box.top);
  to.fillStyle = backdrop(element);
  to.fillRect(box.left, box.top, box.width, box.height);
  const tools = element.querySelectorAll<HTMLElement>(TOOLS);
  for (const tool of tools) tool.style.visibility = "hidden";
  drawElement(to, element, box);
  for (const tool of tools) tool.style.visibility = "";
  return canvas.toDataURL("image/png");
}
