export { type ApiClient, type ApiOptions, createClient } from './api/client.ts';
export { type ManageInput, manageUrl } from './api/manage-url.ts';
export type { components, operations, paths } from './api/schema.ts';
