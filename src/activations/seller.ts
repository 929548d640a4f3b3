import type * as z from 'zod';
import { audited } from '../audit/audited.ts';
import type { Ctx } from '../db/ctx.ts';
import type { LicenseRow } from '../db/schema.ts';
import type { SellingActor } from '../gate/rules/seats.ts';
import type { FileVerdict } from '../gate/rules/seller.ts';
import { findLicense } from '../licenses/find.ts';
import { AppError, invalidField } from '../shared/app-error.ts';
import { sha256 } from '../shared/crypto/hash.ts';
import { gateOf } from '../shared/objects/address.ts';
import { isoTime } from '../shared/rules/dates.ts';
import { tokenEndMs } from '../shared/rules/tokens.ts';
import { type PageInput, toPage } from '../shared/schemas/lists.ts';
import { idTimeMs } from '../shared/text/ids.ts';
import { requireSigningKeys, sign } from './answer.ts';
import { type offlineTokenInput, toActivation, toSeatChangeBody } from './schemas.ts';

// What a seller does with the seats of a license, which the account's gate stores.

/** A customer does so in the portal. */
const actorOf = ({ actor }: Ctx): SellingActor => (actor.kind === 'customer' ? 'customer' : 'seller');

const unavailable = () => new AppError('unavailable');

export const listActivations = async (ctx: Ctx, licenseId: string, { limit, cursor }: PageInput) => {
  const { licenseKey } = await findLicense(ctx, licenseId);
  const page = await gateOf(ctx.env, ctx.accountId).listActivations(licenseKey, limit + 1, cursor ?? null);
  if (!page) throw unavailable();
  const { data, next_cursor } = toPage(page.machines, limit, toActivation);
  return { data, next_cursor: next_cursor ?? page.continuesAfter ?? null, seats: page.seats };
};

export const listSeatChanges = async (ctx: Ctx, licenseId: string, { limit, cursor }: PageInput) => {
  const { licenseKey } = await findLicense(ctx, licenseId);
  const beforeSeq = cursor === undefined ? null : Number(cursor);
  const changes = await gateOf(ctx.env, ctx.accountId).listSeatChanges(licenseKey, limit + 1, beforeSeq);
  if (!changes) throw unavailable();
  const rows = changes.map((change) => ({ ...change, id: String(change.seq) }));
  return toPage(rows, limit, toSeatChangeBody);
};

export const releaseActivation = async (ctx: Ctx, licenseId: string, id: string, force: boolean) => {
  const { licenseKey } = await findLicense(ctx, licenseId);
  const release = async (isDryRun: boolean) => {
    const gate = gateOf(ctx.env, ctx.accountId);
    const result = await gate.releaseActivation(licenseKey, id, force, isDryRun, actorOf(ctx));
    if (!result) throw unavailable();
    if (result === 'not_found') throw new AppError('activation_not_found');
    if (result === 'held_by_file') {
      throw new AppError('invalid_transition', {
        message:
          actorOf(ctx) === 'customer'
            ? 'An offline file holds this seat until the file expires.'
            : 'An offline file holds this seat until the file expires. To free it anyway, add ?force=true.',
      });
    }
  };
  const entry = ['activation.release', id, { license_id: licenseId, force }] as const;
  await audited(ctx, entry, {
    check: () => release(true),
    makeChange: () => release(false),
    isBeyondLimits: true,
  });
};

type FileInput = z.output<typeof offlineTokenInput>;
type FileRefusal = NonNullable<FileVerdict['refused']>;

const toRefusal = (code: FileRefusal, { status }: LicenseRow): AppError => {
  if (code === 'fingerprint_required')
    return invalidField('fingerprint', 'is required, because the license’s seats are limited');
  if (code === 'days_required')
    return invalidField('days', 'is required, because the terms’ offline_days is 0');
  if (code === 'transfer_limit')
    return new AppError('no_seat', { message: 'Too Many Machines Have Held a Seat Within 30 Days' });
  if (code === 'storage_limit_reached') return new AppError(code);
  if (code === 'no_seat') return new AppError('no_seat');
  return new AppError('invalid_transition', {
    message: `Can’t issue a file for a license that is ${code === 'expired' ? code : status}.`,
  });
};

/** Issues a token for a machine without a network, and holds the machine's seat until it expires. */
export const issueOfflineToken = async (ctx: Ctx, licenseId: string, input: FileInput, origin: string) => {
  const license = await findLicense(ctx, licenseId);
  requireSigningKeys(ctx.env, 'activate');
  const fingerprint = input.fingerprint ?? undefined;
  const request = { licenseKey: license.licenseKey, fingerprint, days: input.days ?? undefined };
  const issue = async (isDryRun: boolean, firstMs?: number) => {
    const asked = { ...request, firstMs };
    const issued = await gateOf(ctx.env, ctx.accountId).issueFile(asked, isDryRun, actorOf(ctx));
    if (!issued) throw unavailable();
    if (issued.refused !== null) throw toRefusal(issued.refused, license);
    return issued;
  };
  const { verdict, issuedAtMs, id } = await audited(ctx, ['offline_file.issue', licenseId], {
    check: () => issue(true),
    makeChange: async (onceId) => {
      if (onceId === null) return { ...(await issue(false)), id: null };
      // A repeat for the machine takes the same seat, and gets the same file.
      return { ...(await issue(false, idTimeMs(onceId))), id: sha256(onceId).slice(0, 16) };
    },
  });
  const caller = { env: ctx.env, origin, accountId: ctx.accountId };
  const proof = { kind: 'offline', fingerprint: fingerprint ?? null, nonce: null, id } as const;
  const token = await sign(caller, verdict, proof, issuedAtMs);
  return { token, expires_at: isoTime(Math.floor(tokenEndMs(verdict, issuedAtMs) / 1_000) * 1_000) };
};
