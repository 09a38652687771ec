import type { RegistrationProblem } from '../community/registration.js'

/** Why a signed change can't be made as things stand. Codes as the interface has them. */
export type ChangeRefusal =
  /** The cluster to verify in doesn't exist. */
  | { code: 'not_found' }
  /** The signer isn't listed in the cluster it would be verified in. */
  | { code: 'not_invited' }
  /** An address isn't listed in the signer's cluster; none is given when the signer is verified in no cluster. */
  | { code: 'not_in_cluster'; address: Buffer | null }
  /** The address is listed already, under another name. */
  | { code: 'wallet_exists'; address: Buffer }
  | { code: 'wallet_name_taken'; name: string }
  | { code: 'already_public'; address: Buffer }
  /** The cluster holds names, and nobody verified would be left. */
  | { code: 'last_verified_wallet' }
  /** Names would move along, and show where a private wallet belongs. */
  | { code: 'names_would_reveal' }
  | { code: 'wallet_limit' }
  /** The signer isn't verified in the cluster that the change is about. */
  | { code: 'forbidden' }
  /** The community's rules don't let the name be registered so. */
  | { code: 'community'; problem: RegistrationProblem }
  /** The rules are others than those that were looked at before: to be asked again. */
  | { code: 'rules_changed' }
  /** The cluster got a name of this community already. */
  | { code: 'already_assigned' }
