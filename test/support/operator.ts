import { env } from 'cloudflare:workers';
import { call, freshAddress } from './client.ts';

export const OPERATOR_TOKEN = 'only-for-tests-operator-0123456789abcdef';

/** Gives the service an operator's token. Returns a function that takes it away. */
export const withOperatorToken = () => {
  Object.assign(env, { OPERATOR_TOKEN });
  return () => {
    delete env.OPERATOR_TOKEN;
  };
};

export const asOperator = (method: string, path: string, body?: unknown) =>
  call(method, path, {
    body,
    headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, 'cf-connecting-ip': freshAddress() },
  });
