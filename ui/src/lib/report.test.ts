import assert from "node:assert/strict";
import { test } from "node:test";
import { escaped, fileName, type Report, reportHtml } from "./report";

const report: Report = {
  title: "slow.etl",
  facts: [["Machine", "PC-1"]],
  findings: [
    { sentence: "It waited", cost: "9.57 s", fix: "Update", evidence: ['etwkit dump wait --method "A;B"'] },
  ],
  pictures: [{ title: "Cores", sentence: "4 lanes", data: "data:image/png;base64,AAAA" }],
  tables: [
    {
      title: "Disk",
      columns: [
        { title: "File", isNumber: false },
        { title: "Bytes", isNumber: true },
      ],
      rows: [{ level: 1, cells: ["a.db", "12 B"] }],
      left: 7,
      foot: "8 rows",
    },
  ],
  notes: [{ place: "1.5 s", text: "here" }],
  command: 'etwkit view --at "#v1" "slow.etl"',
  link: "http://localhost:1/#v1",
};

test("a report has what was chosen, and nothing of the rest", () => {
  const html = reportHtml(report);
  for (const text of [
    "It waited",
    "9.57 s",
    "A;B",
    "Cores",
    "a.db",
    "7 more rows are left out.",
    "here",
    "--at",
  ]) {
    assert.ok(html.includes(text), text);
  }
  const none = reportHtml({ ...report, findings: null, pictures: null, tables: null, notes: null });
  for (const text of ["It waited", "<img", "<table", "Bookmarks"]) assert.ok(!none.includes(text), text);
  assert.ok(none.includes("PC-1") && none.includes("--at"), "what it is about is always there");
});

test("a report loads nothing and runs nothing", () => {
  const html = reportHtml(report);
  assert.match(html, /http-equiv="Content-Security-Policy" content="default-src 'none'/);
  assert.doesNotMatch(html, /<script|<link|<iframe|url\(/);
  const sources = [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map((found) => found[1]);
  assert.deepEqual(sources, ["data:image/png;base64,AAAA"]);
});

const HOSTILE = [
  "<script>pwned=1</script>",
  '"><img src=x onerror=pwned=1>',
  "' onmouseover='pwned=1",
  "</title></style></code><svg onload=pwned=1>",
  "a\u202egpj.exe\u0000\u001b[31m",
  "&lt;b&gt;",
];

test("no text of a trace becomes a part of the page", () => {
  for (const text of HOSTILE) {
    const html = reportHtml({
      title: text,
      facts: [[text, text]],
      findings: [{ sentence: text, cost: text, fix: text, evidence: [text] }],
      pictures: [{ title: text, sentence: text, data: text }],
      tables: [
        {
          title: text,
          columns: [{ title: text, isNumber: false }],
          rows: [{ level: 0, cells: [text] }],
          left: 0,
          foot: text,
        },
      ],
      notes: [{ place: text, text }],
      command: text,
      link: text,
    });
    const tags = [...html.matchAll(/<\/?([a-z0-9]+)/gi)].map((found) => found[1]?.toLowerCase());
    for (const tag of ["script", "img", "svg", "iframe"]) assert.ok(!tags.includes(tag), `${tag}: ${text}`);
    assert.equal(html.split("</title>").length, 2, text);
    assert.equal(html.split("</style>").length, 2, text);
    for (const unseen of ["\u0000", "\u001b", "\u202e"])
      assert.ok(!html.includes(unseen), "it is written out");
    assert.ok(html.includes(escaped(text)));
  }
  assert.equal(escaped("&lt;b&gt;"), "&amp;lt;b&amp;gt;", "what looks escaped is text");
});

test("attributes keep their quotes", () => {
  const picture = { title: "", sentence: '" onload="pwned=1', data: "data:image/png;base64,AAAA" };
  const html = reportHtml({ ...report, pictures: [picture] });
  assert.ok(html.includes('alt="&quot; onload=&quot;pwned=1" src='));
});

test("the file has a name that every system takes", () => {
  assert.equal(fileName("slow login.etl"), "slow login-report.html");
  assert.equal(fileName("<img src=x>\u202e/..\\a.etl"), "_img src_x___.._a-report.html");
  assert.equal(fileName(""), "trace-report.html");
});
