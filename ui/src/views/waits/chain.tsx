// The chain of one wait: each link with its place in time, the root, and beside them who ran instead and the path.

import type { ComponentChildren } from "preact";
import { Button } from "../../components/button";
import type { ChainLine } from "../../lib/chain-lines";
import { withSpaces } from "../../lib/columns";
import { counted, duration, exactDuration, percent } from "../../lib/format";
import { shown } from "../../lib/safe";
import { span } from "../../lib/scale";
import { waitClass } from "../../lib/wait-class";
import { type Answered, useAnswer } from "../../state/answer";
import type { Chain } from "../../state/chain";
import { askPath, type CriticalPath } from "../../state/critical-path";
import { hopBack } from "../../state/focus";
import * as store from "../../state/store";
import type { Spell } from "../../state/threads";
import { goToSpell, showPath } from "../../state/waits";
import type { Range } from "../../wire";
import { Answering } from "../panel";

interface Props {
  trace: number;
  /** The thread whose wait it is. */
  of: number;
  answered: Answered<Chain>;
  onList: () => void;
}

export function ChainPanel({ trace, of, answered, onList }: Props) {
  const tid = answered.data?.tid ?? -1;
  return (
    <>
      <div class="toolbar" role="toolbar" aria-label="Chain of waits">
        <Button text="‹ Longest waits" onClick={onList} />
        <Button text="Back" title="Back along the chain (K)" onClick={hopBack} />
        {tid >= 0 && (
          <Button
            text="Critical path as a lane"
            title="Time of the thread as a lane above the others (P)"
            onClick={() => showPath(of, tid)}
          />
        )}
        <span class="sentence">A click selects the thread and its time. J goes on, K back.</span>
      </div>
      <Answering answered={answered}>{(chain) => <Body trace={trace} chain={chain} />}</Answering>
    </>
  );
}

function Body({ trace, chain }: { trace: number; chain: Chain }) {
  const { links, ready } = chain;
  const first = links[0]?.range ?? ready;
  if (first === null) {
    return <p class="remark">The trace has no wait of this thread at this moment.</p>;
  }
  const path = { trace, tid: chain.tid, range: first };
  return (
    <div class="waits">
      <section class="waits-chain" aria-label="Chain">
        <h3>
          {links.length === 0
            ? `${withSpaces(shown(chain.label))} was ready, and did not wait before`
            : `Why ${withSpaces(shown(chain.label))} waited ${duration(span(first))}`}
        </h3>
        <ol>
          {links.map((link) => (
            <Step
              key={`${link.key} ${link.range.from_ns}`}
              spell={link}
              all={first}
              reason={link.line.reason}
            >
              <b>{withSpaces(shown(link.line.thread.label))}</b>{" "}
              <span class="waits-words">
                waited {duration(span(link.range))} ({shown(link.line.reason)})
              </span>
              <Words label="in" text={link.line.waitedIn} />
              <Words label="ended by" text={withSpaces(endOf(link.line))} />
              <Words label="in that time" text={link.line.during} />
            </Step>
          ))}
          {links.length > 0 && (
            <Step spell={chain.rootSpell} all={first} reason={null}>
              <b>Root</b> <span class="waits-words">{withSpaces(shown(chain.root))}</span>
            </Step>
          )}
        </ol>
      </section>
      <div class="waits-beside">
        {ready !== null && <WhoRan chain={chain} ready={ready} />}
        {links.length > 0 && <PathOf question={path} />}
      </div>
    </div>
  );
}

const endOf = ({ endedBy, byIn }: ChainLine) => (byIn === "" ? endedBy : `${endedBy}, in ${byIn}`);

/** Words with what they say; nothing where they say nothing. */
function Words({ label, text }: { label: string; text: string }) {
  if (text === "") return null;
  return (
    <span class="waits-more" title={shown(text)}>
      <span class="waits-label">{label}</span> {shown(text)}
    </span>
  );
}

interface StepProps {
  spell: Spell | null;
  /** The first wait, over whose time all are drawn. */
  all: Range;
  /** What is waited for; nothing for what ran. */
  reason: string | null;
  children: ComponentChildren;
}

/** A link: its words, and its time within the first wait. */
function Step({ spell, all, reason, children }: StepProps) {
  const { focus } = store.view.value;
  if (spell === null) return <li class="waits-step is-plain">{children}</li>;
  const { key, range } = spell;
  const isChosen =
    focus?.kind === "thread" &&
    focus.key === key &&
    focus.at_ns >= range.from_ns &&
    focus.at_ns <= range.to_ns;
  const clamp = (ns: number) => Math.max(0, Math.min(1, (ns - all.from_ns) / span(all)));
  const [left, right] = [clamp(range.from_ns), clamp(range.to_ns)];
  const colour = reason === null ? "var(--running)" : `var(--wait-${waitClass(reason)})`;
  return (
    <li>
      <button
        type="button"
        class="waits-step"
        aria-current={isChosen ? "step" : undefined}
        data-chip={`thread:${key}`}
        onClick={() => goToSpell(spell)}
      >
        <span class="waits-strip" aria-hidden="true">
          <span
            class="waits-mark"
            style={{
              background: colour,
              left: `${left * 100}%`,
              width: `${Math.max(0.4, (right - left) * 100)}%`,
            }}
          />
        </span>
        {children}
      </button>
    </li>
  );
}

interface BarLine {
  id: string;
  label: string;
  ns: number;
  share: number;
  title?: string;
  run: () => void;
}

/** Lines with a bar each, that lead to where they are. */
function Bars({ label, lines }: { label: string; lines: BarLine[] }) {
  return (
    <ul class="bars" aria-label={label}>
      {lines.map((line) => (
        <li key={line.id}>
          <button type="button" title={line.title ?? exactDuration(line.ns)} onClick={line.run}>
            <span class="bar" style={{ width: `${Math.min(1, line.share) * 100}%` }} />
            <span class="bar-number">{duration(line.ns)}</span>
            <span class="bar-share">{percent(line.share)}</span>
            <span class="bar-text">{line.label}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

function WhoRan({ chain, ready }: { chain: Chain; ready: NonNullable<Chain["ready"]> }) {
  const length = span(ready);
  return (
    <section aria-label="Who ran instead">
      <h3>
        Then ready for {duration(length)}
        {ready.cpu !== null && `, for CPU ${ready.cpu}`}
      </h3>
      {chain.instead.length === 0 ? (
        <p class="muted">
          No other thread ran there in that time: the processor was idle or left a sleep state.
        </p>
      ) : (
        <Bars
          label="Who ran instead"
          lines={chain.instead.map((one) => ({
            id: String(one.key),
            label: `${shown(one.label)}${one.priority === null ? "" : `, priority ${one.priority}`}`,
            ns: one.ran_ns,
            share: one.ran_ns / length,
            run: () => goToSpell(one),
          }))}
        />
      )}
    </section>
  );
}

/** What the thread spent the time of its wait on, with each wait replaced by what its end needed. */
function PathOf({ question }: { question: Parameters<typeof askPath>[0] }) {
  const { data, failure, isBusy } = useAnswer(askPath, question);
  if (failure !== null) return <p class="remark is-warning">{shown(failure.message)}</p>;
  return (
    <section aria-label="Critical path of this wait" aria-busy={isBusy}>
      <h3>Critical path of this wait</h3>
      {data !== null && (
        <Bars
          label="Critical path of this wait"
          lines={data.sums.slice(0, 12).map((sum) => ({
            id: `${sum.state}${sum.endedBy}${sum.thread}`,
            label: withSpaces(
              shown([sum.thread, sum.state, sum.endedBy].filter((text) => text !== "").join(" · ")),
            ),
            ns: sum.time_ns,
            share: sum.share,
            run: () => longest(data, sum),
          }))}
        />
      )}
      {data !== null && data.sums.length > 12 && (
        <p class="muted">{counted(data.sums.length - 12, "smaller part")}</p>
      )}
    </section>
  );
}

/** To the longest segment that a sum has. */
function longest(path: CriticalPath, sum: CriticalPath["sums"][number]): void {
  const of = path.segments.filter((one) => one.thread === sum.thread && one.state === sum.state);
  const [most] = of.sort((a, b) => span(b.range) - span(a.range));
  if (most !== undefined) goToSpell(most);
}
