import { type Context, Hono } from 'hono';
import { auditFirst } from '../audit/audit.ts';
import { operatorAuditCtx, operatorOnly } from '../auth/operator.ts';
import type { AppEnv } from '../http/context.ts';
import { takes } from '../http/input.ts';
import { AppError } from '../shared/app-error.ts';
import { type Bucket, requireBucket } from './bucket.ts';
import { startBackup } from './nightly.ts';
import { restoreStep } from './restore.ts';
import { findRestoring } from './restoring.ts';
import { backupParam, toBackup, toRestored } from './schemas.ts';
import { findRunning, listIds, readSummary, running } from './state.ts';
import { makeStep } from './step.ts';

// The operator's paths for backups of the whole service: see docs/backups.md.

const idOf = (c: Context<AppEnv>): string => {
  const { success, data } = backupParam.safeParse(c.req.param());
  if (!success) throw notFound();
  return data.id;
};

const findNow = async (env: Env, bucket: Bucket) => (await findRunning(env, running(bucket)))?.value ?? null;

const notFound = () => new AppError('not_found', { message: 'Backup Not Found' });

export const backupRoutes = new Hono<AppEnv>()
  .use(operatorOnly)
  .get('/', takes({}), async (c) => {
    const bucket = requireBucket(c.env);
    const [now, restoring, ids] = await Promise.all([
      findNow(c.env, bucket),
      findRestoring(c.env, bucket),
      listIds(bucket),
    ]);
    const summaries = await Promise.all(ids.map((id) => readSummary(bucket, id)));
    const data = [...(now ? [toBackup(now)] : []), ...summaries.toReversed().flatMap(toBackups)];
    return c.json({ data, restoring: restoring?.value.id ?? null, next_cursor: null }, 200);
  })
  .post('/', takes({}), async (c) => {
    const bucket = requireBucket(c.env);
    await auditFirst(operatorAuditCtx(c), 'service.backup', null);
    return c.json(toBackup(await startBackup(c.env, bucket)), 201);
  })
  .get('/:id', takes({}), async (c) => {
    const bucket = requireBucket(c.env);
    const id = idOf(c);
    const [now, summary] = await Promise.all([findNow(c.env, bucket), readSummary(bucket, id)]);
    const found = summary ?? (now?.id === id ? now : null);
    if (!found) throw notFound();
    return c.json(toBackup(found), 200);
  })
  .post('/:id/continue', takes({}), async (c) => {
    const bucket = requireBucket(c.env);
    const id = idOf(c);
    const summary = await readSummary(bucket, id);
    if (summary) return c.json(toBackup(summary), 200);
    const now = await findNow(c.env, bucket);
    if (now?.id !== id) throw notFound();
    const step = await makeStep(c.env, bucket);
    if (!step || step.status === 'running') return c.json(toBackup(step?.state ?? now), 200);
    const done = await readSummary(bucket, id);
    return c.json(done ? toBackup(done) : toBackup(step.state, 'failed'), 200);
  })
  .post('/:id/restore', takes({}), async (c) => {
    const bucket = requireBucket(c.env);
    const id = idOf(c);
    return c.json(toRestored(await restoreStep(operatorAuditCtx(c), bucket, id)), 200);
  });

const toBackups = (summary: Awaited<ReturnType<typeof readSummary>>) => (summary ? [toBackup(summary)] : []);
