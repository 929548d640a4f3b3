#!/usr/bin/env node
import { enterOwnFolder } from './cli/invocation.ts';
import { main } from './cli/main.ts';

enterOwnFolder();
process.exitCode = await main(process.argv.slice(2));
