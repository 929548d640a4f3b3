// An account's two Durable Objects, which are addressed by its id.

export const gateOf = (env: Env, accountId: string) => env.GATE.getByName(accountId);

export const outboxOf = (env: Env, accountId: string) => env.OUTBOX.getByName(accountId);
