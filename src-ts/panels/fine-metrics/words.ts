/** Who worked for a P2P shuffle or rechunk, by what Dask puts before an activity. */
const WHERE: Readonly<Record<string, string>> = {
  'p2p-': 'P2P',
  'foreground ': 'P2P',
  'background-disk ': 'P2P to disk',
  'background-comms ': 'P2P to workers'
};

const WHAT: Readonly<Record<string, string>> = {
  'shard-partition-cpu': 'cutting up, CPU',
  'shard-partition-noncpu': 'cutting up, off CPU',
  'get-output-cpu': 'joining, CPU',
  'get-output-noncpu': 'joining, off CPU',
  shards: 'pieces',
  'comms-limiter': 'waiting to send',
  'disk-limiter': 'waiting to write',
  'disk-read': 'reading',
  'disk-write': 'writing',
  serialize: 'serializing',
  compress: 'compressing',
  send: 'sending',
  process: 'handing over',
  offload: 'offload',
  idle: 'idle'
};

/** An activity as a person reads it: those of P2P shuffles in words, others as they are called. */
export function activityWords(activity: string): string {
  const [, where, what] = /^(p2p-|foreground |background-\w+ )(.+)$/.exec(activity) ?? [];
  return where && Object.hasOwn(WHERE, where) && Object.hasOwn(WHAT, what)
    ? `${WHERE[where]}: ${WHAT[what]}`
    : activity;
}
