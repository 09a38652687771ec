/**
 * Links one BPF object into the shared object that Solana's loaders accept as SBPF version 0: code, then read-only
 * data, each section's address equal to its file offset, syscalls and addresses left to the loader as dynamic
 * relocations. The loader's side is solana-sbpf, `elf.rs`.
 */
import {
  type ObjectFile,
  type ObjectSymbol,
  readObject,
  SECTION_FLAG,
  type Section,
} from './elf.js'
import { writeSharedObject } from './sharedObject.js'

const ENTRYPOINT = 'entrypoint'
const INSTRUCTION_BYTES = 8
/** Relocations that LLVM writes for BPF. */
const OBJECT_RELOCATION = { LOAD_64: 1, ABSOLUTE_64: 2, CALL: 10 } as const
/** Offset of the immediate in an instruction; a 64-bit load has its upper half in the next instruction. */
const IMMEDIATE_OFFSET = 4
const UPPER_IMMEDIATE_OFFSET = 12
const LEFT_TO_THE_LOADER = -1

/** A linked program before its file is written. */
export interface Linked {
  text: Buffer
  rodata: Buffer
  /** Offsets from the start of `text` (`rodata` follows) of addresses that the loader relocates. */
  addresses: number[]
  /** Offsets in `text` of syscalls. */
  syscalls: { offset: number; name: string }[]
  /** Entry point as an offset in `text`. */
  entry: number
}

/**
 * @param object output of `llc -march=bpfel -filetype=obj`
 * @param mayCall names of the allowed syscalls
 * @throws on writable data, a call of something that is not a syscall, or an unknown kind of relocation
 */
export function link(object: Buffer, mayCall: ReadonlySet<string>): Buffer {
  return writeSharedObject((base) => place(readObject(object), base, mayCall))
}

function place(object: ObjectFile, base: number, mayCall: ReadonlySet<string>): Linked {
  const { offsets, text, rodata } = layOut(object.sections)
  const image = Buffer.concat([text, rodata])
  const addresses: number[] = []
  const syscalls: Linked['syscalls'] = []
  const offsetOf = ({ name, section, value }: ObjectSymbol): number => {
    const start = offsets.get(section)
    if (start === undefined)
      throw new Error(`linking: ${name || 'a section'} is not part of the program`)
    return start + value
  }
  for (const [section, relocations] of object.relocations) {
    const start = offsets.get(section)
    if (start === undefined) continue // debug information
    for (const relocation of relocations) {
      const offset = start + relocation.offset
      const { type, symbol } = relocation
      if (type === OBJECT_RELOCATION.CALL && symbol.section === 0) {
        if (!mayCall.has(symbol.name))
          throw new Error(`linking: ${symbol.name} is neither in the program nor a syscall`)
        image.writeInt32LE(LEFT_TO_THE_LOADER, offset + IMMEDIATE_OFFSET)
        syscalls.push({ offset, name: symbol.name })
      } else if (type === OBJECT_RELOCATION.CALL) {
        relocateCall(image, offset, offsetOf(symbol), symbol.isSection)
      } else {
        relocateAddress(image, offset, type, base + offsetOf(symbol))
        addresses.push(offset)
      }
    }
  }
  const entry = object.symbols.find(({ name, section }) => name === ENTRYPOINT && section !== 0)
  if (!entry) throw new Error(`linking: the program has no function ${ENTRYPOINT}`)
  return {
    text: image.subarray(0, text.length),
    rodata: image.subarray(text.length),
    addresses,
    syscalls,
    entry: offsetOf(entry),
  }
}

/** Lays out code, then read-only data; gives each section's offset in the two together. */
function layOut(sections: readonly Section[]): {
  offsets: Map<number, number>
  text: Buffer
  rodata: Buffer
} {
  const offsets = new Map<number, number>()
  const loaded = [...sections.entries()].filter(([, { flags }]) => flags & SECTION_FLAG.ALLOC)
  const isCode = ([, { flags }]: [number, Section]) => (flags & SECTION_FLAG.EXECINSTR) !== 0
  const join = (parts: readonly [number, Section][], start: number): Buffer => {
    let end = start
    const pieces: Buffer[] = []
    for (const [index, section] of parts) {
      refuseWritable(section)
      const align = Math.max(section.align, INSTRUCTION_BYTES)
      const padding = (align - (end % align)) % align
      offsets.set(index, end + padding)
      pieces.push(Buffer.alloc(padding), section.data)
      end += padding + section.data.length
    }
    const tail = (INSTRUCTION_BYTES - (end % INSTRUCTION_BYTES)) % INSTRUCTION_BYTES
    return Buffer.concat([...pieces, Buffer.alloc(tail)])
  }
  const text = join(loaded.filter(isCode), 0)
  return {
    offsets,
    text,
    rodata: join(
      loaded.filter((one) => !isCode(one)),
      text.length,
    ),
  }
}

function refuseWritable({ name, flags, data }: Section): void {
  if (data.length === 0 || !(flags & SECTION_FLAG.WRITE) || name.startsWith('.data.rel.ro')) return
  throw new Error(
    `linking: ${name} is writable data, which a Solana program can't have; make it a constant`,
  )
}

/** Resolves a call within the program: the distance counts instructions, from the next one on. */
function relocateCall(image: Buffer, offset: number, target: number, isSection: boolean): void {
  // with a section's symbol the instruction holds the callee's distance from the section's start, less 1
  const inSection = isSection ? image.readInt32LE(offset + IMMEDIATE_OFFSET) + 1 : 0
  image.writeInt32LE(
    (target - offset) / INSTRUCTION_BYTES + inSection - 1,
    offset + IMMEDIATE_OFFSET,
  )
}

/** Writes an address into a 64-bit load, or into the upper half of a data word, where the loader reads it. */
function relocateAddress(image: Buffer, offset: number, type: number, address: number): void {
  if (type === OBJECT_RELOCATION.LOAD_64) {
    const low = image.readUInt32LE(offset + IMMEDIATE_OFFSET)
    const high = image.readUInt32LE(offset + UPPER_IMMEDIATE_OFFSET)
    image.writeUInt32LE(address + low + high * 2 ** 32, offset + IMMEDIATE_OFFSET)
    image.writeUInt32LE(0, offset + UPPER_IMMEDIATE_OFFSET)
  } else if (type === OBJECT_RELOCATION.ABSOLUTE_64) {
    const addend = Number(image.readBigUInt64LE(offset))
    image.writeUInt32LE(0, offset)
    image.writeUInt32LE(address + addend, offset + IMMEDIATE_OFFSET)
  } else {
    throw new Error(`linking: a relocation of kind ${type} at ${offset} is not known`)
  }
}
