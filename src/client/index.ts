export { createLicense } from './core/license.ts';
export type * from './core/types.ts';
