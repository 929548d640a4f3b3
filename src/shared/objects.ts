// How to address an account's two Durable Objects.

export const gateOf = (env: Env, accountId: string) => env.GATE.getByName(accountId);

export const outboxOf = (env: Env, accountId: string) => env.OUTBOX.getByName(accountId);
