import type { ProcessSnapshot } from '../../src/daemon/snapshot.js'

/** Snapshot of a process that serves nothing and has no trouble, with changes. */
export const snapshotWith = (changes: Partial<ProcessSnapshot> = {}): ProcessSnapshot => ({
  nowMs: Date.now(),
  config: { chains: [], roles: ['api', 'index'], seededAlarms: [] },
  isStopping: false,
  chains: [],
  leads: [],
  mirrors: [],
  outboxes: [],
  relayed: [],
  loops: [],
  internalErrors: [],
  raised: [],
  failedRoutes: [],
  pools: {},
  changesWaiting: 0,
  openLongRequests: {},
  ...changes,
})
