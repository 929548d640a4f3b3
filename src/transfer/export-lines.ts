import { toAccount } from '../accounts/schemas.ts';
import { toActivation, toSeatChangeBody } from '../activations/schemas.ts';
import { toApiKey } from '../api-keys/schemas.ts';
import { toPayment, toSubscription } from '../billing/schemas.ts';
import type {
  ApiKeyRow,
  licenseChanges,
  LicenseRow,
  OfferRow,
  PaymentRow,
  PortalRow,
  ProductMailRow,
  ProductRow,
  PurchaseRow,
  StoreRow,
  SubscriptionRow,
} from '../db/schema.ts';
import type { Machine, SeatChange } from '../gate/rules/seats.ts';
import { toHistoryEntry } from '../licenses/history.ts';
import { toLicense } from '../licenses/schemas.ts';
import { toPortal } from '../portal/schemas.ts';
import { toProduct } from '../products/schemas.ts';
import type { StoredFact } from '../purchases/load.ts';
import { toProductMail } from '../purchases/product-mail.ts';
import { toFactBody, toPurchase } from '../purchases/schemas.ts';
import { isoTime, isoTimeOrNull } from '../shared/rules/dates.ts';
import { toOffer, toStore } from '../stores/schemas.ts';
import type { Endpoint } from '../webhooks/outbox-tables.ts';
import { toWebhook } from '../webhooks/schemas.ts';
import type { ExportType } from './schemas.ts';

// The lines of an export. Each has the fields that the API shows, and those that an import needs besides.

export type ExportLine = { type: ExportType };

const line = <T extends ExportType, Fields extends object>(type: T, fields: Fields) => ({ type, ...fields });

export const toAccountLine = (row: Parameters<typeof toAccount>[0], subscriptions: SubscriptionRow[]) =>
  line('account', {
    ...toAccount(row),
    allowed_origins: row.allowedOrigins,
    muted_emails: row.mutedEmails,
    subscriptions: subscriptions.map(toSubscription),
  });

/** An account that has never set its portal has no line for it. */
export const toPortalLine = (row: PortalRow) => {
  const { url: _, ...settings } = toPortal(row, '');
  return line('portal', settings);
};

export const toProductLine = (row: ProductRow) => line('product', toProduct(row));
export const toProductMailLine = (row: ProductMailRow) => line('product_mail', toProductMail(row));
export const toLicenseLine = (row: LicenseRow) => line('license', toLicense(row));
/** Without its secrets, and without its URL, which is another one elsewhere. */
export const toStoreLine = (row: StoreRow) => {
  const { webhook_url: _, ...store } = toStore(row, '');
  return line('store', store);
};
export const toOfferLine = (row: OfferRow) => line('offer', { store_id: row.storeId, ...toOffer(row) });
export const toPurchaseLine = (row: PurchaseRow, facts: StoredFact[], licenseIds: string[]) =>
  line('purchase', { ...toPurchase(row), facts: facts.map(toFactBody), license_ids: licenseIds });
export const toPaymentLine = (row: PaymentRow) => line('payment', toPayment(row));
export const toApiKeyLine = (row: ApiKeyRow, lastUsedMs: number | null) =>
  line('api_key', toApiKey(row, lastUsedMs));

/** A webhook that subscribes to all events, also to later ones, has null. */
export const toWebhookLine = (endpoint: Endpoint) =>
  line('webhook', { ...toWebhook(endpoint), events: endpoint.events });

export const toActivationLine = (machine: Machine, licenseKey: string) => {
  const { countedAtMs, fileUntilMs, releasedAtMs } = machine.seat;
  return line('activation', {
    ...toActivation(machine),
    license_id: machine.licenseId,
    license_key: licenseKey,
    last_counted_at: isoTime(countedAtMs),
    file_until: isoTimeOrNull(fileUntilMs),
    released_at: isoTimeOrNull(releasedAtMs),
  });
};

export const toChangeLine = (row: typeof licenseChanges.$inferSelect, licenseKey: string) =>
  line('license_change', { license_id: row.licenseId, license_key: licenseKey, ...toHistoryEntry(row) });

/** A change of a license's seats. */
export const toSeatChangeLine = (change: SeatChange & { licenseId: string }, licenseKey: string) => {
  const { action, ...fields } = toSeatChangeBody(change);
  return line('license_change', {
    license_id: change.licenseId,
    license_key: licenseKey,
    action: `seat_${action}`,
    ...fields,
  });
};
