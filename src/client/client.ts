import { ClusterdError } from './error.js'
import {
  type LabelledQuoteFamily,
  quoteFamilyOfNetwork,
  type Wallet,
  walletSignerOf,
} from './families.js'
import { type EventsOptions, followFeed, type ResumableEvent } from './feed.js'
import { joinWallets, type WalletsOptions } from './join.js'
import { isClusterId, requireClusterInMessage, SIGNATURE_NOT_KEPT_TEXT } from './membership.js'
import { type RegistrationNetwork, withViemChain } from './networks.js'
import { followStatus, type WaitOptions, waitForStatus } from './status.js'
import { withTimeLimit } from './time.js'
import { type ApiRequest, type ClientOptions, Transport } from './transport.js'
import type {
  Answer,
  CallOptions,
  Input,
  Method,
  PathOf,
  QuoteFamily,
  QuoteOfFamily,
  Schemas,
  TransactionStatus,
} from './types.js'

type EvmQuoteInput = Input<'POST', '/v1/names/register/evm'>['body']
/** Names to register on network `N`. */
export type QuoteRequest<N extends string = string> = EvmQuoteInput & { network: N }
/** Quote on network `N`. For the type `string`, a quote of any family. */
export type QuoteOn<N extends string> = N extends LabelledQuoteFamily
  ? QuoteOfFamily<N>
  : string extends N
    ? QuoteOfFamily<QuoteFamily>
    : QuoteOfFamily<'evm'>
type WalletsToAdd = Input<'POST', '/v1/clusters/wallets'>['body']
type CommunityNameRequest = Input<'POST', '/v1/names/community/{communityName}/register'>['body']

type SignInOptions = CallOptions & { chainId?: number; nonce?: string; cluster?: string }

/** Client of the HTTP API of a clusterd service. Calls reject with a `ClusterdError`, or their signal's reason. */
export class Client {
  /** @internal */
  readonly transport: Transport

  /** Address of the service, and the network on whose data the calls act. */
  readonly url: string
  readonly network: 'mainnet' | 'testnet'

  constructor(options: ClientOptions) {
    this.transport = new Transport(options)
    this.url = String(options.url)
    this.network = this.transport.network
  }

  /** Authentication key that is sent with every request: the result of `signIn`, or a stored key. */
  get token(): string | undefined {
    return this.transport.token
  }
  set token(token: string | undefined) {
    this.transport.token = token
  }

  /**
   * Calls any route: `request('GET', '/v1/names/address/{address}', { params: { address } })`.
   * @returns the body of the response with status 200
   */
  request<M extends Method, P extends PathOf<M>>(
    method: M,
    path: P,
    ...[input]: CallOptions extends Input<M, P> ? [input?: Input<M, P>] : [input: Input<M, P>]
  ): Promise<Answer<M, P>> {
    return this.transport.call(method, path, (input ?? {}) as ApiRequest) as Promise<Answer<M, P>>
  }

  /** The name of an address. Null where no cluster lists it in public and it has no name below a community. */
  nameOf(address: string, options?: CallOptions): Promise<Schemas['NameRecord'] | null> {
    return orNull(
      this.request('GET', '/v1/names/address/{address}', { params: { address }, ...options }),
    )
  }

  /** The names of up to 1,000 addresses, in the order of the addresses. */
  namesOf(addresses: string[], options?: CallOptions): Promise<Schemas['NameRecord'][]> {
    return this.request('POST', '/v1/names/address', { body: addresses, ...options })
  }

  /**
   * For any number of addresses, in their order, the verified public wallets of each address's cluster. The iterable is
   * read as needed.
   */
  wallets(addresses: AsyncIterable<string> | Iterable<string>, options: WalletsOptions = {}) {
    return joinWallets(this.transport, addresses, options)
  }

  /** The address behind `name` or `name/wallet`; null for a name that resolves to nothing. */
  async addressOf(name: string, options?: CallOptions): Promise<Schemas['AddressRecord'] | null> {
    const records = await this.addressesOf([name], options)
    if (!Array.isArray(records))
      throw new ClusterdError('unexpected', 'The answer is not one of clusterd.')
    return records[0] ?? null
  }

  /** The addresses behind up to 1,000 names. Names that resolve to nothing are left out. */
  addressesOf(names: string[], options?: CallOptions): Promise<Schemas['AddressRecord'][]> {
    return this.request('POST', '/v1/names', { body: names.map((name) => ({ name })), ...options })
  }

  /** The first names that an address owns. Pass the last name as `after` to get more. */
  ownedBy(
    address: string,
    query?: { after?: string; limit?: number },
    options?: CallOptions,
  ): Promise<Schemas['OwnerRecord'][]> {
    return this.request('GET', '/v1/names/owner/address/{address}', {
      params: { address },
      query,
      ...options,
    })
  }

  /** The cluster that holds a name, or has an id (0x and 64 hex digits); null where no cluster does. */
  cluster(nameOrId: string, options?: CallOptions): Promise<Schemas['Cluster'] | null> {
    return orNull(
      isClusterId(nameOrId)
        ? this.request('GET', '/v1/clusters/id/{id}', { params: { id: nameOrId }, ...options })
        : this.request('GET', '/v1/clusters/name/{name}', {
            params: { name: nameOrId },
            ...options,
          }),
    )
  }

  /** The id of the cluster in which an address is verified; null where it is verified in none. */
  async clusterIdOf(address: string, options?: CallOptions): Promise<string | null> {
    const input = { params: { address }, ...options }
    const record = await orNull(this.request('GET', '/v1/clusters/address/{address}', input))
    return record?.clusterId ?? null
  }

  /** Whether each name can be registered, in order. */
  availability(names: string[], options?: CallOptions): Promise<Schemas['Availability'][]> {
    return this.request('POST', '/v1/names/register/check', { body: names, ...options })
  }

  /** The chains that names can be registered from. The field `chain` of each has viem's form. */
  async networks(options?: CallOptions): Promise<RegistrationNetwork[]> {
    return (await this.request('GET', '/v1/networks', options)).map(withViemChain)
  }

  /** Price and transaction data of a registration. */
  quote<N extends string>(request: QuoteRequest<N>, options?: CallOptions): Promise<QuoteOn<N>>
  quote(request: EvmQuoteInput, options?: CallOptions): Promise<QuoteOn<string>> {
    const path = `/v1/names/register/${quoteFamilyOfNetwork(request.network)}` as const
    return this.request('POST', path, { body: request, ...options })
  }

  /** Status of a registration's transaction, at the time of the call. */
  status(tx: string, options?: CallOptions): Promise<TransactionStatus> {
    return this.request('GET', '/v1/names/register/tx/{tx}', { params: { tx }, ...options })
  }

  /**
   * Yields the status of a transaction, and each later status that differs. Ends after a final status, which never
   * changes. Outages do not end the iteration.
   * @param options `timeoutMs`: one hour by default
   */
  followStatus(
    tx: string,
    options: CallOptions = {},
  ): AsyncGenerator<TransactionStatus, void, undefined> {
    return followStatus(this.transport, tx, options)
  }

  /**
   * Waits until a transaction has the status `until`, or a status that never changes. Outages do not end the wait.
   * @param options `timeoutMs`: two minutes by default
   */
  waitForStatus(tx: string, options: WaitOptions = {}): Promise<TransactionStatus> {
    return waitForStatus(this.transport, tx, options)
  }

  /** Money owed to an address on every chain, with the transactions that withdraw it. */
  refunds(address: string, query?: { to?: string }, options?: CallOptions) {
    return this.request('GET', '/v1/refunds/{address}', { params: { address }, query, ...options })
  }

  /**
   * Public events, each once and in order: from the first event, or after `resume`. The iteration ends by `signal`, or
   * with `follow: false` at the end of the feed.
   */
  events(options: EventsOptions = {}): AsyncGenerator<ResumableEvent, void, undefined> {
    return followFeed(this.transport, options)
  }

  /** A page of the feed. */
  eventsPage(query?: Input<'GET', '/v1/events'>['query'], options?: CallOptions) {
    return this.request('GET', '/v1/events', { query, ...options })
  }

  /**
   * Signs in with a signature of the wallet. Later requests are sent with the returned key.
   * @param wallet of viem (an account, a wallet client), a wallet adapter, or of the Wallet Standard
   * @param options `chainId`: EIP-155 id of a smart wallet's chain, if it is not the hub's; `nonce`: 16 to 64 random
   * letters and digits, for a multisig that approves on chain; `cluster`: id or name of the cluster to which the
   * signature says that the wallet belongs
   */
  async signIn(
    wallet: Wallet,
    { chainId, nonce, cluster, ...options }: SignInOptions = {},
  ): Promise<string> {
    const { sign, ...signer } = walletSignerOf(wallet)
    const query = {
      ...signer,
      ...(chainId !== undefined && { chainId }),
      ...(nonce && { nonce }),
      ...(cluster !== undefined && { cluster }),
    }
    // the message names the address, so that a smart wallet's signature is accepted too
    const { message, signingDate } = await this.request('GET', '/v1/auth/message', {
      query,
      ...options,
    })
    requireClusterInMessage(message, cluster)
    // there is no time limit, because a person has to confirm. Only the signal ends this wait
    const signature = await withTimeLimit({ signal: options.signal }, async () => sign(message))
    const body = { ...query, signingDate, signature }
    const { token } = await this.request('POST', '/v1/auth/token', { body, ...options })
    this.token = token
    return token
  }

  /** Revokes the key of `signIn` for good. With `everywhere` all keys of the wallet are revoked. */
  async signOut({ everywhere, ...options }: CallOptions & { everywhere?: boolean } = {}) {
    const query = everywhere ? { everywhere: 'true' as const } : {}
    await this.request('DELETE', '/v1/auth/token', { query, ...options })
    this.token = undefined
  }

  /** The id of the signed-in wallet's cluster. A wallet without a cluster gets a new one. */
  async createCluster(options?: CallOptions): Promise<string> {
    return (await this.request('POST', '/v1/clusters', options)).id
  }

  /** Adds wallets to the signed-in wallet's cluster. */
  async addWallets(wallets: WalletsToAdd, options?: CallOptions) {
    await this.request('POST', '/v1/clusters/wallets', { body: wallets, ...options })
  }

  /** Renames wallets of the signed-in wallet's cluster. */
  async renameWallets(wallets: { address: string; name: string }[], options?: CallOptions) {
    await this.request('PUT', '/v1/clusters/wallets/names', { body: wallets, ...options })
  }

  /** Removes wallets from the signed-in wallet's cluster. */
  async removeWallets(addresses: string[], options?: CallOptions) {
    await this.request('DELETE', '/v1/clusters/wallets', { body: addresses, ...options })
  }

  /** Verifies the signed-in wallet in a cluster that lists it. */
  async verifyIn(clusterId: string, options?: CallOptions) {
    await this.request('POST', '/v1/clusters/verify/{clusterId}', {
      params: { clusterId },
      ...options,
    })
  }

  /**
   * Joins a cluster that lists the wallet, or signs the membership of a wallet that is verified there. The wallet signs
   * in by a signature that will be public (docs/use/verify.md), and the service verifies the wallet. Other wallets of
   * the cluster need not sign.
   * @returns the key, as `signIn`
   * @throws ClusterdError `unexpected` where the service did not keep the signature
   */
  async signMembership(
    wallet: Wallet,
    clusterId: string,
    options: Omit<SignInOptions, 'cluster'> = {},
  ): Promise<string> {
    const token = await this.signIn(wallet, { ...options, cluster: clusterId })
    const { signed } = await this.request('POST', '/v1/clusters/verify/{clusterId}', {
      params: { clusterId },
      ...options,
    })
    if (!signed) throw new ClusterdError('unexpected', SIGNATURE_NOT_KEPT_TEXT)
    return token
  }

  /** The rules of a community, null where there is none. */
  community(name: string, options?: CallOptions): Promise<Schemas['Community'] | null> {
    return orNull(this.request('GET', '/v1/communities/{name}', { params: { name }, ...options }))
  }

  /** Registers a name below a community. If the name costs something, send the payment of `transactionInfo`. */
  registerBelow(community: string, body: CommunityNameRequest, options?: CallOptions) {
    const path = '/v1/names/community/{communityName}/register'
    return this.request('POST', path, { params: { communityName: community }, body, ...options })
  }
}

/** The answer; null for a 404 of the service itself. A 404 of a proxy is an error. */
const orNull = <T>(answer: Promise<T>): Promise<T | null> =>
  answer.catch((error: unknown) => {
    const { status, code, body } = Object(error)
    // an address without a name or a cluster has a record (`clusterName`, `clusterId`) in place of an error
    const isOfService = code === 'not_found' || /"cluster[IN]/.test(JSON.stringify(body))
    if (status === 404 && isOfService) return null
    throw error
  })
