import { expect, test } from 'vitest';
import { AccountGate, GateBranch, WebhookOutbox } from '../../src/index.ts';

// During a deployment, Workers of one release call objects of the other one. So a method that was released is removed a
// release after its last caller, and a new parameter is optional for a release: see "Changing a method of a Durable
// Object" in docs/recipes.md.

/** Returns each method with the number of its parameters. */
const methodsOf = ({ prototype }: { prototype: object }) => {
  const methods: Record<string, number> = {};
  for (const name of Object.getOwnPropertyNames(prototype)) {
    if (name === 'constructor' || name === 'alarm') continue;
    const method = Reflect.get(prototype, name) as object;
    const source = String(Reflect.get(method, 'original') ?? method);
    const parameters = source.slice(source.indexOf('(') + 1, source.indexOf(') {'));
    methods[name] = parameters === '' ? 0 : parameters.replace(/\{[^}]*\}/g, '').split(',').length;
  }
  return methods;
};

test('the gate has the methods that a Worker of the other release calls', () => {
  expect(methodsOf(AccountGate)).toEqual({
    verify: 7,
    application: 7,
    forward: 3,
    renew: 2,
    close: 2,
    listActivations: 3,
    listSeatChanges: 3,
    findLicenses: 1,
    exportActivations: 2,
    exportSeatChanges: 3,
    importSeats: 2,
    releaseActivation: 5,
    issueFile: 3,
    admit: 2,
    admitSession: 1,
    admitSearch: 1,
    takeTransferTurn: 2,
    endTransfer: 1,
    announce: 4,
    apply: 2,
    abandon: 1,
    pull: 1,
    setWantsVerified: 1,
    statistics: 1,
    regionStatistics: 1,
    keysLastUsedMs: 1,
    startMove: 2,
    moveDatabase: 1,
    backup: 1,
    movingTo: 0,
    receive: 1,
    redirect: 1,
    eraseTraces: 2,
    orphans: 1,
    reload: 0,
    eraseDue: 1,
    empty: 0,
    erase: 1,
  });
});

test('a branch has the methods that a Worker or a gate of the other release calls', () => {
  expect(methodsOf(GateBranch)).toEqual({
    verify: 5,
    application: 5,
    claim: 1,
    tell: 1,
    eraseTraces: 1,
    erase: 0,
  });
});

test('the outbox has the methods that a Worker of the other release calls', () => {
  expect(methodsOf(WebhookOutbox)).toEqual({
    accept: 1,
    claim: 1,
    settle: 4,
    getEndpoint: 1,
    listEndpoints: 0,
    listen: 2,
    fetch: 1,
    addEndpoint: 3,
    updateEndpoint: 3,
    rotateSecret: 3,
    replaceSealed: 1,
    deleteEndpoint: 1,
    sendTest: 3,
    listDeliveries: 3,
    replay: 3,
    resend: 3,
    summary: 0,
    backup: 1,
    eraseEvents: 2,
    erase: 0,
  });
});
