/**
 * `clusterd-client/verify`: verifies a service's data by the key of its transparency log and by its hub
 * (docs/use/verify.md). This is a separate entry point, because it would double the size of the client.
 */

export type {
  BundleWallet,
  ContractCheck,
  ContractEvidence,
  EvidenceMark,
} from '../registry/transparencyLog/evidence.js'
export {
  type BundleHeads,
  type BundleOptions,
  type VerifiedBundle,
  verifyBundle,
} from './bundle.js'
export {
  type HubNode,
  type RegistryOptions,
  type VerifiedRegistry,
  verifyRegistry,
} from './registry.js'
export {
  type LogEntry,
  type LogOptions,
  LogReader,
  type SignedHead,
  type TreeHead,
  type TreeHeadJson,
} from './transparencyLog.js'
export type { LogWitnesses } from './witnesses.js'
