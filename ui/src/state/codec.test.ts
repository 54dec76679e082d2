import assert from "node:assert/strict";
import { test } from "node:test";
import { decode, emptyState, encode } from "./codec";
import type { ViewState } from "./view-state";

const full: ViewState = {
  trace: "9f2c11ab",
  view: "cpu-precise",
  window: { from_ns: 0, to_ns: 25_340_000_000 },
  range: { from_ns: 12_300_000_000, to_ns: 12_842_000_000 },
  chips: [
    { field: "process", values: ["3", "4"], exclude: false },
    { field: "tag", values: ["Idle;a=b,c"], exclude: true },
    { field: "file", values: ["C:\\Temp\\50% # é\u202e.txt"], exclude: false },
  ],
  mode: "highlight",
  focus: { kind: "thread", key: 12, at_ns: 4_560_000 },
  graphs: ["cpu", "threads"],
  sharedAxes: true,
  settings: { flame: { weight: "wait", focus: "a;b=c%", deep: [1, null, { x: "y,z" }] } },
};

test("a state comes back out of its link", () => {
  assert.deepEqual(decode(`#${encode(full)}`), full);
  const plain = { ...emptyState(), trace: "x", graphs: ["cpu"], window: { from_ns: 1, to_ns: 2 } };
  assert.deepEqual(decode(encode(plain)), plain);
});

test("links are legible", () => {
  const text = encode(full);
  assert.ok(
    text.startsWith("v1;trace=9f2c11ab;view=cpu-precise;window=0-25340000000;range=12300000000-12842000000;"),
  );
  assert.ok(text.includes(";process=3,4;"));
  assert.ok(text.includes(";not.tag="));
});

test("a link survives what browsers do to addresses", () => {
  const url = new URL(`http://127.0.0.1/#${encode(full)}`);
  assert.deepEqual(decode(url.hash), full);
});

test("the start screen has no fragment", () => {
  assert.equal(encode(emptyState()), "");
  for (const text of ["", "#", "#v1", "#v1;trace=", "#v2;trace=a", "#k=secret"])
    assert.equal(decode(text), null);
});

test("garbage leaves what can be read", () => {
  const state = decode(
    "#v1;trace=t;window=9-3;range=a-b;mode=loud;focus=dog:1@2;process=;nothing=1;set.a={broken;%%%=%;set.b=%7B%22x%22%3A1%7D;=;graphs=cpu,cpu,%zz",
  );
  assert.deepEqual(state, { ...emptyState(), trace: "t", graphs: ["cpu"], settings: { b: { x: 1 } } });
});

test("no garbage throws, and none is large", () => {
  let seed = 7;
  const random = () => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return seed / 2147483648;
  };
  const alphabet = 'v1;=trace%,-@:{}[]"not.set.process0123456789\u202e\ud800';
  for (let round = 0; round < 3000; round++) {
    let text = round % 2 === 0 ? "v1;trace=t;" : "";
    for (let at = 0; at < 60; at++) text += alphabet[Math.floor(random() * alphabet.length)];
    decode(text);
  }
  const many = decode(`v1;trace=t;${"not.file=a;".repeat(5000)}`);
  assert.ok((many?.chips.length ?? 0) <= 32);
  const values = decode(`v1;trace=t;process=${"1,".repeat(10_000)}`);
  assert.ok((values?.chips[0]?.values.length ?? 0) <= 200);
});

test("names of objects are no settings", () => {
  const state = decode('v1;trace=t;set.__proto__={"polluted":1}');
  assert.deepEqual(state?.settings, {});
  assert.equal(({} as Record<string, unknown>)["polluted"], undefined);
});
