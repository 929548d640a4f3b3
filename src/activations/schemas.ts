import * as z from 'zod';
import { type Machine, REFUSALS, SEAT_ACTORS, type SeatChange } from '../gate/rules/seats.ts';
import { isoTime, isoTimeOrNull } from '../shared/rules/dates.ts';
import { MAX_PRODUCT_LENGTH } from '../shared/rules/licenses.ts';
import { MAX_OFFLINE_DAYS, MIN_LEASE_SECONDS } from '../shared/rules/terms.ts';
import {
  type CallInput,
  type MachineName,
  type PlainVerdict,
  type Verdict,
  VERDICT_CODES,
  VERDICT_STATUSES,
} from '../shared/rules/verdict.ts';
import { anyText } from '../shared/schemas/fields.ts';
import { listOf } from '../shared/schemas/lists.ts';

/** A schema for each field of a type. */
type Fields<T, Absent = never> = { [Name in keyof T]-?: z.ZodType<T[Name] | Absent> };

export const verifyInput = z
  .object({
    license_key: z
      .string()
      .min(1)
      .meta({ examples: ['7K3QD-9WZXA-M2RTB-H5NVE-40GPW'] }),
  })
  .meta({ id: 'Verify' });

const visibleAscii = (min: number, max: number) =>
  z
    .string()
    .min(min)
    .max(max)
    .regex(/^[\x21-\x7e]*$/, 'must consist of visible ASCII characters');

export const fingerprint = visibleAscii(8, 256).meta({ description: 'Identifies the machine.' });

export const callInput = verifyInput
  .extend({
    fingerprint: fingerprint.nullish(),
    product: anyText(MAX_PRODUCT_LENGTH).nullish().meta({
      description: 'The product that the application belongs to. Licenses of another product are refused.',
    }),
    name: anyText(100).nullish().meta({
      description:
        'The machine’s name, for the seller and the customer to recognize it. A heartbeat doesn’t change it.',
    }),
    platform: anyText(60).nullish(),
    app_version: anyText(60).nullish(),
    release_date: z.iso.date().nullish().meta({
      description: 'When the application’s version was released. Refused if it is after `updates_until`.',
    }),
    nonce: visibleAscii(8, 128)
      .nullish()
      .meta({ description: 'Comes back in the token, which proves that it is fresh.' }),
    lease_seconds: z
      .int()
      .min(MIN_LEASE_SECONDS)
      .max(MAX_OFFLINE_DAYS * 86_400)
      .nullish()
      .meta({
        description:
          'Asks for a lease other than the terms’, up to the longer of their lease and `offline_days`. Ignored without a lease.',
      }),
    replace: z.string().max(64).nullish().meta({
      description:
        'The activation whose seat this machine takes over. Ignored without `self_service`, and by a machine that holds a seat.',
    }),
  } satisfies Fields<Omit<CallInput, 'license_key'> & { nonce: string }, null | undefined>)
  .meta({ id: 'ApplicationCall' });

export type SentCall = z.output<typeof callInput>;

/** Whether a call has nothing but a license key, as most have. */
export const isPlainCall = (sent: unknown): sent is SentCall => {
  if (typeof sent !== 'object' || sent === null || Object.keys(sent).length !== 1) return false;
  const { license_key } = sent as Record<string, unknown>;
  return typeof license_key === 'string' && license_key !== '';
};

/** Drops the fields that are null or empty, which stands for nothing: an application may find no name of its machine. */
export const givenFields = (sent: SentCall) =>
  Object.fromEntries(
    Object.entries(sent).filter(([, value]) => value !== null && value !== undefined && value !== ''),
  ) as unknown as { [Name in keyof SentCall]: Exclude<SentCall[Name], null> };

const machineName = {
  id: z.string(),
  name: z.string().nullable(),
  platform: z.string().nullable(),
} satisfies Fields<MachineName>;

const plainVerdict = {
  valid: z.boolean(),
  status: z.enum(VERDICT_STATUSES),
  expires_at: z.iso.date().nullable(),
} satisfies Fields<PlainVerdict>;

export const plainVerdictBody = z
  .object({
    ...plainVerdict,
    api_usage: z
      .int()
      .meta({ description: 'The account’s licensing calls in this period, including this call.' }),
    api_limit: z.int(),
  })
  .meta({ id: 'Verdict' });

const seats = z.object({ used: z.int(), limit: z.int() }).nullable() satisfies z.ZodType<Verdict['seats']>;

/** The fields of a verdict on a license and a machine, without those that only its token has. */
const verdict = {
  valid: z.boolean().meta({ description: 'True exactly when `code` is `valid`.' }),
  code: z.enum(VERDICT_CODES),
  license_id: z.string().nullable(),
  product: z.string().nullable(),
  entitlements: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
  updates_until: z.iso.date().nullable(),
  grace_until: z.iso.date().nullable().meta({
    description:
      'The last day of grace, until which the license stays active after `expires_at`. Null without any.',
  }),
  server_time: z.iso.datetime(),
  activation: z
    .object({ ...machineName, activated_at: z.iso.datetime(), lease_until: z.iso.datetime().nullable() })
    .nullable()
    .meta({ description: 'The seat that this machine holds.' }),
  seats: seats.meta({ description: 'Null if the number of seats isn’t limited.' }),
  retry_at: z.iso.datetime().nullable().meta({
    description:
      'When a seat may become free, or with `transfer_limit`, the next transfer is allowed. Null unless waiting helps.',
  }),
  machines: z
    .array(z.object({ ...machineName, last_seen_at: z.iso.datetime() }))
    .nullable()
    .meta({ description: 'The machines that hold the seats, with `no_seat` and `self_service`.' }),
  token: z.string().nullable().meta({ description: 'A signed token with the answer, see `/api/v1/jwks`.' }),
} satisfies Fields<
  Omit<Verdict, 'status' | 'expires_at' | 'license_key' | 'offline_days'> & {
    server_time: string;
    token: string | null;
  }
>;

export const verdictBody = plainVerdictBody.extend(verdict).meta({ id: 'ApplicationVerdict' });

/** The answer to a machine that leaves, which says nothing of the license. */
export const leavingBody = verdictBody
  .extend({
    status: z.null(),
    expires_at: z.null(),
    license_id: z.null(),
    product: z.null(),
    entitlements: z.null(),
    updates_until: z.null(),
    grace_until: z.null(),
    token: z.null(),
  })
  .meta({ id: 'Deactivation' });

/** A verify with nothing but a license key, of a license without terms, has only the first five fields. */
export const verifyBody = z.union([verdictBody, plainVerdictBody]).meta({ id: 'VerifyAnswer' });

export const activationBody = z
  .object({
    ...machineName,
    fingerprint: z.string(),
    app_version: z.string().nullable(),
    activated_at: z.iso.datetime(),
    last_seen_at: z.iso.datetime(),
    lease_until: z.iso.datetime().nullable(),
  })
  .meta({ id: 'Activation' });

export const activationListBody = listOf(activationBody).extend({ seats }).meta({ id: 'ActivationList' });

export const seatChangeBody = z
  .object({
    action: z.enum(['taken', 'released', 'refused']).meta({
      description:
        '`refused` is a machine that found no seat. It is noted at most once an hour, and only the last time for each machine.',
    }),
    at: z.iso.datetime(),
    by: z.enum(SEAT_ACTORS).meta({
      description:
        'Who made the call: an application, you, in the dashboard or with an API key of full scope, or the customer in the portal.',
    }),
    activation_id: z.string().nullable().meta({ description: 'Null for `refused`.' }),
    fingerprint: z.string(),
    name: z.string().nullable(),
    reason: z
      .enum(REFUSALS)
      .nullable()
      .meta({ description: 'Why the machine was refused, by the code that it got. Null otherwise.' }),
  })
  .meta({ id: 'SeatChange' });

export const seatHistoryBody = listOf(seatChangeBody).meta({ id: 'SeatHistory' });

export const deletedActivationBody = z
  .object({ id: z.string(), deleted: z.literal(true) })
  .meta({ id: 'DeletedActivation' });

export const releaseQuery = z.object({
  force: z
    .enum(['true', 'false'])
    .optional()
    .meta({ description: 'With `true`, also releases a seat that an offline file holds.' }),
});

export const offlineTokenInput = z
  .strictObject({
    fingerprint: fingerprint.nullish(),
    days: z
      .int()
      .min(1)
      .max(MAX_OFFLINE_DAYS)
      .nullish()
      .meta({ description: 'The default is `offline_days`, unless that is 0.' }),
  })
  .meta({ id: 'OfflineToken' });

export const offlineTokenBody = z
  .object({ token: z.string(), expires_at: z.iso.datetime() })
  .meta({ id: 'OfflineTokenFile' });

export const toActivation = ({ seat, ...machine }: Machine): z.infer<typeof activationBody> => ({
  id: machine.id,
  fingerprint: machine.fingerprint,
  name: machine.name,
  platform: machine.platform,
  app_version: machine.appVersion,
  activated_at: isoTime(seat.activatedAtMs),
  last_seen_at: isoTime(seat.lastSeenAtMs),
  lease_until: isoTimeOrNull(seat.leaseUntilMs),
});

const toRefusal = ({ action }: SeatChange) => REFUSALS.find((refusal) => refusal === action) ?? null;

export const toSeatChangeBody = (change: SeatChange): z.infer<typeof seatChangeBody> => ({
  action: change.action === 'taken' || change.action === 'released' ? change.action : 'refused',
  at: isoTime(change.atMs),
  by: change.actor,
  activation_id: change.activationId || null,
  fingerprint: change.fingerprint,
  name: change.name,
  reason: toRefusal(change),
});
