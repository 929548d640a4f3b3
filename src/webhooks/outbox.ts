export const outboxOf = (env: Env, accountId: string) => env.OUTBOX.getByName(accountId);
