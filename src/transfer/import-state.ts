import type { Ctx } from '../db/ctx.ts';
import type { NamedProduct } from '../shared/rules/nearest-products.ts';
import type { Endpoint } from '../webhooks/outbox-tables.ts';
import type { Effects } from './effects.ts';
import type { PlannedLicense, PlannedProduct } from './plan.ts';
import type { ImportOptions, LineError, ParsedLine } from './schemas.ts';

export type KnownWebhook = Pick<Endpoint, 'url' | 'events' | 'description'>;

/** A line with the license key that it has, or that was chosen for it. */
export type BatchLine = ParsedLine & { licenseKey: string };

export interface Import {
  ctx: Ctx;
  options: ImportOptions;
  serviceHost: string;
  /** What a dry run would have changed so far. */
  assumed: {
    licenses: Map<string, PlannedLicense>;
    products: Map<string, PlannedProduct>;
    /** About how many characters the licenses have. */
    length: number;
  };
  /** The account's webhooks, once a line needs them. */
  webhooks: KnownWebhook[] | null;
  /** Why the account takes no further webhook, once it has refused one. */
  noWebhooks: LineError | null;
  /** The account's products, once a line names none of them, and what to say of what such lines name. */
  products: NamedProduct[] | null;
  notProducts: Map<string, string>;
  /** What was done to licenses that exist. */
  effects: Effects;
  /** The id of this import's entry in the audit log. */
  entryId: string;
  /** Whether the audit log certainly has the entry. */
  isRecorded: boolean;
}
