import assert from "node:assert/strict";
import { test } from "node:test";
import { type Order, orderEntries, placesOf } from "./grid-order";

const columns = ["a", "b", "c", "d"].map((id) => ({ id, title: id }));

test("columns are hidden, moved and brought back", () => {
  let order: Order = { hidden: [], moved: [] };
  const names = () =>
    placesOf(columns, order, 0)
      .map((place) => columns[place]?.id)
      .join("");
  const run = (id: string, title: string) => {
    const entries = orderEntries(columns, placesOf(columns, order, 0), order, id, 0, (next) => {
      order = next;
    });
    entries.find((one) => one.title === title && one.isOff !== true)?.run();
    return names();
  };
  assert.equal(run("d", "Move left"), "abdc");
  assert.equal(run("b", "Hide"), "adc");
  assert.equal(run("a", "Move left"), "adc", "there is nothing in front of it");
  assert.equal(run("c", "All columns in their order"), "abcd");
});

test("the column that unfolds a tree stays the first one", () => {
  const order = { hidden: ["a", "b"], moved: ["d", "c", "a"] };
  assert.deepEqual(placesOf(columns, order, 1), [0, 3, 2]);
});

test("a table of which a link hides every column has all of them", () => {
  const order = { hidden: ["a", "b", "c", "d"], moved: [] };
  assert.deepEqual(placesOf(columns, order, 0), [0, 1, 2, 3]);
});
