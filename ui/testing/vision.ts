// Distances of colours for the eyes that look at them: simulated colour vision, and CIEDE2000. For tests.

type Triple = readonly [number, number, number];
type Matrix = readonly [Triple, Triple, Triple];

/**
 * Kinds of colour vision as they act on linear RGB: Machado, Oliveira and Fernandes, "A Physiologically-based Model
 * for Simulation of Color Vision Deficiency" (2009), at full severity.
 */
export const VISIONS: Record<"normal" | "protanopia" | "deuteranopia" | "tritanopia", Matrix> = {
  normal: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

export type Vision = keyof typeof VISIONS;

/** From linear sRGB to XYZ (D65). */
const XYZ: Matrix = [
  [0.4124564, 0.3575761, 0.1804375],
  [0.2126729, 0.7151522, 0.072175],
  [0.0193339, 0.119192, 0.9503041],
];
const WHITE: Triple = [0.95047, 1, 1.08883];

function times(matrix: Matrix, of: Triple): Triple {
  const row = (at: Triple) => at[0] * of[0] + at[1] * of[1] + at[2] * of[2];
  return [row(matrix[0]), row(matrix[1]), row(matrix[2])];
}

function each(of: Triple, change: (value: number) => number): Triple {
  return [change(of[0]), change(of[1]), change(of[2])];
}

/** Linear RGB of `#rrggbb`. */
export function linear(hex: string): Triple {
  const part = (at: number) => Number.parseInt(hex.slice(at, at + 2), 16) / 255;
  return each([part(1), part(3), part(5)], (value) =>
    value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4,
  );
}

/** Lightness, green to red, and blue to yellow, as an eye of that kind has them. */
export function labOf(rgb: Triple, vision: Vision): Triple {
  const seen = each(times(VISIONS[vision], rgb), (value) => Math.min(1, Math.max(0, value)));
  const [x, y, z] = times(XYZ, seen);
  const curve = (value: number) => (value > 0.008856 ? Math.cbrt(value) : 7.787 * value + 16 / 116);
  const [fx, fy, fz] = [curve(x / WHITE[0]), curve(y / WHITE[1]), curve(z / WHITE[2])];
  return [116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)];
}

const sin = (degrees: number) => Math.sin((degrees * Math.PI) / 180);
const cos = (degrees: number) => Math.cos((degrees * Math.PI) / 180);
const hueOf = (a: number, b: number) => ((Math.atan2(b, a) * 180) / Math.PI + 360) % 360;

/** The mean of two hues on their circle. */
function meanHue(one: number, other: number): number {
  const sum = one + other;
  if (Math.abs(one - other) <= 180) return sum / 2;
  return sum < 360 ? (sum + 360) / 2 : (sum - 360) / 2;
}

/** CIEDE2000 of two colours in Lab: about 1 is just seen, from 10 on they are told apart at a glance. */
export function distance(one: Triple, other: Triple): number {
  const seventh = (chroma: number) => Math.sqrt(chroma ** 7 / (chroma ** 7 + 25 ** 7));
  const stretch = 1.5 - 0.5 * seventh((Math.hypot(one[1], one[2]) + Math.hypot(other[1], other[2])) / 2);
  const [a1, a2] = [one[1] * stretch, other[1] * stretch];
  const [c1, c2] = [Math.hypot(a1, one[2]), Math.hypot(a2, other[2])];
  const [h1, h2] = [hueOf(a1, one[2]), hueOf(a2, other[2])];
  const isGrey = c1 * c2 === 0;
  let turn = h2 - h1;
  if (turn > 180) turn -= 360;
  else if (turn < -180) turn += 360;
  const hue = isGrey ? h1 + h2 : meanHue(h1, h2);
  const light = (one[0] + other[0]) / 2;
  const chroma = (c1 + c2) / 2;
  const weight =
    1 - 0.17 * cos(hue - 30) + 0.24 * cos(2 * hue) + 0.32 * cos(3 * hue + 6) - 0.2 * cos(4 * hue - 63);
  const byLight = (other[0] - one[0]) / (1 + (0.015 * (light - 50) ** 2) / Math.sqrt(20 + (light - 50) ** 2));
  const byChroma = (c2 - c1) / (1 + 0.045 * chroma);
  const byHue = (2 * Math.sqrt(c1 * c2) * (isGrey ? 0 : sin(turn / 2))) / (1 + 0.015 * chroma * weight);
  const rotation = -sin(60 * Math.exp(-(((hue - 275) / 25) ** 2))) * 2 * seventh(chroma);
  return Math.sqrt(byLight ** 2 + byChroma ** 2 + byHue ** 2 + rotation * byChroma * byHue);
}

/** Measures how far two colours are apart for a kind of vision. */
export function apart(one: string, other: string, vision: Vision): number {
  return distance(labOf(linear(one), vision), labOf(linear(other), vision));
}

/** Contrast of two colours as WCAG defines it, 1 to 21. */
export function contrast(one: string, other: string): number {
  const light = (hex: string) => times(XYZ, linear(hex))[1] + 0.05;
  const [a, b] = [light(one), light(other)];
  return Math.max(a, b) / Math.min(a, b);
}
