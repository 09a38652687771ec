import type { RegistrationProblem } from '../community/registration.js'

/** Reason why a signed change has no effect. Codes as in the interface. */
export type ChangeRefusal =
  /** Cluster to verify in doesn't exist. */
  | { code: 'not_found' }
  /** Signer isn't listed in that cluster. */
  | { code: 'not_invited' }
  /** Address isn't in the signer's cluster; null when the signer has none. */
  | { code: 'not_in_cluster'; address: Buffer | null }
  /** Address is listed under another name. */
  | { code: 'wallet_exists'; address: Buffer }
  | { code: 'wallet_name_taken'; name: string }
  | { code: 'already_public'; address: Buffer }
  /** Cluster with names would lose its last verified wallet. */
  | { code: 'last_verified_wallet' }
  /** Names would move along and reveal a private wallet. */
  | { code: 'names_would_reveal' }
  /** Names of one of both clusters are still moving. */
  | { code: 'names_moving' }
  | { code: 'wallet_limit' }
  /** Signer isn't verified in the cluster of the community. */
  | { code: 'forbidden' }
  /** Rules of the community refuse the registration. */
  | { code: 'community'; problem: RegistrationProblem }
  /** Rules changed since they were checked; ask again. */
  | { code: 'rules_changed' }
  /** Cluster already has an assigned name of this community. */
  | { code: 'already_assigned' }
