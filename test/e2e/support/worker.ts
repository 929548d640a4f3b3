// The service in the tests of the dashboard, which sign in a hundred times: its hashes of passwords are cheap.
import { lowerHashCost } from '../../support/hash-cost.ts';

lowerHashCost();

export * from '../../../src/index.ts';
export { default } from '../../../src/index.ts';
