import { describe, expect, it } from 'vitest'
import { wideComments } from '../scripts/figures/comments.js'
import { functionsOf } from '../scripts/figures/functions.js'
import { cyclesOf, groupsOf, importsOf } from '../scripts/figures/imports.js'
import { parse } from '../scripts/figures/tree.js'

const file = (path: string, text: string) => ({ path, text, lines: text.split('\n').length - 1 })
const WIDE = 'x'.repeat(120)

describe('functionsOf', () => {
  it('measures declared and named functions, not one-line callbacks', () => {
    const text = `function a(b, c) {
  return [b].map((x) => x + c)
}
const d = (e) => e
class F {
  constructor() {}
  g() {
    return [1].map((x) => {
      return x
    })
  }
}
`
    const measured = functionsOf(parse(file('f.ts', text)))
    expect(measured).toEqual([
      { place: 'f.ts:1 a', lines: 3, parameters: 2 },
      { place: 'f.ts:4 d', lines: 1, parameters: 1 },
      { place: 'f.ts:6 constructor', lines: 1, parameters: 0 },
      { place: 'f.ts:7 g', lines: 5, parameters: 0 },
      { place: 'f.ts:8 (anonymous)', lines: 3, parameters: 1 },
    ])
  })
})

describe('wideComments', () => {
  it.each([
    ['a.ts', `// ${WIDE}\n`],
    ['a.ts', `/**\n * ${WIDE}\n */\nconst a = 1\n`],
    ['a.ts', `const a = 1 // ${WIDE}\n`],
    ['a.ts', `export {}\n// ${WIDE}\n`],
    ['a.sol', `/// ${WIDE}\n`],
    ['a.sql', `  -- ${WIDE}\n`],
  ])('finds the one in %s: %.20s', (path, text) => {
    expect(wideComments(file(path, text))).toHaveLength(1)
  })

  it.each([
    ['a.ts', `const a = '// ${WIDE}'\n`],
    ['a.ts', `const a = \`\n// ${WIDE}\n\`\n`],
    ['a.ts', `// ${WIDE.slice(3)}\n`],
    ['a.sql', `SELECT '${WIDE}'\n`],
    ['a.md', `${WIDE}x\n`],
  ])('finds none in %s: %.20s', (path, text) => {
    expect(wideComments(file(path, text))).toEqual([])
  })
})

describe('imports', () => {
  const imports = importsOf(
    [
      file('src/a/x/one.ts', "import { y } from '../y.js'\nimport { z } from 'zod'\n"),
      file('src/a/y.ts', "import type { One } from './x/one.js'\n"),
      file('src/a/z.ts', "const y = await import('./y.js')\nexport * from '../b.js'\n"),
      file('src/b.ts', 'export {}\n'),
    ].map(parse),
  )

  it('groups a folder by its direct children', () => {
    expect(groupsOf(imports, 'src/a')).toEqual({ groups: ['x', 'y', 'z'], edges: ['x → y', 'y → x', 'z → y'] })
  })

  it('finds circles of types too', () => {
    expect(cyclesOf(imports)).toEqual([['src/a/x/one.ts', 'src/a/y.ts']])
  })
})
