import type { StoreProviderName } from '../../shared/rules/stores.ts';
import { generic } from './generic.ts';
import type { StoreProvider } from './provider.ts';

export const PROVIDERS: Record<StoreProviderName, StoreProvider> = { generic };
