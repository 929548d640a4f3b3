import { openMoveState } from '../../databases/move-state.ts';
import { openDatabaseMove } from '../../databases/move.ts';
import { databaseOf } from '../../db/client.ts';
import { openStateReport, USUAL } from '../../db/object-state.ts';
import { storeMachineBytes } from '../../db/storage.ts';
import { FIRST_EPOCH, parseGateName } from '../../shared/objects/address.ts';
import { type ObjectContext, openObject } from '../../shared/objects/context.ts';
import { migrateObject } from '../../shared/objects/migrations.ts';
import { storedName } from '../../shared/objects/stored-name.ts';
import { openMoving } from '../moving/moving.ts';
import { openPlace, type StoredPlace } from '../moving/place.ts';
import { openAdmission } from '../object/admission.ts';
import { openAnswerCall } from '../object/answer-call.ts';
import { openRelay } from '../object/outgoing.ts';
import { openHomeBranches } from './branches.ts';
import { openCalls } from './calls.ts';
import { openCatchUp } from './catch-up.ts';
import { openChanges, openTraces } from './changes.ts';
import { ERASED, openDueErasure, openErasing } from './erasing.ts';
import { addMachinePruning } from './kept-machines.ts';
import { openSearches, openTransfers } from './paces.ts';
import { openSeats } from './seats.ts';
import { openSeller } from './seller.ts';
import { GATE_TABLES, type HomeStore, openGateBackup, openHomeStore } from './store.ts';
import { openHomeUsage, openStatistics } from './usage.ts';

/** Smaller differences wait for larger ones. */
const STEP_BYTES = 64_000;
const STEP_PART = 0.01;
const INTERVAL_MS = 60_000;

/**
 * Reports the bytes of the machines to D1, where they count in the account's storage: at most once a minute. After a load of
 * the copy, D1 is told anew, because it may have been restored to an earlier time.
 */
const addStorageReport = (
  { env, accountId, journal, alarm }: ObjectContext,
  { copy, machineTotals }: Pick<HomeStore, 'copy' | 'machineTotals'>,
  isClosed: () => boolean,
) => {
  let nextMs = 0;

  const isDue = () => {
    if (copy.loadPosition() !== null || isClosed()) return false;
    const reported = copy.reportedBytes();
    if (reported === null) return machineTotals.hasAny();
    return Math.abs(machineTotals.bytes() - reported) > Math.max(STEP_BYTES, reported * STEP_PART);
  };

  alarm.add({
    failure: 'gate_alarm_failed',
    dueMs: (nowMs) => (isDue() ? Math.max(nowMs, nextMs) : null),
    run: async (nowMs) => {
      if (!isDue() || nowMs < nextMs) return;
      nextMs = nowMs + INTERVAL_MS;
      const machineBytes = machineTotals.bytes();
      await storeMachineBytes(databaseOf(env, accountId), accountId, machineBytes);
      // A load that began meanwhile may have found that D1 was restored.
      if (copy.loadPosition() === null) journal.write(() => copy.noteReport(machineBytes));
    },
  });
};

/** Opens the account's home on the object's storage. Each part has what the parts before it have. */
const openHome = (object: ObjectContext, place: StoredPlace) => {
  const { ctx, env, accountId, journal, alarm } = object;
  const { epoch } = place;
  const movedTo = epoch > FIRST_EPOCH ? { epoch } : {};
  const store = openHomeStore(object);
  const { copy, ledger, outgoing } = store;
  const relay = openRelay(object, outgoing);
  const usage = openHomeUsage(store);
  const branches = openHomeBranches(object, store, usage, relay, place);
  const admission = openAdmission(copy, branches.homeShare);
  const moveState = openMoveState(ctx.storage.kv, journal);
  const catchUp = openCatchUp(object, store, usage, branches, admission, moveState);
  const changes = openChanges(object, store, usage, branches, catchUp, relay);
  const seats = openSeats(object, store, branches);
  const answerCall = openAnswerCall(copy, ledger, usage, relay);

  /** A new gate reads its account first. */
  const ensureAccount = async () => {
    if (!copy.account()) await catchUp.pull();
  };

  const transfers = openTransfers(ctx.storage.kv, journal, copy, ensureAccount);
  addMachinePruning(object, store);
  addStorageReport(object, store, moveState.isClosed);

  const databaseMove = openDatabaseMove(object, {
    state: moveState,
    pull: catchUp.pull,
    setPosition: copy.continueAt,
    isLeaving: () => place.now().state !== 'home' || place.movingTo() !== null,
  });

  const reportState = openStateReport({
    kv: ctx.storage.kv,
    journal,
    db: () => databaseOf(env, accountId),
    accountId,
    object: 'gate',
  });
  alarm.add({
    failure: 'gate_alarm_failed',
    dueMs: () => null,
    run: async () => {
      if (moveState.isClosed()) return;
      await reportState({
        ...USUAL,
        loading: copy.loadPosition() === null ? 0 : 1,
        orphans: copy.orphans.total(),
      });
    },
    isLast: true,
  });

  return {
    movedTo,
    branches,
    changes,
    transfers,
    searches: openSearches(),
    calls: openCalls(object, store, admission, seats, answerCall, usage, branches, catchUp, movedTo),
    seller: openSeller(object, store, seats, branches, catchUp),
    statistics: openStatistics(store, usage),
    eraseTraces: openTraces(object, place, store, branches, catchUp, relay),

    orphans: catchUp.orphans,
    reload: catchUp.reload,
    ensureAccount,
    isLoading: () => copy.loadPosition() !== null || moveState.now() !== null,
    isMovingDatabase: () => moveState.now() !== null,
    databaseMove,
    /** Whether a change may be under way whose outcome isn't known yet. */
    isChanging: () => !store.announced.isEmpty(),
    hasBranches: () => store.branches.facts.openings > 0,
    pull: changes.pull,
    homeRegion: async () => {
      await ensureAccount();
      return copy.account()?.homeRegion ?? null;
    },
  };
};

export type Home = ReturnType<typeof openHome>;

/** Opens an object of the account. It may also be one that the account has left, or one that it moves to. */
export const openGate = (ctx: DurableObjectState, env: Env) => {
  const { accountId, epoch } = parseGateName(storedName(ctx));
  const object = openObject(ctx, env, accountId, { epoch });
  const place = openPlace(ctx.storage.kv, epoch);
  let opened: Home | null = null;
  const open = (): Home => {
    if (opened) return opened;
    migrateObject(ctx.storage, GATE_TABLES);
    return (opened = openHome({ ...object, alarm: object.alarm.onlyWhile(place.isHome) }, place));
  };
  if (place.isHome()) open();

  const home = (): Home => {
    if (!opened) throw new Error('This object is not the home of its account.');
    return opened;
  };
  const erasure = openDueErasure(object);
  const moving = openMoving(object, place, open, { ...ERASED, eraseDue: erasure.wake });
  openErasing(object, erasure, place, moving, home);
  const backup = openGateBackup(object, moving);
  // No call waits for a reload, a move or an erasure, so the alarm has to go on with it.
  object.alarm.start();
  return { home, moving, eraseDue: erasure.wake, backup, alarm: object.alarm };
};

export type Gate = ReturnType<typeof openGate>;
