import { type Difference, errorOf, type Recorded } from './answers.js'
import type { Surface } from './surface.js'

/** What is answered in another way than by the recorded build, and may be. */

/** Fields of some answers. */
interface Fields {
  /** Method and path of the requests. */
  requests: RegExp
  /** Recorded status and error code: `404 not_found`, or `200`. Default: all. */
  answers?: RegExp
  /** Fields, in the form of `differences` in answers.ts. `status` and `headers.…` are fields, too. */
  fields: RegExp
}

/** An intended change. It has to match at least one difference, else it fails: delete it. */
interface Change extends Fields {
  /** Why the answer changed. */
  reason: string
  /** The beginning of its row in docs/run/changelog.md, under "Answers of the API that changed". */
  changelog: string
}

export const CHANGES: readonly Change[] = [
  {
    requests: /./,
    fields: /^headers\.cache-control$/,
    reason: 'every answer states its cacheability',
    changelog: '| errors, `POST` look-ups, preflights |',
  },
  {
    requests: /^GET \/(v1|v0\.1)\/(names\/)?register\/tx\//,
    fields: /^body\.(names|more)$/,
    reason: 'a contract can make thousands of bids in one transaction',
    changelog: '| the status of a transaction of more than 100 names |',
  },
  {
    requests: /^GET \/v1\/names\/register\/tx\//,
    fields: /^body\.trouble$/,
    reason: 'a payer learns why a delivery or a refund waits',
    changelog: '| the status of a transaction whose delivery or refund waits for the service |',
  },
  {
    requests: /^GET \/openapi\.json$/,
    fields: /^body\.components\.schemas\.TransactionStatus\.properties\.trouble$/,
    reason: 'a payer learns why a delivery or a refund waits',
    changelog: '| the status of a transaction whose delivery or refund waits for the service |',
  },
  {
    requests: /^GET \/openapi\.json$/,
    fields: /^body\.components\.schemas\.TransactionStatus\.properties\.more$/,
    reason: 'a contract can make thousands of bids in one transaction',
    changelog: '| the status of a transaction of more than 100 names |',
  },
  {
    requests: /^GET \/openapi\.json$/,
    fields:
      /^body\.(paths\.\/(v1\/trpc|v1\/names\/referrals|profile-image|v1\/log\/\{network\}\/evidence)\/.*|components\.schemas\.Referrals)$/,
    reason: 'Blockscout’s frontend asks them, quotes write referrals into logs, evidence has a log',
    changelog: '| `/openapi.json` |',
  },
  {
    requests: /^GET \/v1\/networks\/?(\?sent=long-header)?$/i,
    fields: /^body\[\]\.(name|contract|rpcUrls)$/,
    reason: 'a wallet has to learn a chain that it does not know',
    changelog: '| `GET /v1/networks` |',
  },
  {
    requests: /^GET \/openapi\.json$/,
    fields: /^body\.components\.schemas\.Network\.properties\.(name|contract|rpcUrls)$/,
    reason: 'a wallet has to learn a chain that it does not know',
    changelog: '| `GET /v1/networks` |',
  },
  {
    requests: /^GET \/openapi\.json$/,
    fields:
      /^body\.(paths\.\/(v1\/tokens\/|image\/\{name\}\.png|v1\/clusters\/(address|verify)\/).*|components\.schemas\.OwnerRecord\.properties\.tx)$/,
    reason: 'amounts have their unit, links their card, and listed wallets see who lists them',
    changelog: '| `/openapi.json` |',
  },
  {
    requests: /^(GET|POST) \/v1\/auth\/message/,
    fields: /^body\.message$/,
    reason: 'the message of a smart wallet names its chain',
    changelog: '| `/v1/auth/message`, `/v1/auth/token` |',
  },
  {
    requests: /^GET \/v1\/clusters\/(id|name)\//,
    fields: /^body\.wallets\[\]\.evidence$/,
    reason: 'a wallet’s own signature shows that it belongs to its cluster',
    changelog: '| wallets of a cluster on v1 |',
  },
  {
    requests: /^GET \/openapi\.json$/,
    fields:
      /^body\.(paths\.\/v1\/(auth\/(message|token)|clusters\/generate\/wallet\/recover)\..*|components\.responses\.invalid_request\..*)$/,
    reason: 'the message of a smart wallet names its chain',
    changelog: '| `/v1/auth/message`, `/v1/auth/token` |',
  },
  {
    requests: /^GET \/openapi\.json$/,
    fields: /^body\.components\.schemas\.Wallet\.properties\.evidence$/,
    reason: 'a wallet’s own signature shows that it belongs to its cluster',
    changelog: '| wallets of a cluster on v1 |',
  },
  {
    requests: /./,
    answers: /^[45]\d\d /,
    fields: /^headers\.(connection|keep-alive)$/,
    reason: 'a refusal that costs no reading keeps its connection',
    changelog: '| refusals |',
  },
  {
    requests: /^GET \/v1\/names\/owner\/address\//,
    fields: /^body\[\]\.tx$/,
    reason: 'histories on the pages link the transaction of a name',
    changelog: '| `GET /v1/names/owner/address/:address` |',
  },
  {
    requests: /^GET \/(?!v1\/|v0\.1\/)/,
    fields: /^body$/,
    reason: 'sites show links to the pages as cards',
    changelog: '| pages |',
  },
  {
    requests: /^GET \/v1\/networks\?sent=many-headers$/,
    fields: /^(status|body.*|headers\..*)$/,
    reason: 'Node drops the last headers of many, which are the proxy’s',
    changelog: '| a request with more than 64 headers |',
  },
]

/** Fields that differ between any two processes, or that are made from something else: their types alone are compared. */
interface Uncompared extends Fields {
  why: string
}

export const UNCOMPARED: readonly Uncompared[] = [
  {
    requests: /^GET \/$/,
    fields: /^body$/,
    why: 'compressed, with the hash of the build in it; other requests have pages as they are',
  },
  {
    requests: /^GET \/$/,
    fields: /^body\.version$/,
    why: 'the version of package.json',
  },
  {
    requests: /^POST \/v1\/clusters\/generate\/wallet$/,
    fields: /^body\.(address|share|recoveryShare)$/,
    why: 'a new wallet is random',
  },
  {
    requests: /^POST \/v1\/keys$/,
    fields: /^body\.(id|key)$/,
    why: 'a new API key is random',
  },
  {
    requests: /^GET \/v1\/keys$/,
    fields: /^body\[\]\.id$/,
    why: 'shows an API key of a recorded request, which was random',
  },
  {
    requests: /^GET \/(openapi|openapi-v0\.1)\.json$/,
    fields: /^body\./,
    why: 'made from the declarations of the routes; test/api/http.test.ts has the committed documents',
  },
  {
    requests: /^GET \/(docs\/guides|assets)\//,
    fields: /^body$/,
    why: 'made from docs/use and src/web/page, whose tests are in test/e2e',
  },
]

/** Answers of a running service that need a chain that the restored deployment does not have: Solana. */
export const ABSENT: readonly Fields[] = [
  {
    requests: /^GET \/v1\/overview\b/,
    fields: /^body\.chains\[\]\.(block|confirmed|confirmSeconds|behindSeconds|isHealthy)$/,
  },
  { requests: /^POST \/v1\/(names\/)?register\/solana$/, answers: /^200$/, fields: /./ },
]

/** Fields with a deadline, which moves once an hour: of running services their types alone are compared. */
export const TIMED: Fields = {
  requests: /^(GET|POST) \/(ens\b|v1\/airdrop\/claim\/)/,
  fields: /^body\.(data|claims\[\]\.transaction\.data)$/,
}

/** Series of an account that no node of the restored deployment shows: Solana's. */
export const ABSENT_METRICS: readonly string[] = ['clusterd_relay_authority_lamports{network}']

/** Series that are gone, or have another label, with their row in docs/run/changelog.md. */
export const GONE_METRICS: readonly string[] = [
  'clusterd_blamed_loops{cause}',
  'clusterd_chain_failing{network,chain}',
  'clusterd_chain_halted{network,chain}',
  'clusterd_chain_head_alarm_seconds{network,chain}',
  'clusterd_chain_nodes_wanted{network,chain}',
  'clusterd_chain_problem{network,chain}',
  'clusterd_chain_undecided{network,chain,why}',
  'clusterd_log_behind_events{network}',
  'clusterd_outbox_held_share{network,kind,state}',
  'clusterd_payments_wait_seconds{network}',
  'clusterd_refused_names{network}',
  'clusterd_relay_missing_keys{network}',
  'clusterd_relayer_nonce_claims{network,chain}',
  'clusterd_relayer_nonce_gaps{network,chain}',
  'clusterd_rpc_errors{chain,use,host}',
  'clusterd_rpc_latency_seconds{chain,use,host}',
  'clusterd_rpc_rest_seconds{chain,use,host}',
  'clusterd_rpc_wrong_chain{chain,use,host}',
  'clusterd_stuck_packets{network}',
  'clusterd_webhook_failing_seconds{network}',
  'clusterd_webhooks{network,state}',
]

const ADDED_PATHS =
  /^\/(v1\/trpc|profile-image|v1\/names\/referrals|v1\/tokens|v1\/log\/[^/?]+\/evidence|image\/[^/?]+\.png|v1\/.*[?&](chainId|invitations|cluster)=)/

/** Whether the recorded build does not have a request's path, query or field. Its answer was recorded later. */
export const isAddedRequest = ({ path, body }: Pick<Recorded, 'path' | 'body'>): boolean =>
  ADDED_PATHS.test(path) || (path === '/v1/auth/token' && 'cluster' in Object(body))

/** Fields of the chains file that are gone: `doctor` and `start` name a field that is still there. */
export const GONE_FIELDS: readonly string[] = ['chains[].singleNodeAfter']

/** Variables, commands and exports that are gone, with their row in docs/run/changelog.md. */
export const GONE_SURFACE: Readonly<Surface> = {
  variables: ['ERC6492'],
  commands: [],
  exports: [
    'client QuoteFrom',
    'client/verify Verified',
    'testing DistributorSettings',
    'testing FaultRequest',
    'testing PriceChange',
    'testing TcpProxy',
    'testing deployDistributor',
    'testing setPrice',
    'testing signIn',
    'testing startTcpProxy',
  ],
}

/** Whether a difference of an answer is in these fields. @param request with its recorded answer */
export function isOf(
  { requests, answers, fields }: Fields,
  { method, path, answer }: Recorded,
  { field }: Difference,
): boolean {
  const status = `${answer.status} ${errorOf(answer) ?? ''}`.trim()
  return requests.test(`${method} ${path}`) && fields.test(field) && (answers?.test(status) ?? true)
}

/** Whether a difference is one of `CHANGES`. */
export const isListed = (request: Recorded, difference: Difference): boolean =>
  CHANGES.some((change) => isOf(change, request, difference))

/** Whether a field is not compared, beyond its type. */
export const isUncompared = (request: Recorded, difference: Difference): boolean =>
  UNCOMPARED.some((place) => isOf(place, request, difference))
