import assert from "node:assert/strict";
import { test } from "node:test";
import { fitting, frameHue } from "./flame";

const widthOf = (text: string) => text.length * 6;

test("names that do not fit lose their module first, then their end", () => {
  assert.equal(fitting("ntdll.dll!RtlUserThreadStart", 600, widthOf), "ntdll.dll!RtlUserThreadStart");
  assert.equal(fitting("ntdll.dll!RtlUserThreadStart", 120, widthOf), "RtlUserThreadStart");
  assert.equal(fitting("ntdll.dll!RtlUserThreadStart", 60, widthOf), "RtlUserTh…");
  assert.equal(fitting("ntdll.dll!RtlUserThreadStart", 6, widthOf), "", "one letter says nothing");
});

test("frames of one module have one colour, whatever the case", () => {
  assert.equal(frameHue("Ntfs.sys!NtfsRead", 12), frameHue("NTFS.sys+0x12", 12));
  assert.ok(frameHue("win32kfull.sys!x", 12) < 12);
});
