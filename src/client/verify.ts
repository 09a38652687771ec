/**
 * What a service says, checked by the key of its log and by its hub (docs/use/verify.md): `clusterd-client/verify`. It is
 * apart from the client, which is half as large.
 */
export {
  type LogEntry,
  type LogOptions,
  LogReader,
  type SignedHead,
  type TreeHead,
} from './log.js'
export { type HubNode, type RegistryOptions, type Verified, verifyRegistry } from './registry.js'
