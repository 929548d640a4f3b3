// Compares the time from start to first response with that of an empty Worker.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Bundle } from './build.ts';
import { median } from './rounds.ts';
import { startWorker } from './runtime.ts';
import { openPlace, start } from './service.ts';

const TIMES = 7;

export interface StartFigures {
  emptyMs: number;
  serviceMs: number;
}

const timed = async (starts: () => Promise<{ origin: string; stop: () => Promise<void> }>) => {
  const startMs = performance.now();
  const { origin, stop } = await starts();
  await (await fetch(`${origin}/api/nothing-here`)).text();
  const durationMs = performance.now() - startMs;
  await stop();
  return durationMs;
};

export const measureStart = async (under: string, service: Bundle, empty: Bundle): Promise<StartFigures> => {
  const place = openPlace(under, 'start');
  const folder = join(under, 'empty');
  mkdirSync(folder);
  const emptyMs: number[] = [];
  const serviceMs: number[] = [];
  for (let time = 0; time < TIMES; time++) {
    emptyMs.push(await timed(() => startWorker(empty, { name: 'empty', folder })));
    serviceMs.push(await timed(() => start(service, place)));
  }
  return { emptyMs: median(emptyMs), serviceMs: median(serviceMs) };
};
