import { mutationOptions, type QueryClient } from '@tanstack/react-query';
import { api, call, type JsonOf } from './client.ts';
import { ApiError, reword } from './error.ts';
import { once } from './once.ts';
import { billingQuery } from './queries.ts';
import type { PortalSettings } from './settings-queries.ts';
import { type DeliveryBody, deliveriesQuery, deliveryQuery } from './webhook-queries.ts';

// The dashboard's mutations of API keys, webhooks, regions and billing. `meta.invalidates` names the queries that are fetched
// again afterwards.

const webhookApi = api.webhooks[':id'];

// Session

export const logOut = mutationOptions({ mutationFn: () => call(api.logout.$post()) });

// Regions

export const moveHome = mutationOptions({
  mutationFn: (json: JsonOf<(typeof api)['home-region']['$post']>) =>
    call(api['home-region'].$post({ json })),
  meta: { invalidates: ['regions', 'dashboard'] },
});

// Portal

/** The API replaces the settings as a whole, so they are read first: an edit keeps what has changed elsewhere. */
export const savePortal = mutationOptions({
  mutationFn: async (edit: (current: PortalSettings) => JsonOf<typeof api.portal.$put>) => {
    const json = edit(await call(api.portal.$get()));
    return call(api.portal.$put({ json })).catch(
      reword('slug_taken', { details: [{ path: 'slug', message: 'Another portal has this address.' }] }),
    );
  },
  meta: { invalidates: ['portal'] },
});

// API keys

export const createApiKey = mutationOptions({
  mutationFn: once(
    (json: JsonOf<(typeof api)['create-api-key']['$post']>, options) =>
      call(api['create-api-key'].$post({ json }, options)),
    {
      made: 'created an API key',
      again: 'You can find it in the list. Submit the form again to create another key.',
    },
  ),
  meta: { invalidates: ['api-keys', 'dashboard', 'progress', 'onboarding'] },
});

export const rotateApiKey = (id: string) =>
  mutationOptions({
    mutationFn: once(
      (json: JsonOf<(typeof api)['api-keys'][':id']['rotate']['$post']>, options) =>
        call(api['api-keys'][':id'].rotate.$post({ param: { id }, json }, options)),
      {
        made: 'rotated the key',
        again: 'You can find the new one in the list. Submit the form again to make another one.',
      },
    ),
    meta: { invalidates: ['api-keys', 'dashboard', 'onboarding'] },
  });

export const deleteApiKey = (id: string) =>
  mutationOptions({
    mutationFn: () => call(api['api-keys'][':id'].$delete({ param: { id } })),
    meta: { invalidates: ['api-keys', 'dashboard', 'onboarding'] },
  });

// Webhooks

export const addWebhook = mutationOptions({
  mutationFn: once(
    (json: JsonOf<typeof api.webhooks.$post>, options) => call(api.webhooks.$post({ json }, options)),
    {
      made: 'added a webhook',
      again: 'You can find it in the list. Submit the form again to add another webhook.',
    },
  ),
  meta: { invalidates: ['webhooks', 'dashboard', 'progress'] },
});

export const editWebhook = (id: string) =>
  mutationOptions({
    mutationFn: (json: JsonOf<typeof webhookApi.$patch>) => call(webhookApi.$patch({ param: { id }, json })),
    meta: { invalidates: ['webhooks'] },
  });

const setWebhookStatus = (id: string, status: 'enabled' | 'disabled') =>
  mutationOptions({
    mutationFn: () => call(webhookApi.$patch({ param: { id }, json: { status } })),
    meta: { invalidates: ['webhooks'] },
  });

export const enableWebhook = (id: string) => setWebhookStatus(id, 'enabled');
export const disableWebhook = (id: string) => setWebhookStatus(id, 'disabled');

export const deleteWebhook = (id: string) =>
  mutationOptions({
    mutationFn: () => call(webhookApi.$delete({ param: { id } })),
    meta: { invalidates: ['webhooks', 'dashboard'] },
  });

export const rotateSecret = (id: string) =>
  mutationOptions({ mutationFn: () => call(webhookApi['rotate-secret'].$post({ param: { id } })) });

const isNewest = ({ id }: DeliveryBody, [first]: DeliveryBody[]) => first === undefined || id > first.id;

/** Stores a delivery that the API just returned in the cached list and in its own query. */
const storeDelivery = async (client: QueryClient, webhookId: string, delivery: DeliveryBody) => {
  const { queryKey } = deliveriesQuery(webhookId);
  await client.cancelQueries({ queryKey });
  client.setQueryData(queryKey, (list) => {
    if (!list) return list;
    const isListed = list.pages.some(({ data }) => data.some(({ id }) => id === delivery.id));
    const pages = list.pages.map((page, index) => {
      const data = page.data.map((listed) => (listed.id === delivery.id ? delivery : listed));
      const isFirst = index === 0 && !isListed && isNewest(delivery, data);
      return { ...page, data: isFirst ? [delivery, ...data] : data };
    });
    return { ...list, pages };
  });
  client.setQueryData(deliveryQuery(webhookId, delivery.id).queryKey, delivery);
};

export const sendTestEvent = (webhookId: string) =>
  mutationOptions({
    mutationFn: async (_: void, { client }) => {
      const delivery = await call(webhookApi.test.$post({ param: { id: webhookId } }));
      await storeDelivery(client, webhookId, delivery);
      return delivery;
    },
    meta: { invalidates: ['webhooks', 'dashboard'] },
  });

export const resendDelivery = (webhookId: string, deliveryId: string) =>
  mutationOptions({
    mutationFn: async (_: void, { client }) => {
      const param = { id: webhookId, delivery_id: deliveryId };
      const delivery = await call(webhookApi.deliveries[':delivery_id'].resend.$post({ param }));
      await storeDelivery(client, webhookId, delivery);
      return delivery;
    },
    meta: { invalidates: ['webhooks'] },
  });

/** Sends what the webhook has missed or refused since the beginning of a day, UTC. */
export const replayWebhook = (id: string, day: string) =>
  mutationOptions({
    mutationFn: () => call(webhookApi.replay.$post({ param: { id }, json: { since: `${day}T00:00:00Z` } })),
    meta: { invalidates: ['webhooks'] },
  });

// Billing

export const startCheckout = mutationOptions({
  mutationFn: (plan: JsonOf<(typeof api)['init-payment']['$post']>['plan']) => {
    const back = '/billing?checkout=';
    const json = { plan, success_url: `${back}done`, cancel_url: `${back}cancelled` };
    return call(api['init-payment'].$post({ json }));
  },
  meta: { invalidates: ['billing'] },
});

export const cancelSubscription = mutationOptions({
  mutationFn: async (at: 'period_end' | 'now', { client }) => {
    try {
      await call(api['cancel-subscription'].$post({ json: { at } }));
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'no_active_subscription') throw error;
      // After a lost response, there is nothing left to cancel.
      const { subscription } = await client.fetchQuery({ ...billingQuery, staleTime: 0 });
      const isDone = subscription === null || (at === 'period_end' && subscription.status === 'cancelled');
      if (!isDone) throw error;
    }
  },
  meta: { invalidates: ['billing', 'dashboard', 'account'] },
});

export const resumeSubscription = mutationOptions({
  mutationFn: () => call(api['resume-subscription'].$post()),
  meta: { invalidates: ['billing', 'dashboard', 'account'] },
});

/** The provider's page for cards, tax ids, and invoices. Its URL works for some minutes. */
export const openBillingPortal = mutationOptions({
  mutationFn: () => call(api['billing-portal'].$post()),
});
