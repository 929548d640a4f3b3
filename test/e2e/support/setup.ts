// Runs before each file of the dashboard's tests.
import { afterAll, afterEach } from 'vitest';
import { endFile } from './after-file.ts';
import { reportFailure } from './report-failure.ts';

afterEach(reportFailure);
afterAll(endFile);
