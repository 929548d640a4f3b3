import { api, call } from '../../data/client.ts';
import { ApiError } from '../../data/error.ts';
import { readExpiry } from './expiry-field.tsx';
import { invalidField } from './invalid-field.ts';
import type { Metadata } from './metadata.ts';

const KEY = /^[A-Za-z0-9._-]{8,128}$/;

/** The form's fields as the service takes them: what is empty is left out. */
export const inputOf = (values: Record<string, string>, metadata: Metadata) => {
  const field = (name: string) => {
    const value = values[name]?.trim();
    return value ? { [name]: value } : {};
  };
  const key = field('license_key');
  if (key['license_key'] !== undefined && !KEY.test(key['license_key'])) {
    throw invalidField('license_key', '8 to 128 letters, digits, dots, hyphens and underscores');
  }
  return {
    ...field('customer_email'),
    ...field('customer_name'),
    ...field('product'),
    ...readExpiry(values),
    ...key,
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
};

/** Sent again with the same `attempt`, it makes no second license. */
export const sendCreate = async (json: ReturnType<typeof inputOf>, attempt: string) => {
  try {
    return await call(api.v1.licenses.create.$post({ json, header: { 'idempotency-key': attempt } }));
  } catch (error) {
    if (error instanceof ApiError && error.code === 'license_key_taken') {
      throw invalidField('license_key', 'One of your licenses has this key already');
    }
    throw error;
  }
};
