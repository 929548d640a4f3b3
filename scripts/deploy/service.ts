// What the deployment does at the service itself, once it answers.
import { setTimeout as delay } from 'node:timers/promises';
import { fail } from './fail.ts';

const HEALTH_TIMEOUT_MS = 120_000;
const PAUSE_MS = 2_000;

interface Health {
  status: string;
  deployment?: string;
  checks: Record<string, string>;
}

/**
 * Waits until this deployment says that it is well. The one before may be of the same version, and answers for a while. A new
 * address takes a minute to be known everywhere.
 */
export const waitForHealth = async (origin: string, deployment: string): Promise<void> => {
  const endMs = Date.now() + HEALTH_TIMEOUT_MS;
  let last = 'nothing answered';
  while (Date.now() < endMs) {
    try {
      const response = await fetch(`${origin}/health`, { signal: AbortSignal.timeout(PAUSE_MS * 5) });
      const health = (await response.json()) as Health;
      if (health.status === 'ok' && health.deployment === deployment) return;
      last = JSON.stringify(health);
    } catch (error) {
      last = error instanceof Error ? error.message : String(error);
    }
    await delay(PAUSE_MS);
  }
  fail(`${origin}/health isn’t well: ${last}. The release is deployed. Run the command again once it is.`);
};

/** Returns what tells the operator how to create the first account, or null if there are accounts already. */
export const inviteOwner = async (origin: string, operatorToken: string): Promise<string | null> => {
  /** Null if the service has another token. */
  const call = async <T>(method: string, path: string, body?: object): Promise<T | null> => {
    const response = await fetch(`${origin}/operator${path}`, {
      method,
      headers: {
        authorization: `Bearer ${operatorToken}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (response.status === 401) return null;
    return response.ok
      ? ((await response.json()) as T)
      : fail(`${origin}/operator${path} answered ${response.status}. Run the command again.`);
  };
  const found = await call<{ data: unknown[] }>('GET', '/accounts?limit=1');
  if (found && found.data.length > 0) return null;
  const invitation = found && (await call<{ url: string }>('POST', '/invitations', {}));
  return invitation
    ? `Create your account with this link, which works once, for seven days:\n  ${invitation.url}\nThen: ${origin}/docs`
    : `The service has another OPERATOR_TOKEN than the recovery file. With that in LATCHKEY_OPERATOR_TOKEN, and ${origin} in LATCHKEY_URL, \`npm run latchkey -- operator invite\` prints a link with which you create your account.`;
};
