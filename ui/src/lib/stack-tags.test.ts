import assert from "node:assert/strict";
import { test } from "node:test";
import { entryOf, lastChange, rulesOf, tagFile, tagPath, type XmlElement } from "./stack-tags";

test("a frame is matched by its module and its method, as far as they are known", () => {
  assert.deepEqual(entryOf("ntfs.sys!NtfsRead"), { module: "ntfs.sys", method: "NtfsRead" });
  assert.deepEqual(entryOf("ntfs.sys!*"), { module: "ntfs.sys", method: "*" });
  assert.deepEqual(entryOf("a.dll+0x12"), { module: "a.dll", method: "" });
  assert.deepEqual(entryOf("?!Jitted.Main"), { module: "", method: "Jitted.Main" });
  for (const vague of ["?!0x7ffe12345678", "?!*", "?!?", "?!", "all"]) assert.equal(entryOf(vague), null);
});

test("a tag inside of another one has its path, without signs that no name has", () => {
  assert.equal(tagPath("Team\\", " Parser\u0007\uffff "), "Team\\Parser");
  assert.equal(tagPath("", "A\\\\B"), "A\\B");
  assert.equal(tagPath(" ", "\\"), "");
});

test("rules are written as a file with each tag once, and harmless whatever they say", () => {
  assert.equal(tagFile([]), "");
  const rules = [
    { tag: "Team\\Parser", module: "a.exe", method: "Parse<int>" },
    { tag: "Team", module: 'b".dll', method: "" },
    { tag: "Team\\Parser", module: "", method: "x & y" },
  ];
  assert.deepEqual(tagFile(rules).split("\n"), [
    '<?xml version="1.0" encoding="utf-8"?>',
    '<Tag Name="">',
    '  <Tag Name="Team">',
    '    <Entrypoint Module="b&quot;.dll"/>',
    '    <Tag Name="Parser">',
    '      <Entrypoint Module="a.exe" Method="Parse&lt;int&gt;"/>',
    '      <Entrypoint Method="x &amp; y"/>',
    "    </Tag>",
    "  </Tag>",
    "</Tag>",
    "",
  ]);
});

test("a pattern that XML cannot hold leaves the file readable", () => {
  const file = tagFile([{ tag: "A", module: "a\u0000.exe", method: "x\u0007y\ufffez\uffff" }]);
  assert.match(file, /<Entrypoint Module="a\*\.exe" Method="x\*y\*z\*"\/>/);
});

const element = (tagName: string, values: object, ...children: XmlElement[]): XmlElement => ({
  tagName,
  attributes: Object.entries(values).map(([name, value]) => ({ name, value: String(value) })),
  children,
});

test("rules of a file are read, unless something of it would be lost", () => {
  const entry = element("Entrypoint", { Module: "a.dll" });
  const file = (...inner: XmlElement[]) => element("Tag", { Name: "" }, ...inner);
  assert.deepEqual(
    rulesOf(file(element("Tag", { Name: "A" }, entry, element("Tag", { Name: "B" }, entry)))),
    [
      { tag: "A", module: "a.dll", method: "" },
      { tag: "A\\B", module: "a.dll", method: "" },
    ],
  );
  for (const odd of [
    element("Tag", { Name: "A", Priority: 3 }, entry),
    element("HintTag", { Name: "A", HintOperator: "Callee" }, entry),
    element("parsererror", {}),
    entry,
  ]) {
    assert.equal(rulesOf(file(odd)), null);
  }
});

test("a tag can have more rules than a call has arguments", () => {
  const entry = element("Entrypoint", { Module: "a.dll" });
  const many = { ...element("Tag", { Name: "A" }), children: new Array<XmlElement>(200_000).fill(entry) };
  assert.equal(rulesOf(element("Tag", { Name: "" }, many))?.length, 200_000);
});

test("a change is undone only while no other tab has changed the rules", () => {
  const first = { before: "", after: "1" };
  const second = { before: "<Tag/>", after: "2" };
  assert.equal(lastChange([], ""), null);
  assert.equal(lastChange([first, second], "2"), second);
  assert.equal(lastChange([first, second], "3"), null);
  assert.equal(lastChange([first], "1"), first);
});
