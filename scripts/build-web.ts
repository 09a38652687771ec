/**
 * Bundles src/web/page (HTML, CSS, TSX for the browser) into one module from which the API serves the pages: what all
 * pages need in one file, each lazy part in a separate file. `npm run generate` writes the module to src/web/generated.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { build } from 'esbuild'
import { toFunctionSelector } from 'viem'
import { airdropDistributorAbi } from '../contracts/evm/artifacts/AirdropDistributor.js'
import { communityPaymentsAbi } from '../contracts/evm/artifacts/CommunityPayments.js'
import { hubAbi } from '../contracts/evm/artifacts/Hub.js'
import { spokeAbi } from '../contracts/evm/artifacts/Spoke.js'
import { EVENTS } from '../src/registry/journal/eventTypes.js'
import { solanaAccounts } from '../src/testing/solana/accounts.js'
import { worldEvmAccounts } from '../src/testing/world.js'
import { CONTRACT_ERROR_TEXTS } from '../src/web/contractErrors.js'
import { guidePages } from './build-guides.js'

const PAGE = join(import.meta.dirname, '../src/web/page')
/** Licence notice for the libraries in the bundle, whose sources have none. */
const NOTICE =
  '/* Preact, preact-iso: MIT licence, (c) 2015-present Jason Miller, the Preact team */'

const EVENT_TEXTS = Object.fromEntries(
  Object.entries(EVENTS).map(([type, { sentence, tone }]) => [type, { sentence, tone }]),
)

/** Sentence for each error of the contracts that the pages call, by its selector. */
const CONTRACT_ERRORS = Object.fromEntries(
  [hubAbi, spokeAbi, communityPaymentsAbi, airdropDistributorAbi].flatMap((abi) =>
    abi.flatMap((item) =>
      item.type === 'error'
        ? [
            [
              toFunctionSelector(`${item.name}(${item.inputs.map(({ type }) => type).join()})`),
              CONTRACT_ERROR_TEXTS[item.name] ?? `The contract refuses it (${item.name}).`,
            ],
          ]
        : [],
    ),
  ),
)

/** Every file that the pages load: name in the browser, and content. */
async function assets(): Promise<Record<string, string>> {
  const { outputFiles } = await build({
    entryPoints: ['main.tsx', 'reference.ts', 'style.css', 'guide.css'].map((file) =>
      join(PAGE, file),
    ),
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    target: ['es2022', 'chrome111', 'safari16.4'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    charset: 'utf8',
    define: {
      EVENT_TEXTS: JSON.stringify(EVENT_TEXTS),
      // a text stays in the part that uses it, while an object would be loaded with every page
      CONTRACT_ERRORS: JSON.stringify(JSON.stringify(CONTRACT_ERRORS)),
    },
    banner: { js: NOTICE },
    outdir: PAGE,
    chunkNames: '[name]-[hash]',
    write: false,
    logLevel: 'error',
  })
  return Object.fromEntries(outputFiles.map(({ path, text }) => [basename(path), text]))
}

/** Text of the module with the pages' files. @param testWallet text of the test wallet's module, hashed too */
export async function generateWeb(testWallet: string): Promise<string> {
  const files = await assets()
  // the hash is in the files' addresses, so that browsers may cache them for ever
  const hash = createHash('sha256')
    .update(JSON.stringify(files) + testWallet)
    .digest('hex')
    .slice(0, 12)
  const htmlOf = (file: string) =>
    readFileSync(join(PAGE, file), 'utf8').replaceAll('{assets}', `/assets/${hash}`)
  const guides = guidePages(htmlOf('guide.html'))
  return [
    '// Generated from src/web/page by `npm run generate`; not to be edited.\n',
    `export const build = '${hash}'\n`,
    `export const html = ${JSON.stringify(htmlOf('index.html'))}\n`,
    `export const guides: Record<string, string> = ${JSON.stringify(guides, null, 2)}\n`,
    `export const files: Record<string, string> = ${JSON.stringify(files, null, 2)}\n`,
  ].join('\n')
}

/** Text of the module with the test wallet, which only the daemon of a local world loads. */
export async function generateTestWallet(): Promise<string> {
  const accounts = {
    // the chains' nodes sign for these
    evm: worldEvmAccounts().map(({ address }) => ({ address })),
    solana: solanaAccounts(),
  }
  const { outputFiles } = await build({
    entryPoints: [join(PAGE, 'testWallet/index.ts')],
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    charset: 'utf8',
    legalComments: 'none',
    define: { ACCOUNTS: JSON.stringify(accounts) },
    write: false,
    logLevel: 'error',
  })
  return [
    '// Generated from src/web/page/testWallet by `npm run generate`; not to be edited.\n',
    `export const testWallet = ${JSON.stringify(outputFiles[0]!.text)}\n`,
  ].join('\n')
}
