import { getAccount } from '../accounts/account.ts';
import type { Ctx } from '../db/ctx.ts';
import { type PageInput, toPage } from '../shared/pages.ts';
import { AppError } from '../shared/app-error.ts';
import { findEndpoint } from './endpoints.ts';
import { outboxOf } from '../shared/objects.ts';
import type { DeliveryRecord } from './outbox-tables.ts';
import { toDeliveryBody } from './schemas.ts';

export const listDeliveries = async (
  { env, accountId }: Ctx,
  endpointId: string,
  { limit, cursor }: PageInput,
) => {
  const rows = await outboxOf(env, accountId).listDeliveries(endpointId, limit + 1, cursor ?? null);
  if (!rows) throw new AppError('webhook_not_found');
  return toPage(rows, limit, toDeliveryBody);
};

const assertEnabled = async (ctx: Ctx, endpointId: string) => {
  const { disabledReason } = await findEndpoint(ctx, endpointId);
  if (disabledReason)
    throw new AppError('invalid_transition', {
      message: 'This webhook is disabled: enable it before you send events to it.',
    });
};

export const sendTest = async (ctx: Ctx, endpointId: string): Promise<DeliveryRecord> => {
  await assertEnabled(ctx, endpointId);
  const { email } = await getAccount(ctx);
  const delivery = await outboxOf(ctx.env, ctx.accountId).sendTest(endpointId, email);
  if (!delivery) throw new AppError('webhook_not_found');
  return delivery;
};

export const resend = async (ctx: Ctx, endpointId: string, deliveryId: string): Promise<DeliveryRecord> => {
  await assertEnabled(ctx, endpointId);
  const delivery = await outboxOf(ctx.env, ctx.accountId).resend(endpointId, deliveryId);
  if (!delivery) throw new AppError('not_found', { message: 'Delivery Not Found' });
  return delivery;
};
