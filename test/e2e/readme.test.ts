import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { getAddress } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { buildClientPackage } from '../../scripts/client-package.js'
import { fundAddresses } from '../../src/testing/chains/localClients.js'
import { useFolder } from '../support/folder.js'
import { install } from '../support/installed.js'
import { world } from '../support/world.js'

const folder = useFolder()
beforeAll(async () => {
  await install(folder, ['viem', '@solana/web3.js', 'bs58', '@clustersxyz/sdk'])
  await buildClientPackage(join(folder, 'node_modules/clusterd-client'))
})

/** The code block of a language that is marked as run by a test. */
const blockOf = (file: string, language: string): string => {
  const marked =
    readFileSync(file, 'utf8').split(`<!-- a test runs this block -->\n\`\`\`${language}\n`)[1] ??
    ''
  return marked.split('```')[0]!
}

/** Runs JavaScript as a module in a folder where this package is installed. @returns its lines of output */
function run(code: string): string[] {
  const own = code.replace('.clusterd/stack.json', `${inject('home')}/stack.json`)
  const options = { cwd: folder, encoding: 'utf8' } as const
  return execFileSync(process.execPath, ['--input-type=module', '-e', own], options)
    .trim()
    .split('\n')
}

const README = readFileSync('README.md', 'utf8')
/** Answers of a block of JSON with a comment before each. */
const answersIn = (block: string): unknown[] =>
  block
    .split(/^\/\/.*$/m)
    .slice(1)
    .map((text) => JSON.parse(text))

/** A time in an answer, such as `2026-11-30 19:59:19+00`. */
const TIME = /^\d{4}-\d\d-\d\d /
/** Least number of milliseconds since 1970 that a document shows. */
const YEAR_2001_MS = 1e12

/**
 * Paths at which an answer does not have what a document shows: exactly these fields, and equal values. Of a text that
 * ends in … the beginning is compared, of a time the form.
 */
function differences(shown: unknown, real: unknown, at = ''): string[] {
  if (isRecord(shown) && isRecord(real)) {
    const fields = new Set([...Object.keys(shown), ...Object.keys(real)])
    return [...fields].flatMap((field) => differences(shown[field], real[field], `${at}.${field}`))
  }
  return isAsShown(shown, real) ? [] : [at]
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

function isAsShown(shown: unknown, real: unknown): boolean {
  if (typeof shown === 'number' && shown > YEAR_2001_MS) return typeof real === 'number'
  if (typeof shown !== 'string' || typeof real !== 'string') return shown === real
  if (shown.endsWith('…')) return real.startsWith(shown.slice(0, -1))
  const form = (text: string) => text.replaceAll(/\d/g, '0')
  return TIME.test(shown) ? form(shown) === form(real) : shown === real
}

/** The blocks of the README after a mark. */
const blocksAfter = (mark: string): string[] =>
  README.split(`<!-- ${mark} -->\n`)
    .slice(1)
    .map((text) => text.split('```')[1]!.replace(/^\w+\n/, ''))

describe('the requests of the README', () => {
  it('get its answers in the local world', () => {
    const { finalized, lost } = world().seeds.mainnet!.tx
    const ofWorld = (text: string) =>
      text
        .replaceAll('http://127.0.0.1:3000', world().api)
        .replaceAll(/0xe749d0\w+/g, lost)
        .replaceAll(/0xdc02…/g, finalized)
    const requests = blocksAfter('a test runs this block').map(ofWorld)
    const answers = blocksAfter('a test compares this answer').map(ofWorld)
    expect(answers).toHaveLength(2)
    expect(requests).toHaveLength(2)
    for (const [i, request] of requests.entries()) {
      const out = execFileSync('bash', ['-euc', request], { encoding: 'utf8' })
      expect(JSON.parse(out)).toMatchObject(JSON.parse(answers[i]!))
    }
  })
})

describe('the first requests of docs/use/local-world.md', () => {
  it('run unchanged in the local world', () => {
    const script = blockOf('docs/use/local-world.md', 'sh').replace(
      /^API=.*$/m,
      `API=${world().api}`,
    )
    expect(script.match(/^curl /gm)?.length).toBe(8)
    const curl = 'curl() { command curl --fail-with-body "$@"; printf "\\n"; }'
    const out = execFileSync('bash', ['-euc', `${curl}\n${script}`], { encoding: 'utf8' })
    const answers = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const marked = '<!-- a test compares these answers -->\n```jsonc\n'
    const page = readFileSync('docs/use/local-world.md', 'utf8')
    const shown = answersIn(page.split(marked)[1]!.split('```')[0]!)
    expect(shown).toHaveLength(answers.length)
    expect(differences(shown, answers)).toEqual([])
  })
})

describe('the lines of docs/use/local-world.md that resolve a name', () => {
  it('run unchanged in the local world', () => {
    const imports =
      "import { readFileSync } from 'node:fs'; import { createPublicClient, http } from 'viem';"
    expect(run(imports + blockOf('docs/use/local-world.md', 'js'))).toEqual([
      getAddress(world().seeds.mainnet!.owner),
    ])
  })
})

describe('the world of docs/use/contract-authors.md', () => {
  it('starts and ends with the unchanged code', () => {
    expect(run(blockOf('docs/use/contract-authors.md', 'javascript'))[0]).toMatch(
      /^http:\/\/127\.0\.0\.1:\d+ 0x[0-9a-f]{40}$/,
    )
  })
})

describe('the quick start of docs/use/client.md', () => {
  it('runs unchanged in the local world', async () => {
    // a new account, because other tests send from the world's accounts
    const key = generatePrivateKey()
    const { hub } = world().networks.mainnet
    await fundAddresses(hub, [privateKeyToAccount(key).address])
    const code = blockOf('docs/use/client.md', 'js').replace('http://127.0.0.1:3000', world().api)
    const out = run(code.replace('world.accounts.evm[1].privateKey', `'${key}'`))
    expect(out[0]).toBe('seedling has 1 wallet')
    expect(out[1]).toMatch(/^quick-\d+ is finalized$/)
    expect(out.at(-2)).toMatch(/^quick-\d+ was registered; true$/)
    expect(out.at(-1)).toBe('true')
  })
})

describe('the payment on Solana of docs/use/client.md', () => {
  it('runs unchanged in the local world', async ({ skip }) => {
    skip(!world().networks.mainnet.solana, 'Surfpool has no package for this machine')
    const code = blockOf('docs/use/client.md', 'javascript')
    const out = run(code.replace('http://127.0.0.1:3000', world().api))
    expect(out.at(-1)).toMatch(/^sol-\d+ is finalized$/)
  })
})

describe('the redirected client of docs/use/interface-v0.1.md', () => {
  it('asks the local world', () => {
    const code = blockOf('docs/use/interface-v0.1.md', 'js')
    expect(run(code.replace('http://127.0.0.1:3000', world().api))).toEqual(['seedling/main'])
  })
})
