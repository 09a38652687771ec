import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'
import { Client, ClusterdError } from '../client/index.js'
import { SERVICE_VERSION } from '../ops/version.js'
import { parseWallet } from '../registry/primitives/address.js'
import { parseClusterName, parseFullName } from '../registry/primitives/name.js'
import { NAME_RULES_TEXT } from '../registry/primitives/nameRule.js'
import { replaceBigintByText } from './output.js'

const MAX_NAMES_PER_CALL = 100
const MAX_EVENTS_PER_PAGE = 100
/** Longest wait of a tool for a status, seconds. It is shorter than agents' time limits for a call. */
const MAX_WAIT_S = 50

const MCP_INSTRUCTIONS =
  'Looks up names and bundles (clusters) of wallets in clusterd, quotes registrations and follows their transactions. Nothing here signs or pays: a quote is transaction data for the user’s wallet. Amounts are in the smallest unit, as text.'

const bidSchema = z.strictObject({
  name: z.string().describe(`A name: ${NAME_RULES_TEXT}`),
  amountWei: z.string().optional().describe('The bid, wei of ETH; default 0.01 ETH'),
})
const nameInElement = (element: string | z.output<typeof bidSchema>): string =>
  typeof element === 'string' ? element : element.name
/** Schema of a list of names. All tools that take names share it: agents would confuse two similar schemas. */
const namesSchema = z
  .array(
    z
      .union([z.string(), bidSchema], {
        error: 'a name is a text, or an object with `name` and, for a bid, `amountWei`',
      })
      .refine((element) => parseClusterName(nameInElement(element)) !== null, {
        error: ({ input }) => nameErrorText(nameInElement(input as string)),
      }),
  )
  .min(1)
  .max(MAX_NAMES_PER_CALL)
  .describe('Names: each a text, or an object with `name`')
const addressSchema = z
  .string()
  .refine((text) => typeof parseWallet(text) !== 'string', {
    error: ({ input }) => addressErrorText(input as string),
  })
  .describe('An address of any chain')
const testnetSchema = z.boolean().default(false).describe('Of the testnet in place of the mainnet')

const ENS_NAME_ADVICE =
  'names are taken without their ENS parent: alice.names.eth as "alice", main.alice.names.eth as "alice/main"'

const nameErrorText = (text: string): string =>
  `"${text}" is no name: ${text.includes('.') ? ENS_NAME_ADVICE : NAME_RULES_TEXT}`

const addressErrorText = (text: string): string =>
  parseWallet(text) === 'bad_checksum'
    ? `the checksum of ${text} (EIP-55) is wrong: copy it again, or give it in lower case`
    : `"${text}" is no address of a known form: resolve_name has the address of a name`

interface McpTool<Fields extends z.ZodRawShape> {
  description: string
  input: Fields
  answer(
    client: Client,
    input: z.output<z.ZodObject<Fields>> & { testnet: boolean },
    signal: AbortSignal,
  ): Promise<unknown>
}
const defineTool = <Fields extends z.ZodRawShape>(definition: McpTool<Fields>): McpTool<Fields> =>
  definition

/** The MCP tools, by name. All of them are read-only. */
const MCP_TOOLS = {
  resolve_name: defineTool({
    description:
      'The address behind a name (`alice`, `alice/main`) or a name below a community (`club/alice`); null for none.',
    input: {
      name: z
        .string()
        .refine((text) => parseFullName(text) !== null, {
          error: ({ input }) =>
            `${nameErrorText(input as string)}; names_of_address has the names of an address`,
        })
        .describe('`alice`, `alice/main` or `club/alice`'),
    },
    answer: (client, { name }, signal) => client.addressOf(name, { signal }),
  }),
  names_of_address: defineTool({
    description:
      'The name under which an address is listed in public, null for none, and the names that it owns.',
    input: { address: addressSchema },
    answer: async (client, { address }, signal) => ({
      listedAs: await client.nameOf(address, { signal }),
      owns: await client.ownedBy(address, { limit: MAX_NAMES_PER_CALL }, { signal }),
    }),
  }),
  get_cluster: defineTool({
    description:
      'The cluster (bundle of wallets) that holds a name, or has an id, with its public wallets; null for none.',
    input: { nameOrId: z.string().describe('A name, or an id: 0x and 64 hex digits') },
    answer: (client, { nameOrId }, signal) => client.cluster(nameOrId, { signal }),
  }),
  check_availability: defineTool({
    description: 'Whether names can be registered.',
    input: { names: namesSchema },
    answer: (client, { names }, signal) =>
      client.availability(names.map(nameInElement), { signal }),
  }),
  list_networks: defineTool({
    description:
      'The chains that names can be registered from, with the labels that a quote takes.',
    input: {},
    async answer(client, { testnet }, signal) {
      const networks = await client.networks({ signal })
      return networks.filter(({ isTestnet }) => isTestnet === testnet)
    },
  }),
  quote_registration: defineTool({
    description:
      'Price and unsigned transaction data for registering names, to be signed and sent by the sender’s wallet.',
    input: {
      network: z.string().describe('Label of the chain to pay on (list_networks)'),
      sender: addressSchema,
      names: namesSchema,
    },
    answer: (client, { network, sender, names }, signal) => {
      const bids = names.map((one) => (typeof one === 'string' ? { name: one } : one))
      return client.quote({ network, sender, names: bids } as Parameters<Client['quote']>[0], {
        signal,
      })
    },
  }),
  transaction_status: defineTool({
    description:
      'What a registration’s transaction has come to: pending, bridging, finalized, lost_bid, invalid or not_found.',
    input: {
      tx: z.string().describe('Hash or signature of the transaction'),
      waitSeconds: z
        .number()
        .min(0)
        .max(MAX_WAIT_S)
        .default(0)
        .describe('Waits as long for a status that never changes'),
    },
    async answer(client, { tx, waitSeconds }, signal) {
      if (waitSeconds === 0) return client.status(tx, { signal })
      return client
        .waitForStatus(tx, { signal, timeoutMs: waitSeconds * 1_000 })
        .catch((error: unknown) => {
          if (error instanceof ClusterdError && error.code === 'timeout')
            return client.status(tx, { signal })
          throw error
        })
    },
  }),
  list_events: defineTool({
    description:
      'A page of the public feed. `resume` of one page goes on behind it, also from the end of the feed.',
    input: {
      resume: z.string().optional().describe('Of an earlier page'),
      newestFirst: z
        .boolean()
        .default(false)
        .describe('Order of a first page; `resume` goes on in the order of its page'),
      from: addressSchema
        .optional()
        .describe('Only events of the wallet with this address; no time'),
      limit: z.number().int().min(1).max(MAX_EVENTS_PER_PAGE).default(20),
    },
    answer: (client, { resume, newestFirst, from, limit }, signal) =>
      client.eventsPage(
        {
          limit,
          ...(from !== undefined && { from }),
          ...(resume === undefined
            ? { orderBy: newestFirst ? 'newest' : 'oldest' }
            : { nextPage: resume }),
        },
        { signal },
      ),
  }),
}

/** `clusterd mcp`: serves the MCP tools over stdio, until the agent closes it or a signal ends the process. */
export async function serveMcp({ url }: { url: string }): Promise<void> {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new Error(`--url ${url} is no HTTP address.`)
  const server = new McpServer(
    { name: 'clusterd', version: SERVICE_VERSION },
    { instructions: MCP_INSTRUCTIONS },
  )
  const clients = { mainnet: new Client({ url }), testnet: new Client({ url, testnet: true }) }
  for (const [name, { description, input, answer }] of Object.entries(MCP_TOOLS) as [
    string,
    McpTool<z.ZodRawShape>,
  ][]) {
    const config = {
      description,
      // an unknown argument is an error: if it were ignored, an agent would misunderstand the answer
      inputSchema: z.strictObject({ ...input, testnet: testnetSchema }),
      annotations: { readOnlyHint: true },
    }
    server.registerTool(name, config, async (args, { signal }) =>
      toolResult(answer(clients[args.testnet ? 'testnet' : 'mainnet'], args, signal), url),
    )
  }
  await server.connect(new StdioServerTransport())
}

/** A tool's result. A ClusterdError, such as an error response, becomes an error result. Other errors are thrown. */
const toolResult = (answer: Promise<unknown>, url: string): Promise<CallToolResult> =>
  answer.then(
    (value) => ({ content: [{ type: 'text', text: JSON.stringify(value, replaceBigintByText) }] }),
    (error: unknown) => {
      if (!(error instanceof ClusterdError)) throw error
      const advice = error.code === 'network' ? ` Is --url ${url} right?` : ''
      return { isError: true, content: [{ type: 'text', text: errorResponseText(error) + advice }] }
    },
  )

/** Text of an error: `code: message`, then the response's other fields as JSON, such as the names that are taken. */
function errorResponseText({ code, message, body }: ClusterdError): string {
  const { status, error, message: _, ...facts } = Object(body) as Record<string, unknown>
  return `${code}: ${message}${Object.keys(facts).length > 0 ? ` ${JSON.stringify(facts)}` : ''}`
}
