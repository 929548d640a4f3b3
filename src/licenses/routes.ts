import { type Context, Hono } from 'hono';
import type * as z from 'zod';
import { endpoint } from '../auth/endpoint.ts';
import type { Ctx } from '../db/ctx.ts';
import type { LicenseValues } from '../db/schema.ts';
import { eraseLicense } from '../erasure/license.ts';
import { once } from '../gate/worker/commit.ts';
import type { AppEnv } from '../http/context.ts';
import { withEtag } from '../http/etag.ts';
import type { Transition } from '../shared/rules/licenses.ts';
import { patchLicense, renewLicense, rotateKey, transitionLicense } from './change.ts';
import { createLicense } from './create.ts';
import { findLicense } from './find.ts';
import { listHistory } from './history.ts';
import { listLicensesQuery } from './list-query.ts';
import { listLicenses } from './list.ts';
import {
  createLicenseInput,
  deletedLicenseBody,
  historyBody,
  historyQuery,
  licenseBody,
  licenseListBody,
  patchLicenseInput,
  renewLicenseInput,
  rotateKeyInput,
  setProductQuery,
  toLicense,
  type TransitionInput,
  transitionInput,
} from './schemas.ts';

const TRANSITION_SUMMARIES: Record<Transition, string> = {
  suspend: 'Suspend a license',
  reinstate: 'Reinstate a suspended license',
  revoke: 'Revoke a license permanently',
};

/** Makes the change once for an Idempotency-Key. A repeat answers with the license as it is now. */
const changeOnce = async (c: Context<AppEnv>, change: (ctx: Ctx) => Promise<LicenseValues>) => {
  const { ctx } = c.var;
  return withEtag(
    c,
    toLicense(
      await once(
        ctx,
        () => change(ctx),
        (id) => findLicense(ctx, id),
      ),
    ),
  );
};

const labelOptions = ({ allow_unknown_product }: z.output<typeof setProductQuery>) => ({
  allowsLabel: allow_unknown_product === 'true',
});

const create = new Hono<AppEnv>()
  .post(
    '/create',
    endpoint({
      id: 'createLicense',
      tag: 'Licenses',
      summary: 'Create a license',
      description: 'Counts as one licensing call if it is made with an API key and creates a new license.',
      access: 'account',
      hasEtag: true,
      isRepeatable: true,
      query: setProductQuery,
      body: createLicenseInput,
      answers: [{ status: 201, description: 'The license.', schema: licenseBody }],
      errors: ['license_limit_reached', 'license_key_taken', 'usage_limit_exceeded'],
    }),
    async (c) => {
      const options = labelOptions(c.req.valid('query'));
      return c.json(await changeOnce(c, (ctx) => createLicense(ctx, c.req.valid('json'), options)), 201);
    },
  )
  // Otherwise `/:id` below would match this path.
  .all('/create', (c) => c.notFound());

const manage = new Hono<AppEnv>()
  .get(
    '/',
    endpoint({
      id: 'listLicenses',
      tag: 'Licenses',
      summary: 'List and search licenses',
      description:
        'Lists licenses, newest first. With `status=expired` they are sorted by expiration date, latest first. `sort` says where imported licenses come.',
      access: 'account',
      query: listLicensesQuery,
      answers: [{ status: 200, description: 'A page of licenses.', schema: licenseListBody }],
    }),
    async (c) => c.json(await listLicenses(c.var.ctx, c.req.valid('query')), 200),
  )
  .get(
    '/:id',
    endpoint({
      id: 'getLicense',
      tag: 'Licenses',
      summary: 'Get a license',
      access: 'account',
      hasEtag: true,
      answers: [{ status: 200, description: 'The license.', schema: licenseBody }],
      errors: ['license_not_found'],
    }),
    async (c) => c.json(withEtag(c, toLicense(await findLicense(c.var.ctx, c.req.param('id')))), 200),
  )
  .get(
    '/:id/history',
    endpoint({
      id: 'getLicenseHistory',
      tag: 'Licenses',
      summary: 'List a license’s history',
      description:
        'Lists the latest 200 changes to a license, or those of the latest 64 KiB, newest first. The last entry is its creation. Expiring is not a change.',
      access: 'account',
      query: historyQuery,
      answers: [{ status: 200, description: 'A page of the license’s history.', schema: historyBody }],
      errors: ['license_not_found'],
    }),
    async (c) => c.json(await listHistory(c.var.ctx, c.req.param('id'), c.req.valid('query')), 200),
  )
  .patch(
    '/:id',
    endpoint({
      id: 'patchLicense',
      tag: 'Licenses',
      summary: 'Update a license',
      access: 'account',
      hasEtag: true,
      takesIfMatch: true,
      isRepeatable: true,
      query: setProductQuery,
      body: patchLicenseInput,
      answers: [{ status: 200, description: 'The updated license.', schema: licenseBody }],
      errors: ['license_not_found', 'invalid_transition'],
    }),
    async (c) => {
      const input = c.req.valid('json');
      const options = labelOptions(c.req.valid('query'));
      return c.json(await changeOnce(c, (ctx) => patchLicense(ctx, c.req.param('id'), input, options)), 200);
    },
  )
  .delete(
    '/:id',
    endpoint({
      id: 'deleteLicense',
      tag: 'Licenses',
      summary: 'Delete a license',
      description:
        'Deletes the license with its history, its activations, and its events, permanently. Only the event of the deletion stays, as long as all events do. To end a license and keep its history, revoke it.',
      access: 'account',
      takesIfMatch: true,
      answers: [{ status: 200, description: 'The license is deleted.', schema: deletedLicenseBody }],
      errors: ['license_not_found'],
    }),
    async (c) => {
      const id = c.req.param('id');
      await eraseLicense(c.var.ctx, id);
      return c.json({ id, deleted: true as const }, 200);
    },
  )
  .post(
    '/:id/rotate-key',
    endpoint({
      id: 'rotateLicenseKey',
      tag: 'Licenses',
      summary: 'Replace a license’s key',
      description:
        'Gives the license another key, which it returns. The old key is `not_found` from the response on. Seats stay.',
      access: 'account',
      hasEtag: true,
      takesIfMatch: true,
      isRepeatable: true,
      body: rotateKeyInput,
      answers: [{ status: 200, description: 'The license with its new key.', schema: licenseBody }],
      errors: ['license_not_found', 'license_key_taken'],
    }),
    async (c) => {
      const input = c.req.valid('json');
      return c.json(await changeOnce(c, (ctx) => rotateKey(ctx, c.req.param('id'), input)), 200);
    },
  )
  .post(
    '/:id/renew',
    endpoint({
      id: 'renewLicense',
      tag: 'Licenses',
      summary: 'Renew a license',
      description:
        'Sets a new last day with `expires_at`, or extends the license by `duration_days`. Days count from the license’s last day, or from today if that day has passed or the license is perpetual.',
      access: 'account',
      hasEtag: true,
      takesIfMatch: true,
      isRepeatable: true,
      body: renewLicenseInput,
      answers: [{ status: 200, description: 'The updated license.', schema: licenseBody }],
      errors: ['license_not_found', 'invalid_transition'],
    }),
    async (c) => {
      const input = c.req.valid('json');
      return c.json(await changeOnce(c, (ctx) => renewLicense(ctx, c.req.param('id'), input)), 200);
    },
  );

const transition = (name: Transition) =>
  [
    endpoint({
      id: `${name}License`,
      tag: 'Licenses',
      summary: TRANSITION_SUMMARIES[name],
      description: 'Every verify that starts after the response sees the new state.',
      access: 'account',
      hasEtag: true,
      takesIfMatch: true,
      isRepeatable: true,
      body: transitionInput,
      answers: [{ status: 200, description: 'The updated license.', schema: licenseBody }],
      errors: ['license_not_found', 'invalid_transition'],
    }),
  ] as const;

const transitionOnce = (c: Context<AppEnv, '/:id'>, name: Transition, { reason }: TransitionInput) =>
  changeOnce(c, (ctx) => transitionLicense(ctx, c.req.param('id'), name, reason ?? undefined));

const transitions = new Hono<AppEnv>()
  .post('/:id/suspend', ...transition('suspend'), async (c) =>
    c.json(await transitionOnce(c, 'suspend', c.req.valid('json')), 200),
  )
  .post('/:id/reinstate', ...transition('reinstate'), async (c) =>
    c.json(await transitionOnce(c, 'reinstate', c.req.valid('json')), 200),
  )
  .post('/:id/revoke', ...transition('revoke'), async (c) =>
    c.json(await transitionOnce(c, 'revoke', c.req.valid('json')), 200),
  );

export const licenseRoutes = new Hono<AppEnv>().route('/', create).route('/', manage).route('/', transitions);
