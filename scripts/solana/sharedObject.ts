import { SECTION_TYPE } from './elf.js'
import type { Linked } from './link.js'

const ELF_HEADER_BYTES = 64
const PROGRAM_HEADER_BYTES = 56
const SECTION_HEADER_BYTES = 64
const SYMBOL_BYTES = 24
const ENTRY_BYTES = 16
const TEXT_ADDRESS = ELF_HEADER_BYTES + 3 * PROGRAM_HEADER_BYTES

const ELF = { MAGIC: '7f454c46020101', TYPE_SHARED: 3, MACHINE_BPF: 247, VERSION: 1 }
const SEGMENT = { LOAD: 1, DYNAMIC: 2 }
const SEGMENT_FLAGS = { READ: 4, READ_EXECUTE: 5 }
const DYNAMIC_TAG = { NULL: 0, STRTAB: 5, SYMTAB: 6, STRSZ: 10, REL: 17, RELSZ: 18, RELENT: 19 }
const SECTION_FLAGS = { ALLOC: 2, ALLOC_EXECUTE: 6, ALLOC_WRITE: 3 }
/** Relocations of the loader: R_BPF_64_RELATIVE moves an address, R_BPF_64_32 names a call's target. */
const LOADER_RELOCATION = { RELATIVE: 8n, CALL: 10n }
const GLOBAL = 0x10
const GLOBAL_FUNCTION = 0x12

/** A part of the file, loaded at its file offset. */
interface Part {
  name: string
  type: number
  flags: number
  address: number
  data: Buffer
  link?: number
  info?: number
  entryBytes?: number
  align?: number
}

/** Sections in the file's order; the index is the section number. */
const NUMBER = { text: 1, rodata: 2, dynamic: 3, dynsym: 4, dynstr: 5, rel: 6, shstrtab: 7 }

/** Writes the ELF file: headers, code, data, dynamic relocations, section headers. */
export function writeSharedObject(place: (textAddress: number) => Linked): Buffer {
  const linked = place(TEXT_ADDRESS)
  const parts = layOut(linked)
  const names = Buffer.from(
    `\0${parts.map(({ name }) => `${name}\0`).join('')}.shstrtab\0`,
    'latin1',
  )
  const namesAddress = endOf(parts)
  parts.push({
    name: '.shstrtab',
    type: SECTION_TYPE.STRTAB,
    flags: 0,
    address: namesAddress,
    data: names,
    align: 1,
  })
  const headersAddress = align8(endOf(parts))
  const file = Buffer.alloc(headersAddress + (parts.length + 1) * SECTION_HEADER_BYTES)
  for (const { address, data } of parts) data.copy(file, address)
  writeElfHeader(file, TEXT_ADDRESS + linked.entry, headersAddress, parts.length + 1)
  writeProgramHeaders(file, parts)
  for (const [index, part] of parts.entries()) {
    writeSectionHeader(
      file,
      headersAddress + (index + 1) * SECTION_HEADER_BYTES,
      part,
      names.indexOf(`\0${part.name}\0`) + 1,
    )
  }
  return file
}

function layOut({ text, rodata, addresses, syscalls, entry }: Linked): Part[] {
  const called = [...new Set(syscalls.map(({ name }) => name))]
  const strings = Buffer.from(
    `\0${called.map((name) => `${name}\0`).join('')}entrypoint\0`,
    'latin1',
  )
  const nameAt = (name: string) => strings.indexOf(`\0${name}\0`) + 1
  const symbols = Buffer.concat([
    Buffer.alloc(SYMBOL_BYTES),
    ...called.map((name) => symbol(nameAt(name), GLOBAL, 0, 0)),
    symbol(nameAt('entrypoint'), GLOBAL_FUNCTION, NUMBER.text, TEXT_ADDRESS + entry),
  ])
  const relocations = Buffer.concat(
    [
      ...addresses.map((offset) => ({ offset, info: LOADER_RELOCATION.RELATIVE })),
      ...syscalls.map(({ offset, name }) => ({
        offset,
        info: (BigInt(called.indexOf(name) + 1) << 32n) | LOADER_RELOCATION.CALL,
      })),
    ]
      .sort((a, b) => a.offset - b.offset)
      .map(({ offset, info }) => words(BigInt(TEXT_ADDRESS + offset), info)),
  )
  const rodataAddress = TEXT_ADDRESS + text.length
  const dynamicAddress = align8(rodataAddress + rodata.length)
  const symbolsAddress = dynamicAddress + 7 * ENTRY_BYTES
  const stringsAddress = symbolsAddress + symbols.length
  const relocationsAddress = align8(stringsAddress + strings.length)
  const dynamic = Buffer.concat(
    [
      [DYNAMIC_TAG.REL, relocationsAddress],
      [DYNAMIC_TAG.RELSZ, relocations.length],
      [DYNAMIC_TAG.RELENT, ENTRY_BYTES],
      [DYNAMIC_TAG.SYMTAB, symbolsAddress],
      [DYNAMIC_TAG.STRTAB, stringsAddress],
      [DYNAMIC_TAG.STRSZ, strings.length],
      [DYNAMIC_TAG.NULL, 0],
    ].map(([tag, value]) => words(BigInt(tag!), BigInt(value!))),
  )
  const { PROGBITS, DYNAMIC, DYNSYM, STRTAB, REL } = SECTION_TYPE
  const { ALLOC, ALLOC_EXECUTE, ALLOC_WRITE } = SECTION_FLAGS
  return [
    { name: '.text', type: PROGBITS, flags: ALLOC_EXECUTE, address: TEXT_ADDRESS, data: text },
    { name: '.rodata', type: PROGBITS, flags: ALLOC, address: rodataAddress, data: rodata },
    ...[
      {
        name: '.dynamic',
        type: DYNAMIC,
        flags: ALLOC_WRITE,
        address: dynamicAddress,
        data: dynamic,
        link: NUMBER.dynstr,
        entryBytes: ENTRY_BYTES,
      },
      {
        name: '.dynsym',
        type: DYNSYM,
        flags: ALLOC,
        address: symbolsAddress,
        data: symbols,
        link: NUMBER.dynstr,
        info: 1,
        entryBytes: SYMBOL_BYTES,
      },
      {
        name: '.dynstr',
        type: STRTAB,
        flags: ALLOC,
        address: stringsAddress,
        data: strings,
        align: 1,
      },
      {
        name: '.rel.dyn',
        type: REL,
        flags: ALLOC,
        address: relocationsAddress,
        data: relocations,
        link: NUMBER.dynsym,
        entryBytes: ENTRY_BYTES,
      },
    ],
  ]
}

const align8 = (address: number): number => Math.ceil(address / 8) * 8

const endOf = (parts: readonly Part[]): number => {
  const { address, data } = parts.at(-1)!
  return address + data.length
}

function words(...values: bigint[]): Buffer {
  const bytes = Buffer.alloc(8 * values.length)
  for (const [index, value] of values.entries()) bytes.writeBigUInt64LE(value, 8 * index)
  return bytes
}

function symbol(name: number, info: number, section: number, value: number): Buffer {
  const bytes = Buffer.alloc(SYMBOL_BYTES)
  bytes.writeUInt32LE(name, 0)
  bytes.writeUInt8(info, 4)
  bytes.writeUInt16LE(section, 6)
  bytes.writeBigUInt64LE(BigInt(value), 8)
  return bytes
}

function writeElfHeader(
  file: Buffer,
  entry: number,
  sectionHeaders: number,
  sectionCount: number,
): void {
  file.write(ELF.MAGIC, 0, 'hex')
  file.writeUInt16LE(ELF.TYPE_SHARED, 16)
  file.writeUInt16LE(ELF.MACHINE_BPF, 18)
  file.writeUInt32LE(ELF.VERSION, 20)
  file.writeBigUInt64LE(BigInt(entry), 24)
  file.writeBigUInt64LE(BigInt(ELF_HEADER_BYTES), 32) // program headers
  file.writeBigUInt64LE(BigInt(sectionHeaders), 40)
  // flags at 48 stay 0: SBPF version 0
  const sizes = [
    ELF_HEADER_BYTES,
    PROGRAM_HEADER_BYTES,
    3,
    SECTION_HEADER_BYTES,
    sectionCount,
    NUMBER.shstrtab,
  ]
  for (const [index, value] of sizes.entries()) file.writeUInt16LE(value, 52 + 2 * index)
}

function writeProgramHeaders(file: Buffer, parts: readonly Part[]): void {
  const end = (part: Part) => part.address + part.data.length
  const [text, rodata, dynamic, , , relocations] = parts as [
    Part,
    Part,
    Part,
    Part,
    Part,
    Part,
    Part,
  ]
  const segments = [
    { type: SEGMENT.LOAD, flags: SEGMENT_FLAGS.READ_EXECUTE, from: text.address, to: end(rodata) },
    { type: SEGMENT.LOAD, flags: SEGMENT_FLAGS.READ, from: dynamic.address, to: end(relocations) },
    { type: SEGMENT.DYNAMIC, flags: SEGMENT_FLAGS.READ, from: dynamic.address, to: end(dynamic) },
  ]
  for (const [index, { type, flags, from, to }] of segments.entries()) {
    const at = ELF_HEADER_BYTES + index * PROGRAM_HEADER_BYTES
    file.writeUInt32LE(type, at)
    file.writeUInt32LE(flags, at + 4)
    const address = BigInt(from)
    const size = BigInt(to - from)
    words(address, address, address, size, size, 8n).copy(file, at + 8)
  }
}

function writeSectionHeader(file: Buffer, at: number, part: Part, nameOffset: number): void {
  const { type, flags, address, data, link = 0, info = 0, align = 8, entryBytes = 0 } = part
  file.writeUInt32LE(nameOffset, at)
  file.writeUInt32LE(type, at + 4)
  words(
    BigInt(flags),
    flags === 0 ? 0n : BigInt(address),
    BigInt(address),
    BigInt(data.length),
  ).copy(file, at + 8)
  file.writeUInt32LE(link, at + 40)
  file.writeUInt32LE(info, at + 44)
  words(BigInt(align), BigInt(entryBytes)).copy(file, at + 48)
}
