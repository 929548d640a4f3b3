import { type MutationFunctionContext, mutationOptions } from '@tanstack/react-query';
import { type ApplicationCall, sendCall } from './application-call.ts';
import { api, call, type JsonOf } from './client.ts';
import { ApiError, invalidField, reword } from './error.ts';
import { once, type Once } from './once.ts';
import { type LicenseBody, licenseQuery, type Product, productQuery } from './queries.ts';

// The mutations of licenses and products. `meta.invalidates` names the queries that are fetched again afterwards.

const licenseApi = api.v1.licenses[':id'];
const productApi = api.v1.products[':code'];

// Licenses

export type CreateLicense = JsonOf<typeof api.v1.licenses.create.$post>;

const sendLicense = once(
  (json: CreateLicense, options) =>
    call(api.v1.licenses.create.$post({ json, query: {} }, options)).catch(
      reword('license_key_taken', {
        details: [{ path: 'license_key', message: 'One of your licenses already has this key' }],
      }),
    ),
  {
    made: 'created a license',
    again: 'You can find it in the list. Submit the form again to create another license.',
  },
);

export const createLicense = mutationOptions({
  mutationFn: async (sent: Once<CreateLicense>, { client }) => {
    const license = await sendLicense(sent);
    client.setQueryData(licenseQuery(license.id).queryKey, license);
    return license;
  },
  meta: { invalidates: ['licenses', 'dashboard', 'progress', 'onboarding'] },
});

const changeLicense = <Variables = void>(id: string, send: (variables: Variables) => Promise<LicenseBody>) =>
  mutationOptions({
    mutationFn: async (variables: Variables, { client }: MutationFunctionContext) => {
      const { queryKey } = licenseQuery(id);
      // A response from before the change must not replace the changed license.
      await client.cancelQueries({ queryKey });
      const license = await send(variables);
      client.setQueryData(queryKey, license);
      return license;
    },
    meta: { invalidates: ['licenses', 'dashboard'] },
  });

export const editLicense = (id: string) =>
  changeLicense(id, (json: JsonOf<typeof licenseApi.$patch>) =>
    call(licenseApi.$patch({ param: { id }, json, query: {} })),
  );

export const sendRenewal = (id: string) =>
  once(
    (json: JsonOf<typeof licenseApi.renew.$post>, options) =>
      call(licenseApi.renew.$post({ param: { id }, json }, options)),
    { made: 'renewed the license', again: 'Submit the form again to renew it once more.' },
  );

export const renewLicense = (id: string) => changeLicense(id, sendRenewal(id));

export const withReason = (reason: string) => (reason.trim() === '' ? {} : { reason });

export const suspendLicense = (id: string, reason: string) =>
  changeLicense(id, () => call(licenseApi.suspend.$post({ param: { id }, json: withReason(reason) })));

export const reinstateLicense = (id: string, reason: string) =>
  changeLicense(id, () => call(licenseApi.reinstate.$post({ param: { id }, json: withReason(reason) })));

export const revokeLicense = (id: string, reason: string) =>
  changeLicense(id, () => call(licenseApi.revoke.$post({ param: { id }, json: withReason(reason) })));

export const rotateLicenseKey = (id: string) =>
  changeLicense(id, () => call(licenseApi['rotate-key'].$post({ param: { id }, json: {} })));

export const deleteLicense = (id: string) =>
  mutationOptions({
    mutationFn: () => call(licenseApi.$delete({ param: { id } })),
    meta: { invalidates: ['licenses', 'dashboard', 'onboarding'] },
  });

/** Removes a person from all of the account's licenses. */
export const eraseCustomer = (email: string) =>
  mutationOptions({
    mutationFn: () => call(api['erase-customer'].$post({ json: { customer_email: email } })),
    meta: { invalidates: ['licenses', 'dashboard', 'webhooks'] },
  });

/** Releases a machine's seat. A seat that an offline file holds is only released by force. */
export const releaseSeat = (id: string, activationId: string, isForced: boolean) =>
  mutationOptions({
    mutationFn: () =>
      call(
        licenseApi.activations[':activation_id'].$delete({
          param: { id, activation_id: activationId },
          query: isForced ? { force: 'true' } : {},
        }),
      ).catch(
        reword('invalid_transition', {
          message:
            'An offline file holds this seat until the file expires. The machine keeps working until then.',
        }),
      ),
    meta: { invalidates: ['licenses'] },
  });

export const issueOfflineFile = (id: string) =>
  mutationOptions({
    mutationFn: (json: JsonOf<typeof licenseApi.token.$post>) =>
      call(licenseApi.token.$post({ param: { id }, json })),
    meta: { invalidates: ['licenses'] },
  });

/** A mutation, because it counts as an API call of the key, and may take or release a seat. */
export const callAsApplication = mutationOptions({
  mutationFn: async ({ apiKey, ...sent }: ApplicationCall & { apiKey: () => Promise<string> }) =>
    sendCall(await apiKey(), sent),
  meta: { invalidates: ['api-keys', 'dashboard', 'licenses', 'progress'] },
});

// Products

export type ProductInput = JsonOf<typeof productApi.$put>;

/** The API replaces a product that exists, so that creating one looks for it first. */
export const createProduct = mutationOptions({
  mutationFn: async ({ code, json }: { code: string; json: ProductInput }) => {
    const param = { code };
    const existing = await call(productApi.$get({ param })).catch((error: unknown) => {
      if (error instanceof ApiError && error.code === 'product_not_found') return null;
      throw error;
    });
    if (existing) throw invalidField('code', 'One of your products already has this code');
    return call(productApi.$put({ param, json }));
  },
  meta: { invalidates: ['products', 'progress', 'onboarding'] },
});

/** For an account that has no products, and so none to replace. */
export const createFirstProduct = mutationOptions({
  mutationFn: ({ code, json }: { code: string; json: ProductInput }) =>
    call(productApi.$put({ param: { code }, json })),
  meta: { invalidates: ['products', 'progress', 'onboarding'] },
});

/** The API replaces a product as a whole, so it is read first: an edit keeps what has changed elsewhere. */
export const saveProduct = (code: string) =>
  mutationOptions({
    mutationFn: async (edit: (current: Product) => ProductInput, { client }) => {
      const { queryKey } = productQuery(code);
      await client.cancelQueries({ queryKey });
      const param = { code };
      const json = edit(await call(productApi.$get({ param })));
      const product = await call(productApi.$put({ param, json }));
      client.setQueryData(queryKey, product);
      return product;
    },
    meta: { invalidates: ['products', 'progress', 'onboarding'] },
  });

export const deleteProduct = (code: string) =>
  mutationOptions({
    mutationFn: () =>
      call(productApi.$delete({ param: { code } })).catch(
        reword('product_in_use', {
          message:
            'Licenses still name this product. Give them another product or delete them first, then delete the product.',
        }),
      ),
    meta: { invalidates: ['products'] },
  });
