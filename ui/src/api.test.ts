import assert from "node:assert/strict";
import { test } from "node:test";
import { countReplaced, goneOr, takeToken, traffic } from "./api";

test("the token is taken out of the fragment, wherever it stands", () => {
  assert.deepEqual(takeToken("#k=abc"), { token: "abc", rest: "" });
  assert.deepEqual(takeToken("#k=abc;v1;trace=t"), { token: "abc", rest: "v1;trace=t" });
  assert.deepEqual(takeToken("#v1;trace=t;k=a%2Bb"), { token: "a+b", rest: "v1;trace=t" });
  assert.deepEqual(takeToken("#v1;trace=k"), { token: null, rest: "v1;trace=k" });
  assert.deepEqual(takeToken(""), { token: null, rest: "" });
});

test("an extract that was removed is said once, whatever was asked", () => {
  const failure = {
    code: "bad_request",
    message: "/c/a.etwx: cannot open /c/a.etwx: No such file",
    hint: "check",
  };
  assert.deepEqual(goneOr(failure, "v1/open"), failure, "a path that was typed may be wrong");
  assert.equal(traffic.isGone.value, false);
  assert.equal(goneOr(failure, "v1/pivot").code, "gone");
  assert.equal(traffic.isGone.value, true);
  // While it is removed, or where a file of it is missing.
  for (const file of [
    "/c/a.etwx/derived/disk_file.parquet: No such file",
    "C:\\c\\a.etwx\\process.parquet",
  ]) {
    const missing = { code: "internal", message: `cannot open ${file}`, hint: "check the name" };
    assert.equal(goneOr(missing, "v1/search").code, "gone", file);
  }
  const other = { code: "limit", message: "too much", hint: null };
  assert.deepEqual(goneOr(other, "v1/pivot"), other);
});

test("an extract that was replaced or is being opened again is counted, other failures are not", () => {
  const before = traffic.replaced.value;
  for (const code of ["replaced", "not_ready", "limit", "bad_request"]) {
    countReplaced({ code, message: "", hint: null });
  }
  assert.equal(traffic.replaced.value, before + 2);
});
