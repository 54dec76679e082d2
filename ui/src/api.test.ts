import assert from "node:assert/strict";
import { test } from "node:test";
import { takeToken } from "./api";

test("the token is taken out of the fragment, wherever it stands", () => {
  assert.deepEqual(takeToken("#k=abc"), { token: "abc", rest: "" });
  assert.deepEqual(takeToken("#k=abc;v1;trace=t"), { token: "abc", rest: "v1;trace=t" });
  assert.deepEqual(takeToken("#v1;trace=t;k=a%2Bb"), { token: "a+b", rest: "v1;trace=t" });
  assert.deepEqual(takeToken("#v1;trace=k"), { token: null, rest: "v1;trace=k" });
  assert.deepEqual(takeToken(""), { token: null, rest: "" });
});
