import { createLru } from '../../shared/memory/lru.ts';
import { within } from '../../shared/objects/within.ts';
import { type Location, nearestRegion, type Region, REGIONS } from '../../shared/rules/regions.ts';
import { logError } from '../../shared/text/log.ts';
import { type AnsweredIn, readReply, type ReplyText, type Reply } from '../rules/calls.ts';
import type { Wait } from '../rules/traffic.ts';

// Generated from https://speed.cloudflare.com/locations (August 2026) and the round trips of https://where.durableobjects.live
// (January 2026): a data center is in the region of its coordinates, unless another's round trip was clearly shorter. Those in
// mainland China are left out: callers there are placed by their own coordinates, see `nearestRegion`.

/** Cloudflare's data centers (`request.cf.colo`) by the region with the shortest round trip. */
export const COLOS_BY_REGION: Record<Region, string> = {
  wnam: `
    ABQ ANC AUS DEN DFW GDL GUM HNL LAS LAX OMA PDX PHX PPT SAN SAT SEA SFO SJC SLC SMF YVR YXE YYC
  `,
  enam: `
    ARI ARU ASU ATL BAQ BEL BGI BGR BNA BOG BOS BSB BUF CAW CFC CGB CLE CLO CLT CMH CNF COR CVG CWB DTW
    EWR EZE FLN FOR FSD GEO GIG GND GRU GUA GYE GYN IAD IAH IND JAX JDO JOI KIN LIM LPB MAO MCI MDE MEM
    MEX MIA MSP NQN NVT OKC ORD ORF PBM PHL PIT PMW POA POS PTY QRO QWJ RAO RDU REC RIC SAP SCL SDQ SJK
    SJO SJP SJU SOD SSA STI STL TGU TLH TPA UDI UIO VCP VIX XAP YHZ YUL YWG YYZ
  `,
  weur: `
    AAE ABJ ACC ADD ALG AMM AMS ASK BCN BOD BRU CAI CDG CPH CPT CZL DAR DKR DLA DMM DUB DUR DUS EBB EVN
    FIH FRA GBE GOT GVA GYD HFA HRE JED JIB JNB KEF KGL KWI LAD LCA LHR LIS LLK LLW LOS LUN LUX LYS MAD
    MAN MBA MPM MRS NBO ORN OUA RUN TNR TUN WDH ZDM
  `,
  eeur: `
    ADB AKX ALA ARN ATH BAH BEG BEY BGW BSR BTS BUD DME DOH EBL FCO FRU HAM HEL IST ISU KBP KJA LED LJU
    MCT MLA MSQ MUC MXP NJF NQZ OSL OTP PMO PRG RIX RUH SKG SKP SOF STR TBS TIA TLL TLV TXL ULN VIE VNO
    WAW WRO XNH ZAG ZRH
  `,
  'apac-ne': `
    FUK ICN KIX NRT OKA TPE
  `,
  'apac-se': `
    AGR AMD BBI BDQ BKK BLR BOM BWN CCU CEB CGK CGP CGY CJB CMB CNN CNX COK CRK DAC DAD DEL DPS DXB HAN
    HKG HYD ISB IXC JHB JOG JRG KCH KHH KHI KNU KTM KUL LHE MAA MFM MLE MLG MNL MRU NAG PAT PBH PNH PNQ
    SGN SIN UDR URT VTE
  `,
  oc: `
    ADL AKL BNE CBR CHC HBA MEL NOU PER SUV SYD WLG
  `,
};

const regionByColo = new Map(
  REGIONS.flatMap((region) =>
    COLOS_BY_REGION[region]
      .trim()
      .split(/\s+/)
      .map((colo) => [colo, region] as const),
  ),
);

/**
 * Returns the region that answers a caller: that of the Worker's data center or, for one that is not in the table, that of
 * the caller's coordinates and continent. The round trip from data center to object is what a branch saves.
 */
export const regionOf = (location: Location): Region | null =>
  regionByColo.get(location.colo ?? '') ?? nearestRegion(location);

const REGIONS_IN_MEMORY = 10_000;
/** A branch that hasn't answered by then is passed over. It gives home less time than this. */
const BRANCH_MS = 3_000;
/** How long no call goes to a branch that has failed, or that has no lease and can't reach home. */
const AVOID_MS = 10_000;
/** One measured call a second is enough for statistics. More of them would make verify slower. */
const MEASURE_EVERY_MS = 1_000;

/** What this isolate knows of an account's callers in a region. */
interface Callers {
  /** When calls may go to the branch. Infinite while none is known to be open: replies say so, and so does a branch that is gone. */
  branchFromMs: number;
  /** When the last measured call was sent. */
  measuredMs: number;
  /** How long its answer took. The next measured call takes the wait along, so that measuring costs no call of its own. */
  wait: Wait | null;
}

/** By account and region. */
const callersInMemory = createLru<Callers>(REGIONS_IN_MEMORY);

const callersOf = (name: string): Callers => {
  const known = callersInMemory.get(name);
  if (known) return known;
  const callers = { branchFromMs: Infinity, measuredMs: -Infinity, wait: null };
  callersInMemory.set(name, callers);
  return callers;
};

interface Targets {
  /** Null for a call that only home answers. */
  branch: ((region: Region, lastWait: Wait | null) => Promise<ReplyText>) | null;
  /** `isUncertain` is set if the branch has not answered, and may have counted the call. */
  home: (lastWait: Wait | null, isUncertain: boolean) => Promise<ReplyText>;
}

/** Lets the caller's branch answer a call if it is open, and home otherwise. Home also answers if the branch can't. */
const askEither = async (
  accountId: string,
  region: Region,
  { branch, home }: Targets,
  callers: Callers,
  lastWait: Wait | null,
): Promise<Reply & AnsweredIn> => {
  let isUncertain = false;
  if (branch && Date.now() >= callers.branchFromMs) {
    try {
      const reply = readReply(await within(BRANCH_MS, branch(region, lastWait)));
      if (reply.branch !== region) callers.branchFromMs = Infinity;
      if (reply.refused !== 'unavailable') return reply;
      // A branch that can't reach home still answers other calls while it has a lease.
      if (reply.branch !== region) callers.branchFromMs = Date.now() + AVOID_MS;
    } catch (error) {
      logError('branch_unavailable', error, { account_id: accountId, region });
      isUncertain = true;
      callers.branchFromMs = Date.now() + AVOID_MS;
    }
  }
  const reply = readReply(await home(lastWait, isUncertain));
  if (reply.branch === region && callers.branchFromMs === Infinity) callers.branchFromMs = 0;
  return reply;
};

/** Lets the nearest object answer a call, and measures how long that takes. */
export const askNearest = async (
  accountId: string,
  region: Region | null,
  targets: Targets,
): Promise<Reply & AnsweredIn> => {
  if (region === null) return readReply(await targets.home(null, false));
  const callers = callersOf(`${accountId}@${region}`);
  const sentMs = Date.now();
  if (sentMs - callers.measuredMs < MEASURE_EVERY_MS)
    return askEither(accountId, region, targets, callers, null);
  const lastWait = callers.wait;
  Object.assign(callers, { measuredMs: sentMs, wait: null });
  const reply = await askEither(accountId, region, targets, callers, lastWait);
  if (reply.refused === null) callers.wait = { answeredIn: reply.region ?? null, ms: Date.now() - sentMs };
  return reply;
};
