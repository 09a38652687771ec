/**
 * Generates the code that is not checked in, where it is missing or older than its sources: the alarms' remedies
 * (src/ops/generated), the row types of Prisma's schema (src/db/generated), the OpenAPI documents with the client's types
 * (src/client/generated) and the pages' files (src/web/generated). vitest.config.ts and the scripts of package.json run
 * it first. With `--programs` also a build of all sources (dist-dev), from which processes start with a third of the
 * processor time that tsx takes.
 *
 *   tsx scripts/generate.ts [--programs]
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { lockFile } from '../src/testing/processes/files.js'
import { buildPrograms, sourcesOfPrograms } from './build-programs.js'
import { filesIn, ROOT } from './files.js'

/** Time limit of a wait for another process that generates the same output. */
const WAIT_MS = 120_000

interface Output {
  readonly folder: string
  /** Files whose content decides the output. */
  readonly sources: readonly string[]
  /**
   * True if processes run programs from the folder. A new version then replaces the folder, and older versions are
   * deleted a day later.
   */
  readonly isRun?: boolean
  make(folder: string): void | Promise<void>
}

const OUTPUTS: readonly Output[] = [
  {
    folder: 'src/ops/generated',
    sources: ['examples/prometheus/alerts.yml', 'scripts/alarms.ts'],
    make: async (folder) => {
      const { remediesModule } = await import('./alarms.js')
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, 'remedies.ts'), remediesModule())
    },
  },
  {
    folder: 'src/db/generated',
    sources: ['prisma/schema.prisma', 'prisma.config.ts', 'node_modules/prisma/package.json'],
    make: () => {
      const command = [
        '--require',
        './scripts/withoutStudio.cjs',
        'node_modules/prisma/build/index.js',
        'generate',
      ]
      execFileSync(process.execPath, command, { cwd: ROOT, stdio: ['ignore', 'ignore', 'pipe'] })
    },
  },
  {
    folder: 'src/web/generated',
    sources: [
      ...filesIn('src/web/page'),
      ...filesIn('docs/use'),
      'scripts/build-web.ts',
      'scripts/build-guides.ts',
      'scripts/lint/documents.ts',
      // the pages call the API by the client's transport
      ...filesIn('src/client').filter((file) => !/generated|\.test\.ts$/.test(file)),
      'src/registry/families.ts',
      'src/registry/invalidReasons.ts',
      'src/registry/journal/eventTypes.ts',
      'src/registry/primitives/nameRule.ts',
      'src/web/paths.ts',
      'src/web/facts.ts',
      'src/web/contractErrors.ts',
      ...['AirdropDistributor', 'CommunityPayments', 'Hub', 'Spoke'].map(
        (contract) => `contracts/evm/artifacts/${contract}.js`,
      ),
      'node_modules/preact/package.json',
      'node_modules/marked/package.json',
    ],
    make: async (folder) => {
      const { generateTestWallet, generateWeb } = await import('./build-web.js')
      mkdirSync(folder, { recursive: true })
      const testWallet = await generateTestWallet()
      writeFileSync(join(folder, 'assets.ts'), await generateWeb(testWallet))
      writeFileSync(join(folder, 'testWallet.ts'), testWallet)
    },
  },
  // this output's script loads the API, which serves the pages generated above
  {
    folder: 'src/client/generated',
    sources: [
      ...['api', 'registry'].flatMap((room) =>
        filesIn(`src/${room}`).filter((file) => !file.endsWith('.test.ts')),
      ),
      ...['openapi', 'client-types'].map((script) => `scripts/${script}.ts`),
      'node_modules/openapi-typescript/package.json',
    ],
    make: async (folder) => {
      mkdirSync(folder, { recursive: true })
      execFileSync(process.execPath, ['--import', 'tsx', 'scripts/openapi.ts'], {
        cwd: ROOT,
        stdio: 'inherit',
      })
      const { clientTypes } = await import('./client-types.js')
      for (const [version, document] of Object.entries({ v1: 'openapi', 'v0.1': 'openapi-v0.1' })) {
        const text = readFileSync(join(folder, `${document}.json`), 'utf8')
        writeFileSync(
          join(folder, `${version}.ts`),
          await clientTypes(JSON.parse(text), version === 'v0.1'),
        )
      }
    },
  },
]

/** The pages of `/docs`, from the documents that were generated above. */
const referencePages: Output = {
  folder: 'src/web/reference/generated',
  sources: [
    ...['openapi', 'openapi-v0.1'].map((document) => `src/client/generated/${document}.json`),
    ...filesIn('scripts/reference'),
    'src/web/page/guide.html',
  ],
  make: async (folder) => {
    const { referenceModule } = await import('./reference/pages.js')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'contents.ts'), referenceModule())
  },
}

/** Build that `npm run dev` and `npm run clusterd` run. Made last, because its sources include the other outputs. */
const programs = (): Output => ({
  folder: 'dist-dev',
  sources: [
    ...sourcesOfPrograms(),
    ...['build-programs', 'bundle'].map((script) => `scripts/${script}.ts`),
    'package-lock.json',
  ],
  isRun: true,
  make: buildPrograms,
})

/** Generates missing and stale outputs. If all are current, only their sources are read. */
export async function generate(): Promise<void> {
  for (const output of [...OUTPUTS, referencePages]) await bringUpToDate(output)
}

/** Makes an output unless it is current. Of several processes, the first makes the output and the others wait. */
async function bringUpToDate(output: Output): Promise<void> {
  const hash = createHash('sha256')
  for (const source of output.sources)
    hash.update(`${source}\0`).update(readFileSync(join(ROOT, source)))
  const current = hash.digest('hex')
  const stamp = join(ROOT, output.folder, 'sources.sha256')
  const isCurrent = () => existsSync(stamp) && readFileSync(stamp, 'utf8') === current
  if (isCurrent()) return
  const lock = await lockFile(
    join(ROOT, 'node_modules/.cache', `${output.folder.replaceAll('/', '-')}.lock`),
    WAIT_MS,
  )
  try {
    if (isCurrent()) return
    // stderr, because commands print JSON on stdout
    console.error(`making ${output.folder} ...`)
    await renew(output, stamp)
    writeFileSync(stamp, current)
  } finally {
    lock.release()
  }
}

async function renew({ folder, isRun, make }: Output, stamp: string): Promise<void> {
  rmSync(isRun ? stamp : join(ROOT, folder), { recursive: true, force: true })
  await make(join(ROOT, folder))
  if (isRun) for (const file of filesIn(folder)) removeOld(join(ROOT, file))
}

const DAY_MS = 86_400_000

function removeOld(file: string): void {
  if (Date.now() - statSync(file).mtimeMs > DAY_MS) rmSync(file)
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await generate()
  if (process.argv.includes('--programs')) await bringUpToDate(programs())
}
