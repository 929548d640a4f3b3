import { env, exports } from 'cloudflare:workers';
import { expect, vi } from 'vitest';
import { settingsOf } from '../../src/shared/config/settings.ts';
import { call, freshAddress, ORIGIN, textOf } from './client.ts';

export const OPERATOR_TOKEN = 'only-for-tests-operator-0123456789abcdef';

/** Gives the service an operator's token. Returns a function that takes it away. */
export const withOperatorToken = () => {
  const token = vi.spyOn(settingsOf(env), 'operatorToken', 'get').mockReturnValue(OPERATOR_TOKEN);
  return () => token.mockRestore();
};

export const asOperator = (method: string, path: string, body?: unknown) =>
  call(method, path, {
    body,
    headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, 'cf-connecting-ip': freshAddress() },
  });

/** Returns the metrics as Prometheus gets them. */
export const scrapeMetrics = async (): Promise<string> => {
  const response = await exports.default.fetch(
    new Request(`${ORIGIN}/operator/metrics`, { headers: { authorization: `Bearer ${OPERATOR_TOKEN}` } }),
  );
  expect(response.headers.get('content-type')).toMatch(/^text\/plain/);
  return textOf(response);
};
