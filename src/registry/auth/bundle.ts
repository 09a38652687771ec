import { decodeWallet } from '../primitives/address.js'
import { mapKey } from '../primitives/bytes.js'
import type { Network } from '../primitives/network.js'
import type { BundleWallet, ContractCheck } from '../transparencyLog/evidence.js'
import { parseEventLeaf } from '../transparencyLog/leafReader.js'
import {
  canonicalSignature,
  isEvidenceFresh,
  membershipSigningMs,
  type PublishedEvidence,
  parseEvidenceEntry,
} from './evidence.js'
import { SIGNING_DATE_MAX_AHEAD_MS } from './message.js'

/** The bundle to read, and the service that logs it. */
export interface LoggedBundleOptions {
  name: string
  /** Public id of the cluster whose wallets are read. The caller compares it with `holder`. */
  clusterId: string
  network: Network
  /** Domains of the service. The message that a wallet signs names one of them. */
  domains: readonly string[]
  /**
   * Asks a smart wallet whether a signature is its own (ERC-1271). Default: signatures of smart wallets do not count.
   */
  isSignedByContract?: ContractCheck | undefined
}

interface ClusterMember {
  name: string
  isVerified: boolean
  /** Newest name that the wallet registered since it was added to the cluster. */
  registeredName: string | null
  /** Time of the wallet's later verification, ms. Null if it was verified when it was added, or is not verified. */
  verifiedMs: number | null
  /** Time at which the wallet last left the cluster, ms. Null if it never left. */
  leftMs: number | null
}

/**
 * A cluster derived from the entries of the feed's log and of the evidence log, and from no other data of the service.
 */
export class LoggedBundle {
  readonly #options: LoggedBundleOptions
  readonly #members = new Map<string, ClusterMember>()
  readonly #leftMs = new Map<string, number>()
  readonly #evidence: PublishedEvidence[] = []
  /** Public id of the cluster that holds the name according to the feed's log. Null where nobody holds the name. */
  holder: string | null = null

  constructor(options: LoggedBundleOptions) {
    this.#options = options
  }

  /**
   * Takes the next entry of the feed's log. The caller passes all entries, in order.
   * @throws RangeError for an entry that is not written as this version writes events
   */
  takeEvent(text: string, index: number): void {
    if (index === 0) return
    const { event, actor, atMs } = parseEventLeaf(text, index)
    const { name, clusterId } = this.#options
    const isOfName = 'name' in event && event.name === name
    if (isOfName && (event.type === 'REGISTER_NAME' || event.type === 'TRANSFER_NAME'))
      this.holder = event.cluster
    if (event.cluster !== clusterId) return
    const key = mapKey('wallet' in event ? event.wallet : (actor ?? new Uint8Array()))
    const member = this.#members.get(key)
    if (event.type === 'ADD_WALLET') {
      const leftMs = this.#leftMs.get(key) ?? null
      const { name, isVerified } = event
      this.#members.set(key, { name, isVerified, registeredName: null, verifiedMs: null, leftMs })
    } else if (event.type === 'REMOVE_WALLET') {
      this.#leftMs.set(key, atMs)
      this.#members.delete(key)
    } else if (!member) return
    else if (event.type === 'UPDATE_WALLET_NAME') member.name = event.name
    else if (event.type === 'VERIFY_WALLET')
      Object.assign(member, { isVerified: true, verifiedMs: atMs })
    else if (event.type === 'REGISTER_NAME') member.registeredName = event.name
  }

  /**
   * Takes an entry of the evidence log.
   * @throws RangeError for an entry that is not written as this version writes evidence
   */
  takeEvidence(text: string, index: number): void {
    if (index === 0) return
    const evidence = parseEvidenceEntry(text)
    if (evidence.clusterId === this.#options.clusterId) this.#evidence.push(evidence)
  }

  /**
   * Returns the public wallets in the order in which they were added. A wallet's newest evidence that counts is shown.
   * @throws errors of `isSignedByContract`
   */
  async wallets(): Promise<BundleWallet[]> {
    const signedMs = new Map<string, number>()
    for (const evidence of [...this.#evidence].reverse()) {
      const key = mapKey(evidence.wallet.bytes)
      if (signedMs.has(key)) continue
      const ms = this.#signingMsIfCounted(evidence, this.#members.get(key))
      if (ms !== null && (await this.#isSigned(evidence))) signedMs.set(key, ms)
    }
    return [...this.#members].map(([key, { name, isVerified, registeredName }]) => {
      const ms = signedMs.get(key)
      const mark = registeredName && isVerified ? 'registered' : 'unsigned'
      return {
        address: decodeWallet(Buffer.from(key, 'latin1')).text,
        name,
        isVerified,
        evidence: ms === undefined ? mark : 'signed',
        registeredName,
        signedAt: ms === undefined ? null : new Date(ms).toISOString(),
      }
    })
  }

  /**
   * Signing date (ms) of evidence that counts for a member if its signature is valid; null for other evidence. The
   * message has to name this service, network and cluster. Its date has to be fresh when the service took the evidence.
   * For a wallet that was verified after that date, it has to be fresh at the verification too. The wallet's last
   * departure has to be earlier.
   */
  #signingMsIfCounted(
    evidence: PublishedEvidence,
    member: ClusterMember | undefined,
  ): number | null {
    const { message, wallet, atMs } = evidence
    const { domains, ...of } = this.#options
    const dates = domains.map((domain) => membershipSigningMs(message, { ...of, domain, wallet }))
    const signingMs = dates.find((ms) => ms !== null) ?? null
    if (signingMs === null || !member?.isVerified) return null
    const { leftMs, verifiedMs } = member
    // the date in the message may be ahead of the time at which the wallet signed
    const hasLeft = leftMs !== null && leftMs + SIGNING_DATE_MAX_AHEAD_MS >= signingMs
    const isOld =
      verifiedMs !== null && verifiedMs > signingMs && !isEvidenceFresh(signingMs, verifiedMs)
    return isEvidenceFresh(signingMs, atMs) && !hasLeft && !isOld ? signingMs : null
  }

  async #isSigned(evidence: PublishedEvidence): Promise<boolean> {
    const { message, wallet, signature } = evidence
    if (signature !== null && canonicalSignature(message, wallet, signature) === signature)
      return true
    const { isSignedByContract } = this.#options
    if (wallet.type !== 'evm' || !isSignedByContract) return false
    const { signatureHash, block } = evidence
    return isSignedByContract({ address: wallet.text, message, signature, signatureHash, block })
  }
}
