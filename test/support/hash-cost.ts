import { HASH_PARAMETERS } from '../../src/users/passwords.ts';

const SHIPPED = { ...HASH_PARAMETERS };

/** Makes hashes of passwords cheap, which hundreds of tests need and only those of passwords look at. */
export const lowerHashCost = () => Object.assign(HASH_PARAMETERS, { N: 2, r: 1, p: 1 });

export const useShippedHashCost = () => Object.assign(HASH_PARAMETERS, SHIPPED);
