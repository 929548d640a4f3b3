import { type Location, nearestRegion, type Region, REGIONS } from '../../shared/rules/regions.ts';

// Generated once from two sources: the data centers and their coordinates from https://speed.cloudflare.com/locations
// (August 2026), and round trips to objects from https://where.durableobjects.live (January 2026). A data center is in the
// region of its coordinates, see `nearestRegion`, unless another region's round trip was clearly shorter. Data centers in
// mainland China are left out: callers there are placed by their own coordinates.

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
