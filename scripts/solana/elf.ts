/** Reads the 64-bit little-endian relocatable object that LLVM writes for BPF (System V ABI, chapter 4). */

export const SECTION_TYPE = {
  PROGBITS: 1,
  SYMTAB: 2,
  STRTAB: 3,
  DYNAMIC: 6,
  REL: 9,
  DYNSYM: 11,
} as const
export const SECTION_FLAG = { WRITE: 1, ALLOC: 2, EXECINSTR: 4 } as const

const HEADER = { SECTIONS: 0x28, SECTION_COUNT: 0x3c, NAMES_INDEX: 0x3e }
const SECTION_BYTES = 64
const SYMBOL_BYTES = 24
const RELOCATION_BYTES = 16
const SYMBOL_OF_SECTION = 3

export interface Section {
  name: string
  type: number
  flags: number
  align: number
  data: Buffer
  /** Index of the related section: the string table of symbols, the target of relocations. */
  link: number
  info: number
}

export interface ObjectSymbol {
  name: string
  /** Index of the symbol's section; 0: undefined. */
  section: number
  /** Offset in that section. */
  value: number
  isSection: boolean
}

interface Relocation {
  /** Offset in the section that is relocated. */
  offset: number
  type: number
  symbol: ObjectSymbol
}

export interface ObjectFile {
  sections: Section[]
  symbols: ObjectSymbol[]
  /** Relocations by the index of the changed section. */
  relocations: Map<number, Relocation[]>
}

/** @throws when the bytes are no relocatable object of the kind above */
export function readObject(bytes: Buffer): ObjectFile {
  if (bytes.readUInt32BE(0) !== 0x7f454c46)
    throw new Error('reading an object file: not an ELF file')
  const sections = readSections(bytes)
  const table = sections.find(({ type }) => type === SECTION_TYPE.SYMTAB)
  if (!table) throw new Error('reading an object file: it has no symbols')
  const symbols = readSymbols(table, sections[table.link]!.data)
  const relocations = new Map(
    sections
      .filter(({ type }) => type === SECTION_TYPE.REL)
      .map((section) => [section.info, readRelocations(section.data, symbols)]),
  )
  return { sections, symbols, relocations }
}

function readSections(bytes: Buffer): Section[] {
  const start = Number(bytes.readBigUInt64LE(HEADER.SECTIONS))
  const raw = Array.from({ length: bytes.readUInt16LE(HEADER.SECTION_COUNT) }, (_, index) => {
    const at = start + index * SECTION_BYTES
    const word = (offset: number) => Number(bytes.readBigUInt64LE(at + offset))
    return {
      nameOffset: bytes.readUInt32LE(at),
      type: bytes.readUInt32LE(at + 4),
      flags: word(8),
      data: bytes.subarray(word(24), word(24) + word(32)),
      link: bytes.readUInt32LE(at + 40),
      info: bytes.readUInt32LE(at + 44),
      align: Math.max(word(48), 1),
    }
  })
  const names = raw[bytes.readUInt16LE(HEADER.NAMES_INDEX)]!.data
  return raw.map(({ nameOffset, ...section }) => ({
    ...section,
    name: readName(names, nameOffset),
  }))
}

function readName(strings: Buffer, offset: number): string {
  return strings.toString('latin1', offset, strings.indexOf(0, offset))
}

function readSymbols({ data }: Section, strings: Buffer): ObjectSymbol[] {
  return Array.from({ length: data.length / SYMBOL_BYTES }, (_, index) => {
    const at = index * SYMBOL_BYTES
    return {
      name: readName(strings, data.readUInt32LE(at)),
      section: data.readUInt16LE(at + 6),
      value: Number(data.readBigUInt64LE(at + 8)),
      isSection: (data.readUInt8(at + 4) & 15) === SYMBOL_OF_SECTION,
    }
  })
}

function readRelocations(data: Buffer, symbols: readonly ObjectSymbol[]): Relocation[] {
  return Array.from({ length: data.length / RELOCATION_BYTES }, (_, index) => {
    const at = index * RELOCATION_BYTES
    return {
      offset: Number(data.readBigUInt64LE(at)),
      type: data.readUInt32LE(at + 8),
      symbol: symbols[data.readUInt32LE(at + 12)]!,
    }
  })
}
