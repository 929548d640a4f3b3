import { keepPreviousData, mutationOptions, queryOptions } from '@tanstack/react-query';
import type { InferResponseType } from 'hono/client';
import { api, call, type JsonOf } from './client.ts';

// The queries and mutations of the email to a product's buyers.

const mailApi = api.v1.products[':code'].mail;

export type ProductMail = InferResponseType<typeof mailApi.$get, 200>;
export type MailWords = JsonOf<typeof mailApi.$patch>;

export const productMailQuery = (code: string) =>
  queryOptions({
    queryKey: ['products', 'mail', code],
    queryFn: () => call(mailApi.$get({ param: { code } })),
  });

/** The email as a buyer would get it with words that need not be saved. */
export const mailPreviewQuery = (code: string, json: MailWords) =>
  queryOptions({
    queryKey: ['products', 'mail', code, json],
    queryFn: () => call(mailApi.preview.$post({ param: { code }, json })),
    placeholderData: keepPreviousData,
  });

/** Nothing else shows the saved email, and the preview has the words already, so no query is fetched again. */
export const saveProductMail = (code: string) =>
  mutationOptions({
    mutationFn: async (json: MailWords, { client }) => {
      const mail = await call(mailApi.$patch({ param: { code }, json }));
      client.setQueryData(productMailQuery(code).queryKey, mail);
      return mail;
    },
  });

export const testProductMail = (code: string) =>
  mutationOptions({
    mutationFn: (json: MailWords) => call(mailApi.test.$post({ param: { code }, json })),
  });
