import { expect, test } from 'vitest';
import { signUp } from '../support/client.ts';
import { accountsD1 } from '../support/databases.ts';

/** Returns the account's entries in its own database, oldest first. */
const entriesOf = async (accountId: string) => {
  const { results } = await accountsD1
    .prepare('SELECT * FROM audit_log WHERE account_id = ? ORDER BY id')
    .bind(accountId)
    .all();
  return results;
};

test('an entry names the action, its target, the caller and the address', async () => {
  const ada = await signUp();
  const from = { 'cf-connecting-ip': '2001:db8::1:2' };
  await ada.asKey('GET', `/api/api-keys/${ada.apiKeyId}`, undefined, from);
  await ada.asSession('DELETE', `/api/api-keys/${ada.apiKeyId}`);
  expect(await entriesOf(ada.accountId)).toMatchObject([
    { action: 'api_key.create', actor_kind: 'session', target: ada.apiKeyId, details: '{"scope":"full"}' },
    {
      action: 'api_key.reveal',
      actor_kind: 'api_key',
      actor_id: ada.apiKeyId,
      target: ada.apiKeyId,
      ip: '2001:db8::1:2',
      details: null,
    },
    { action: 'api_key.delete', actor_kind: 'session', target: ada.apiKeyId, ip: null },
  ]);
});
