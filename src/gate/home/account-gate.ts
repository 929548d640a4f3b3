import { DurableObject } from 'cloudflare:workers';
import type { DatabaseMoveRequest } from '../../databases/move-state.ts';
import type { BackupCall, BackupReply } from '../../shared/objects/backup.ts';
import { allowRetries } from '../../shared/objects/retries.ts';
import type { PresentedKey, KeyScope } from '../../shared/rules/api-keys.ts';
import type { Region } from '../../shared/rules/regions.ts';
import type { CallInput, CallName } from '../../shared/rules/verdict.ts';
import type { FeedRead } from '../feed/read.ts';
import type { MoveReply } from '../moving/departure.ts';
import type { Part } from '../moving/place.ts';
import { REPEATABLE, routeCalls, UNROUTED } from '../moving/routing.ts';
import type { Admission, Call, MovedTo, ReplyText, TransferTurn } from '../rules/calls.ts';
import type { Forwarded, RenewalReply, Report } from '../rules/messages.ts';
import type { TracedLicense } from '../rules/rows.ts';
import type { LicenseSearch, MachinePosition, SellingActor } from '../rules/seats.ts';
import type { FileRequest, ImportedMachine } from '../rules/seller.ts';
import type { RegionStatistics, Wait } from '../rules/traffic.ts';
import type { Announcement, ChangeSize, CountedChange, Statistics } from '../rules/usage.ts';
import { type Gate, type Home, openGate } from './home.ts';

/**
 * One object per account, and another one after each move to another region. It checks and counts every verify from its own
 * storage, in one commit. D1 is the system of record, and `pull` copies its changes.
 */
export class AccountGate extends DurableObject<Env> {
  static {
    routeCalls(this.prototype, (gate) => gate.#gate.moving.routing, [...UNROUTED]);
    allowRetries(this.prototype, [...REPEATABLE]);
  }

  readonly #gate: Gate;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#gate = openGate(ctx, env);
  }

  get #home(): Home {
    return this.#gate.home();
  }

  /**
   * Answers a verify, in one call. A repeat with the same `callId` isn't counted again. `region` is the caller's, `lastWait` the
   * Worker's wait for an earlier answer, and `isUncertain` whether the caller's branch may have counted the call.
   */
  async verify(
    presented: PresentedKey,
    licenseKey: string,
    callId = '',
    canSign = true,
    region: Region | null = null,
    lastWait: Wait | null = null,
    isUncertain = false,
  ): Promise<ReplyText> {
    const input = { license_key: licenseKey };
    const call: Call = { presented, name: 'verify', input, isPlain: true, callId, canSign };
    return this.#home.calls.answer(call, region, lastWait, isUncertain);
  }

  async application(
    presented: PresentedKey,
    name: CallName,
    input: CallInput,
    callId: string,
    region: Region | null = null,
    lastWait: Wait | null = null,
    isUncertain = false,
  ): Promise<ReplyText> {
    const call: Call = { presented, name, input, isPlain: false, callId, canSign: true };
    return this.#home.calls.answer(call, region, lastWait, isUncertain);
  }

  forward(region: Region, call: Call, report: Report): Promise<Forwarded> {
    return this.#home.calls.forward(region, call, report);
  }

  renew(region: Region, report: Report): RenewalReply {
    const reply = this.#home.branches.renew(region, report, Date.now());
    return reply && { ...reply, ...this.#home.movedTo };
  }

  close(region: Region, report: Report): void {
    this.#home.branches.close(region, report);
  }

  listActivations(licenseKey: string, limit: number, beforeId: string | null) {
    return this.#home.seller.list(licenseKey, limit, beforeId);
  }

  listSeatChanges(licenseKey: string, limit: number, beforeSeq: number | null) {
    return this.#home.seller.history(licenseKey, limit, beforeSeq);
  }

  findLicenses(search: LicenseSearch) {
    return this.#home.seller.findLicenses(search);
  }

  /** A trial only returns the result, as do those of `issueFile` and `startMove`. */
  releaseActivation(licenseKey: string, id: string, force: boolean, isDryRun = false, actor?: SellingActor) {
    return this.#home.seller.release(licenseKey, id, force, isDryRun, actor);
  }

  issueFile(request: FileRequest, isDryRun = false, actor?: SellingActor) {
    return this.#home.seller.issueFile(request, isDryRun, actor);
  }

  exportActivations(after: MachinePosition | null, limit: number) {
    return this.#home.seller.exportMachines(after, limit);
  }

  exportSeatChanges(afterLicenseId: string, afterSeq: number, limit: number) {
    return this.#home.seller.exportHistory(afterLicenseId, afterSeq, limit);
  }

  /** Adds machines of an import. A dry run only returns the results. */
  importSeats(machines: ImportedMachine[], isDryRun: boolean) {
    return this.#home.seller.importMachines(machines, isDryRun);
  }

  async admit(presented: PresentedKey, needs: KeyScope): Promise<Admission & MovedTo> {
    return this.#home.calls.admit(presented, needs);
  }

  admitSession(isChange = false): Promise<Admission & MovedTo> {
    return this.#home.calls.admitSession(isChange);
  }

  /** Returns null if the account's lists may compare so many licenses now, and otherwise in how many seconds. */
  admitSearch(licenses: number): number | null {
    return this.#home.searches.admit(licenses, Date.now());
  }

  /** Lets an import or export go on. Only one of the account runs at a time, and it ends if another has taken its place. */
  takeTransferTurn(id: string, calls: number): Promise<TransferTurn> {
    return this.#home.transfers.takeTurn(id, calls);
  }

  endTransfer(id: string): void {
    this.#home.transfers.end(id);
  }

  /**
   * Prepares for a change of this account's data in D1: arms the alarm, in case the request dies before the gate has applied
   * it, counts it as a change of the day, and reserves a call of the usage limit if it is one, which `apply` counts.
   */
  announce(
    ref = '',
    counted: CountedChange | null = null,
    token = '',
    size: ChangeSize = { changes: 1, isRefusable: false },
  ): Promise<Announcement> {
    return this.#home.changes.announce(ref, counted, token, size);
  }

  /** Applies what the announced change's own batch read from the feed. Every verify sees the change afterwards. */
  apply(token: string, read: FeedRead): Promise<void> {
    return this.#home.changes.apply(token, read);
  }

  /** The announced change was not committed: drops its reservation, and counts it as one change of the day. */
  abandon(token: string): void {
    this.#home.changes.abandon(token);
  }

  /** Returns once every verify sees the state that D1 had when this was called, or the change of one row, by its id. */
  pull(ref: string | null = null): Promise<void> {
    return this.#home.changes.pull(ref);
  }

  /** Called by the outbox before it confirms a change of its endpoints. */
  setWantsVerified(wanted: boolean): Promise<void> {
    return this.#home.changes.setWantsVerified(wanted);
  }

  async statistics(fromDate: string): Promise<Statistics> {
    await this.#home.ensureAccount();
    return this.#home.statistics.read(fromDate, Date.now());
  }

  regionStatistics(fromDate: string | null): RegionStatistics {
    return this.#home.statistics.readRegions(fromDate);
  }

  keysLastUsedMs(keyIds: string[]): (number | null)[] {
    return this.#home.statistics.keysLastUsedMs(keyIds);
  }

  startMove(region: Region, isDryRun = false): Promise<MoveReply> {
    return this.#gate.moving.start(region, isDryRun);
  }

  movingTo(): Region | null {
    return this.#gate.moving.movingTo();
  }

  /** Begins, cancels, or reads the move of the account's rows to another D1 database. */
  moveDatabase(request: DatabaseMoveRequest) {
    return this.#home.databaseMove.ask(request);
  }

  receive(part: Part): void {
    this.#gate.moving.receive(part);
  }

  redirect(epoch: number): void {
    this.#gate.moving.redirect(epoch);
  }

  backup(call: BackupCall): Promise<BackupReply> {
    return this.#gate.backup(call);
  }

  /** Erases what remains of deleted licenses and erased customers, see `openTraces`. */
  eraseTraces(licenses: TracedLicense[], emails: string[] = []): Promise<number> {
    return this.#home.eraseTraces(licenses, emails);
  }

  /** Lists what D1 has lost, and gives it up if D1 is right. */
  orphans(isD1Right = false) {
    return this.#home.orphans(isD1Right);
  }

  /** Loads the copy of D1 again, which was restored with the whole service. */
  reload(): void {
    this.#home.reload();
  }

  /** Lets the alarm erase what is due of the account, or the account itself, in `inMs` at the latest. */
  eraseDue(inMs = 0): Promise<void> {
    return this.#gate.eraseDue(inMs);
  }

  /** Deletes the rows of an account that has moved before their time. */
  empty(): void {
    this.#gate.moving.empty();
  }

  /** Erases everything here and, unless `isAlone`, in the objects to which the account has moved. */
  erase(isAlone = false): Promise<void> {
    return this.#gate.moving.erase(isAlone);
  }

  override alarm(): Promise<void> {
    return this.#gate.alarm.run();
  }
}
