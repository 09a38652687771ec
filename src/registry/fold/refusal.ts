import type { RegistrationProblem } from '../community/registration.js'

/** Reason why a signed change has no effect. Codes as in the HTTP API. */
export type ChangeRefusal =
  /** The cluster to verify in, or the community to configure, doesn't exist. */
  | { code: 'not_found' }
  /** The signer isn't listed in the cluster. */
  | { code: 'not_invited' }
  /** The address isn't in the signer's cluster; null when the signer has no cluster. */
  | { code: 'not_in_cluster'; address: Buffer | null }
  /** The cluster lists the address under another name. */
  | { code: 'wallet_exists'; address: Buffer }
  | { code: 'wallet_name_taken'; name: string }
  /** A public wallet can't become private. */
  | { code: 'already_public'; address: Buffer }
  /** A cluster with names would lose its last verified wallet. */
  | { code: 'last_verified_wallet' }
  /** Names would move with a private wallet and reveal it. */
  | { code: 'names_would_reveal' }
  /** Names of the signer's old or new cluster are still moving. */
  | { code: 'names_moving' }
  | { code: 'wallet_limit' }
  /** The signer isn't verified in the cluster that the change names, or that owns the community. */
  | { code: 'forbidden' }
  /** The community's rules refuse the registration. */
  | { code: 'community'; problem: RegistrationProblem }
  /** The rules have changed since they were checked, so the request should be repeated. */
  | { code: 'rules_changed' }
  /** The cluster, or the account whose claim it uses, already has an assigned name of this community. */
  | { code: 'already_assigned' }
