import fc from 'fast-check'
import { expect, it } from 'vitest'
import { LONGEST_LINE, linesOf, parseLine } from './ndjson-lines.ts'

async function* cut(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer, void> {
  let at = 0
  for (let turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1
    yield bytes.subarray(at, at + size)
    at += size
  }
}

it('gives the same lines however the bytes are cut', async () => {
  const line = fc.oneof(
    fc.constantFrom('', ' ', '\t', '\r', '{}', 'é\u{1f600}'),
    fc.string({ unit: 'grapheme' }),
  )
  const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(fc.array(line), sizes, async (lines, chunks) => {
      const text = lines.join('\n')
      const expected = text
        .split('\n')
        .map((one, index) => ({ number: index + 1, text: one }))
        .filter((one) => Buffer.from(one.text).toString('latin1').trim() !== '')
      const found: { number: number; text: string }[] = []
      for await (const { number, bytes } of linesOf(cut(Buffer.from(text), chunks)))
        found.push({ number, text: bytes.toString() })
      expect(found).toEqual(expected)
    }),
  )
})

it.each([
  ['in one piece', LONGEST_LINE + 1],
  ['in pieces', 65_536],
])('takes a line as long as the largest document is, and none that is longer, %s', async (_what, size) => {
  const read = async (length: number) => {
    const bytes = Buffer.alloc(length, 'x')
    const lines: number[] = []
    for await (const line of linesOf(cut(Buffer.concat([bytes, Buffer.from('\n')]), [size])))
      lines.push(line.bytes.length)
    return lines
  }
  expect(await read(LONGEST_LINE)).toEqual([LONGEST_LINE])
  await expect(read(LONGEST_LINE + 1)).rejects.toThrow(
    /^Line 1: It is longer than 16842752 bytes, and a document has at most 16 MiB/,
  )
})

it('refuses a line without an end by its number, long before memory is full', async () => {
  async function* endless(): AsyncGenerator<Buffer, void> {
    yield Buffer.from('{}\n{}\n')
    for (;;) yield Buffer.alloc(1024 * 1024, 'x')
  }
  const read = async () => {
    for await (const line of linesOf(endless())) parseLine(line)
  }
  await expect(read()).rejects.toThrow(/^Line 3: It is longer than/)
})
