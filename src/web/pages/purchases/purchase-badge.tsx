import type { PurchaseStatus } from '../../../shared/rules/stores.ts';
import { StateBadge, type Tone } from '../../ui/badge.tsx';

const STATES: Record<PurchaseStatus, { tone: Tone; name: string }> = {
  pending: { tone: 'brass', name: 'Pending' },
  unmapped: { tone: 'warn', name: 'No offer' },
  fulfilled: { tone: 'good', name: 'Fulfilled' },
  past_due: { tone: 'warn', name: 'Past due' },
  disputed: { tone: 'pause', name: 'Disputed' },
  refunded: { tone: 'plain', name: 'Refunded' },
  ended: { tone: 'plain', name: 'Ended' },
  failed: { tone: 'bad', name: 'Failed' },
};

export const statusName = (status: PurchaseStatus): string => STATES[status].name;

export const PurchaseBadge = ({ status }: { status: PurchaseStatus }) => (
  <StateBadge tone={STATES[status].tone}>{STATES[status].name}</StateBadge>
);
