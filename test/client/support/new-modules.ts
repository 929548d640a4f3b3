import { vi } from 'vitest';

// Test files share a worker. Each loads the modules again, because one that is loaded can't be mocked, and one that is mocked
// would stay so in the files after it.
vi.resetModules();
