import { type Context, Hono } from 'hono';
import { auditFirst } from '../audit/audit.ts';
import { audited } from '../audit/audited.ts';
import { auditRead, auditReadFirst } from '../audit/reads.ts';
import { clientOf } from '../auth/client.ts';
import { operatorAuditCtx, operatorOnly } from '../auth/operator.ts';
import { renderBackups } from '../backups/metrics.ts';
import { requestOperatorChange } from '../credentials/operator-change.ts';
import { accountCtx, type AppEnv, completed, publicCtx } from '../http/context.ts';
import { takes } from '../http/input.ts';
import { NDJSON, streamLines } from '../http/ndjson.ts';
import { readRequestCounts } from '../http/request-counts.ts';
import { AppError } from '../shared/app-error.ts';
import { gateOf } from '../shared/objects/address.ts';
import { OPERATOR } from '../shared/rules/audit.ts';
import { isoTime } from '../shared/rules/dates.ts';
import { toPage } from '../shared/schemas/lists.ts';
import { requestReset } from '../two-factor/reset.ts';
import {
  type FoundAccount,
  getAccount,
  grantPlan,
  largestAccounts,
  searchAccounts,
  setSuspended,
} from './accounts.ts';
import { readBackup } from './backup.ts';
import { cancelMove, moveDatabase, readMove } from './databases.ts';
import { invite, listInvitations, revokeInvitation } from './invitations.ts';
import { renderMetrics } from './metrics.ts';
import { reseal } from './reseal.ts';
import { restoreBackup } from './restore.ts';
import {
  accountParam,
  accountsQuery,
  changeEmailInput,
  grantInput,
  invitationParam,
  invitationsQuery,
  inviteInput,
  moveDatabaseInput,
  resealInput,
  restoreQuery,
  toAccountPage,
  toInvitation,
  toOperatorAccount,
  toOrphans,
} from './schemas.ts';
import { type FoundUsage, withUsage } from './usage.ts';

// The operator's paths. They are not in the OpenAPI document, which is for the service's users: see docs/running.md.

/** Any id of another form is no account's. */
const operatorCtx = (c: Context<AppEnv>) => {
  const { success, data } = accountParam.safeParse(c.req.param());
  if (!success) throw new AppError('not_found', { message: 'Account Not Found' });
  return accountCtx(c, data.id, OPERATOR);
};

export const operatorRoutes = new Hono<AppEnv>()
  .use(operatorOnly)
  .get('/metrics', takes({}), async (c) => {
    const metrics = await Promise.all([renderMetrics(c.env, readRequestCounts()), renderBackups(c.env)]);
    return c.text(metrics.join(''), 200);
  })
  .get('/accounts', takes({ query: accountsQuery }), async (c) => {
    const input = c.req.valid('query');
    await auditReadFirst(operatorAuditCtx(c), 'accounts.search', { by_query: !!input.q });
    const { limit, sort, usage } = input;
    const found = await (sort ? largestAccounts : searchAccounts)(c.env, input);
    // The last row only shows that there is another page.
    const rows: (FoundAccount & { usage?: FoundUsage | null })[] =
      usage === 'true' ? await withUsage(c.env, found) : found;
    return c.json(toAccountPage(rows, limit), 200);
  })
  .get('/invitations', takes({ query: invitationsQuery }), async (c) => {
    const input = c.req.valid('query');
    const rows = await listInvitations(publicCtx(c), input);
    return c.json(toPage(rows, input.limit, toInvitation), 200);
  })
  .post('/invitations', takes({ body: inviteInput }), async (c) => {
    const { email = null, days } = c.req.valid('json');
    const { token, row } = await invite(operatorAuditCtx(c), email, days);
    const url = `${clientOf(c).origin}/register#invitation=${token}`;
    return c.json({ ...toInvitation(row), url }, 201);
  })
  .delete('/invitations/:id', takes({}), async (c) => {
    const { success, data } = invitationParam.safeParse(c.req.param());
    if (!success) throw new AppError('not_found', { message: 'Invitation Not Found' });
    await revokeInvitation(operatorAuditCtx(c), data.id);
    return c.json({ id: data.id, deleted: true }, 200);
  })
  .post('/accounts/:id/suspend', takes({}), async (c) => {
    const found = await setSuspended(operatorCtx(c), true);
    return c.json(toOperatorAccount(found), 200);
  })
  .post('/accounts/:id/reinstate', takes({}), async (c) => {
    const found = await setSuspended(operatorCtx(c), false);
    return c.json(toOperatorAccount(found), 200);
  })
  .post('/accounts/:id/reset-two-factor', takes({}), async (c) => {
    const ctx = { ...operatorCtx(c), ...publicCtx(c) };
    const found = await getAccount(ctx);
    const resetAt = await completed(c, requestReset(ctx, clientOf(c)));
    return c.json({ ...toOperatorAccount(found), two_factor_reset_at: isoTime(resetAt) }, 200);
  })
  .post('/accounts/:id/change-email', takes({ body: changeEmailInput }), async (c) => {
    const ctx = { ...operatorCtx(c), ...publicCtx(c) };
    const found = await getAccount(ctx);
    const { email } = c.req.valid('json');
    const changesAt = await completed(c, requestOperatorChange(ctx, email, clientOf(c).origin));
    return c.json(
      { ...toOperatorAccount(found), new_email: email, email_changes_at: isoTime(changesAt) },
      200,
    );
  })
  .post('/accounts/:id/plan', takes({ body: grantInput }), async (c) => {
    const { plan, until } = c.req.valid('json');
    const untilMs = until ? Date.parse(until) : null;
    const found = await grantPlan(operatorCtx(c), plan, untilMs);
    return c.json(toOperatorAccount(found), 200);
  })
  .get('/accounts/:id/database', takes({}), async (c) => c.json(await readMove(operatorCtx(c)), 200))
  .post('/accounts/:id/database', takes({ body: moveDatabaseInput }), async (c) =>
    c.json(await moveDatabase(operatorCtx(c), c.req.valid('json').database), 202),
  )
  .delete('/accounts/:id/database', takes({}), async (c) => c.json(await cancelMove(operatorCtx(c)), 202))
  .get('/accounts/:id/orphans', takes({}), async (c) => {
    const ctx = operatorCtx(c);
    await getAccount(ctx);
    await auditRead(ctx, 'account.list_orphans', null, { isBeyondLimits: true });
    return c.json(toOrphans(await gateOf(ctx.env, ctx.accountId).orphans()), 200);
  })
  .delete('/accounts/:id/orphans', takes({}), async (c) => {
    const ctx = operatorCtx(c);
    await getAccount(ctx);
    const given = await audited(ctx, ['account.drop_orphans', null], {
      check: null,
      makeChange: async () => toOrphans(await gateOf(ctx.env, ctx.accountId).orphans(true)),
      isBeyondLimits: true,
    });
    return c.json(given, 200);
  })
  .get('/backup/:id', takes({}), async (c) => {
    const ctx = operatorCtx(c);
    await getAccount(ctx);
    const log = { event: 'backup_failed', accountId: ctx.accountId };
    const lines = await audited(ctx, ['account.backup', null], {
      check: null,
      makeChange: () => streamLines(readBackup(ctx), log),
    });
    return c.body(lines, 200, { 'Content-Type': NDJSON });
  })
  .post('/backup/:id', takes({ query: restoreQuery }), async (c) => {
    const ctx = operatorCtx(c);
    await getAccount(ctx);
    const isReplacing = c.req.valid('query').replace === 'true';
    const restored = await audited(ctx, ['account.recover', null], {
      check: null,
      makeChange: () => restoreBackup(ctx, c.req.raw.body, isReplacing),
    });
    return c.json(restored, 200);
  })
  .post('/reseal', takes({ body: resealInput }), async (c) => {
    const { restart } = c.req.valid('json');
    // Before the work, which no batch can include.
    await auditFirst(operatorAuditCtx(c), 'secrets.reseal', null, { restart });
    return c.json(await reseal(c.env, restart), 200);
  });
