import { generationInLogName } from '../registry/transparencyLog/beginning.js'
import type { BundleWallet, ContractCheck } from '../registry/transparencyLog/evidence.js'
import type { Client } from './client.js'
import { ClusterdError, logMismatchError } from './error.js'
import { withTimeLimit } from './time.js'
import { type LogOptions, LogReader, type TreeHeadJson } from './transparencyLog.js'
import type { CallOptions } from './types.js'

/** Checkpoints that were read: of the feed's log, and of the evidence log (null where the service has none). */
export interface BundleHeads {
  feed: TreeHeadJson
  evidence: TreeHeadJson | null
}

/** Options of `verifyBundle`. `witnesses` are the witnesses of the feed's log. An evidence log has no witnesses. */
export interface BundleOptions
  extends CallOptions,
    Pick<LogOptions, 'key' | 'sha256' | 'domain' | 'witnesses'> {
  /**
   * Earlier domains of the service. A text that a wallet signed is accepted if it names one of them, or the domain of
   * the log that is read.
   */
  domains?: readonly string[] | undefined
  /** Checkpoints that an earlier result returned as `heads`. The logs have to continue them. */
  last?: BundleHeads | undefined
  /**
   * Verifies signatures of smart wallets, such as `verifyMessage` of a viem client. Default: signatures of smart
   * wallets do not count.
   */
  isSignedByContract?: ContractCheck | undefined
}

export interface VerifiedBundle {
  clusterId: string
  /** Public wallets, in the order in which they were added. */
  wallets: BundleWallet[]
  /** Checkpoints to pass as `last` next time. */
  heads: BundleHeads
}

/**
 * Reads from the signed logs of a service which wallets belong to the cluster that holds a name, with the evidence of
 * each wallet. `signed`: the wallet's signature. `registered`: a name that the wallet registered on the hub, which
 * `verifyRegistry` compares with the hub. `unsigned`: none, so only the service says it. Which cluster holds the name,
 * and which wallets have left, is also only the service's statement.
 * @throws ClusterdError not_found for a name that nobody holds, or whose change of hands the log does not show yet;
 * log_mismatch, timeout; errors of requests and of `isSignedByContract`; TypeError for a wrong key, `last` or witness
 */
export async function verifyBundle(
  client: Client,
  name: string,
  {
    key,
    sha256,
    domain,
    domains = [],
    witnesses,
    last,
    isSignedByContract,
    ...options
  }: BundleOptions,
): Promise<VerifiedBundle> {
  if (last !== undefined && last !== null && !last.feed)
    throw new TypeError('These are no checkpoints: keep `heads` of verifyBundle.')
  return withTimeLimit(options, async (signal) => {
    const { LoggedBundle } = await import('../registry/auth/bundle.js')
    const { network } = client.transport
    const cluster = await client.cluster(name, { ...options, signal })
    if (!cluster) throw new ClusterdError('not_found', `No cluster holds ${name}.`)
    const common = { key, sha256 }
    const feed = new LogReader(client, { ...common, domain, witnesses, last: last?.feed })
    const head = await feed.checkpoint(signal)
    const end = `/${network}/${generationInLogName(head.origin, network)}`
    const logDomain = head.origin.slice(0, -end.length)
    const clusterId = cluster.id
    const bundle = new LoggedBundle({
      // `FooBar/` names `foobar` in every route
      name: name.toLowerCase().replace(/\/$/, ''),
      clusterId,
      network,
      domains: [logDomain, ...domains],
      isSignedByContract,
    })
    const evidence = new LogReader(client, {
      ...common,
      network: `${network}/evidence`,
      domain: logDomain,
      last: last?.evidence ?? undefined,
    })
    const signed = await evidence.checkpoint(signal).catch((error: unknown) => {
      // an earlier version of the service has no evidence log. A log that was there before must not disappear
      if (error instanceof ClusterdError && error.status === 404 && !evidence.last) return null
      throw error
    })
    try {
      for await (const { text, index } of feed.entries(head, { signal }))
        bundle.takeEvent(text, index)
      if (signed)
        for await (const { text, index } of evidence.entries(signed, { signal }))
          bundle.takeEvidence(text, index)
    } catch (error) {
      throw error instanceof RangeError
        ? logMismatchError(
            `The logs of ${logDomain} do not show the bundle: ${error.message}.`,
            error,
          )
        : error
    }
    if (bundle.holder !== clusterId)
      throw new ClusterdError(
        'not_found',
        `The log does not show that ${name} belongs to ${clusterId}, but to ${bundle.holder ?? 'no cluster'}: if that is new, ask again.`,
      )
    const wallets = await bundle.wallets()
    return { clusterId, wallets, heads: { feed: feed.last!, evidence: evidence.last } }
  })
}
