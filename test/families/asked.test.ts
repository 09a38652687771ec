import { join, relative } from 'node:path'
import ts from 'typescript'
import { expect, it } from 'vitest'
import { ROOT } from '../../scripts/files.js'

const FACTS = join(ROOT, 'src/registry/families.ts')
/** Edits of src/registry/families.ts that add one more family, with its own form of addresses and transaction ids. */
const EDITS = [
  ['PAYER_ADDRESS_TYPE_NAMES = {', "PAYER_ADDRESS_TYPE_NAMES = { added: 'Added',"],
  [
    'const FAMILIES = {',
    "const ADDED = { ...SOLANA, key: 'added', name: 'Added', label: 'added', addressType: 'added', txIdForm: 'added' } as const\nconst FAMILIES = { added: ADDED,",
  ],
] as const

/** Files of a folder that no longer compile with the edits, under a tsconfig. */
function askedFiles(config: string, folder: string): string[] {
  const file = join(ROOT, config)
  const read = ts.parseJsonConfigFileContent(
    ts.readConfigFile(file, ts.sys.readFile).config,
    ts.sys,
    join(file, '..'),
  )
  const options = { ...read.options, incremental: false, tsBuildInfoFile: undefined }
  const host = ts.createCompilerHost(options)
  const { readFile } = host
  host.readFile = (path) => {
    const text = readFile.call(host, path)
    if (path !== FACTS || text === undefined) return text
    return EDITS.reduce((edited, [from, to]) => {
      expect(edited).toContain(from)
      return edited.replace(from, to)
    }, text)
  }
  const roots = read.fileNames.filter(
    (name) => name.startsWith(join(ROOT, folder)) && !/\.test\.tsx?$/.test(name),
  )
  const program = ts.createProgram(roots, options, host)
  const files = program
    .getSemanticDiagnostics()
    .map(({ file: at }) => relative(ROOT, at?.fileName ?? ''))
  return [...new Set(files)].sort()
}

/** src/client/families.ts is missing here: its types come from the family's route, after `npm run generate`. */
it('the type check fails at every table in which a new family has no row', () => {
  expect(askedFiles('tsconfig.json', 'src')).toEqual([
    'src/api/families/index.ts',
    'src/cli/families.ts',
    'src/config/nonEvmSections.ts',
    'src/daemon/families/index.ts',
    'src/registry/forms/index.ts',
    'src/testing/families.ts',
  ])
  expect(askedFiles('src/web/page/tsconfig.json', 'src/web/page')).toEqual([])
}, 300_000)
