import type { License, LicenseOptions, LicenseState } from './types.ts';

const LOADING: LicenseState = Object.freeze({
  valid: false,
  code: 'loading',
  status: null,
  source: 'none',
  entitlements: {},
  expiresAt: null,
  updatesUntil: null,
  seats: null,
  activation: null,
  machines: null,
  offlineUntil: null,
  checkedAt: null,
});

export const createLicense = (_options: LicenseOptions): License => {
  const resolve = async () => LOADING;
  return {
    state: LOADING,
    start: resolve,
    activate: resolve,
    loadFile: resolve,
    refresh: resolve,
    deactivate: resolve,
    stop: resolve,
    has: () => false,
    entitlement: () => undefined,
    onChange: () => () => {},
  };
};
