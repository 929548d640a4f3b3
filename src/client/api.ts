export { createClient } from './api/client.ts';
