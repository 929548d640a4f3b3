import type { PurchaseLicenseRow, PurchaseRow } from '../db/schema.ts';
import type { EventName } from '../shared/rules/events.ts';
import { UNKNOWN_EMAIL } from '../shared/rules/licenses.ts';
import { newEvent, type WebhookEvent } from '../shared/text/events.ts';
import type { NewLicense } from './new-license.ts';
import type { PurchaseDecision } from './rules/decide.ts';

interface Decided {
  row: PurchaseRow;
  decision: PurchaseDecision;
  held: PurchaseLicenseRow[];
  nowMs: number;
}

/** What receivers are told of a decision. */
export const eventsOf = ({ row, decision, held, nowMs }: Decided, made: NewLicense[]): WebhookEvent[] => {
  const isNew = (status: PurchaseDecision['status']) => decision.status === status && row.status !== status;
  const names: EventName[] = [
    ...(made.length > 0 ? (['purchase.fulfilled'] as const) : []),
    ...(['refunded', 'unmapped', 'failed'] as const).filter(isNew).map((name) => `purchase.${name}` as const),
  ];
  const fields = {
    purchase_id: row.id,
    store_id: row.storeId,
    order: decision.orderNumber,
    status: decision.status,
    reason: decision.reason,
    license_ids: [...held.map(({ licenseId }) => licenseId), ...made.map(({ license }) => license.id)],
    test: decision.isTest,
  };
  const customer_email = row.isErased ? UNKNOWN_EMAIL : (decision.email ?? UNKNOWN_EMAIL);
  return names.map((name) => newEvent(name, nowMs, { customer_email, ...fields }));
};
