import { useState } from 'react';
import { DAY_MS, HOUR_MS, addDays, isoDate, isoTime } from '../../../shared/rules/dates.ts';
import { DEFAULT_OFFLINE_DAYS } from '../../../shared/rules/terms.ts';
import type { Verdict } from '../../../shared/rules/verdict.ts';
import { formatDate, plural } from '../../lib/format.ts';
import { Card, CardHeader } from '../../ui/card.tsx';
import { Code } from '../../ui/code.tsx';
import { Segments } from '../../ui/tabs.tsx';
import { useNow } from '../../ui/time.tsx';
import type { TermsDraft } from './terms.ts';

const MACHINE = { id: 'act_…', name: 'Ada’s laptop', platform: 'macOS' };

const daysFrom = (nowMs: number, days: number | null) =>
  days === null ? null : addDays(isoDate(nowMs), days);

/** What `activate` answers to the first machine of a license that is created now. */
const firstAnswer = (code: string, terms: TermsDraft, nowMs: number) => {
  const { max_activations, lease_seconds, duration_days, updates_days, entitlements } = terms;
  return {
    valid: true,
    status: 'active',
    expires_at: daysFrom(nowMs, duration_days),
    code: 'valid',
    product: code,
    entitlements: entitlements ?? {},
    updates_until: daysFrom(nowMs, updates_days),
    activation: {
      ...MACHINE,
      activated_at: isoTime(nowMs),
      lease_until: lease_seconds === null ? null : isoTime(nowMs + lease_seconds * 1_000),
    },
    seats: max_activations === null ? null : { used: 1, limit: max_activations },
    token: 'eyJhbGciOiJFZERTQSIs…',
  } satisfies Partial<Verdict> & { token: string };
};

/** What `activate` answers to another machine while all seats are taken; null if the seats have no limit. */
const fullAnswer = (code: string, terms: TermsDraft, nowMs: number) => {
  const { max_activations, lease_seconds, self_service } = terms;
  if (max_activations === null) return null;
  const seenMs = nowMs - Math.min((lease_seconds ?? Infinity) * 500, 2 * HOUR_MS);
  return {
    ...firstAnswer(code, terms, nowMs),
    valid: false,
    code: 'no_seat',
    activation: null,
    seats: { used: max_activations, limit: max_activations },
    retry_at: lease_seconds === null ? null : isoTime(seenMs + lease_seconds * 1_000),
    machines: self_service ? [{ ...MACHINE, last_seen_at: isoTime(seenMs) }] : null,
  } satisfies Partial<Verdict> & { token: string };
};

/** Says how long an application may run on an answer without asking again. */
const tokenText = ({ offline_days, lease_seconds, duration_days }: TermsDraft, nowMs: number): string => {
  const days = offline_days ?? DEFAULT_OFFLINE_DAYS;
  if (lease_seconds !== null && lease_seconds * 1_000 <= days * DAY_MS)
    return 'The signed token is valid until the lease ends, even without a network.';
  if (duration_days !== null && duration_days < days)
    return `The signed token is valid until the license ends on ${formatDate(addDays(isoDate(nowMs), duration_days))}, even without a network.`;
  return `The signed token is valid for ${plural(days, 'day')}, even without a network.`;
};

const Example = ({ code, terms }: { code: string; terms: TermsDraft }) => {
  const nowMs = useNow();
  const [wantsFull, setWantsFull] = useState(false);
  const full = fullAnswer(code, terms, nowMs);
  const answer = (wantsFull && full) || firstAnswer(code, terms, nowMs);
  return (
    <>
      {full && (
        <Segments
          label="Example"
          value={wantsFull ? 'full' : 'first'}
          choices={[
            { value: 'first', label: 'First machine' },
            { value: 'full', label: 'All seats taken' },
          ]}
          onChoose={(choice) => setWantsFull(choice === 'full')}
        />
      )}
      <div className="w-full min-w-0">
        <Code text={JSON.stringify(answer, null, 2)} what="example answer" />
      </div>
      {answer.valid && <p className="text-sm text-muted">{tokenText(terms, nowMs)}</p>}
    </>
  );
};

/** Shows what the terms lead to, while they are edited. `terms` is null while a field is incomplete. */
export const Preview = ({ code, terms }: { code: string; terms: TermsDraft | null }) => (
  <Card aria-label="What an application will be told">
    <CardHeader
      title="What an application will be told"
      hint="The answer to activate, for a license that is created now."
    />
    <div className="grid grid-cols-[minmax(0,1fr)] justify-items-start gap-3 px-5 pb-5">
      {terms ? (
        <Example code={code} terms={terms} />
      ) : (
        <p className="text-sm text-muted">Complete the terms to see an example.</p>
      )}
    </div>
  </Card>
);
