import type { ReactNode } from 'react';
import type { LicenseStatus } from '../../shared/rules/licenses.ts';
import { cx } from './cx.ts';

const TONES = {
  good: 'bg-good-soft text-good',
  bad: 'bg-bad-soft text-bad',
  warn: 'bg-warn-soft text-warn',
  pause: 'bg-pause-soft text-pause',
  brass: 'bg-brass-soft text-brass',
  plain: 'bg-sunken text-muted inset-ring inset-ring-line',
};
export type Tone = keyof typeof TONES;

export const Badge = ({ tone = 'plain', children }: { tone?: Tone; children: ReactNode }) => (
  <span
    className={cx(
      'inline-flex h-5.5 shrink-0 items-center gap-1.5 rounded-full px-2 text-xs font-medium whitespace-nowrap',
      TONES[tone],
    )}
  >
    {children}
  </span>
);

/** A badge with a mark, so that states differ by more than color. */
export const StateBadge = ({ tone, children }: { tone: Tone; children: ReactNode }) => (
  <Badge tone={tone}>
    <span
      aria-hidden
      className={cx(
        'size-1.5 bg-current',
        tone === 'pause' || tone === 'bad' ? 'rounded-[1px]' : 'rounded-full',
      )}
    />
    <span className="inline-block first-letter:uppercase">{children}</span>
  </Badge>
);

const LICENSE_TONES: Record<LicenseStatus, Tone> = {
  active: 'good',
  expired: 'plain',
  suspended: 'pause',
  revoked: 'bad',
};

export const LicenseBadge = ({ status }: { status: LicenseStatus }) => (
  <StateBadge tone={LICENSE_TONES[status]}>{status}</StateBadge>
);
