/**
 * Makes a screenshot small: a PNG of 256 colours is a third of one of 16 million, and a user interface has few. The colours
 * that are there most often stay as they are; the rest of the palette goes to those that are farthest from all of them.
 */
import { crc32, deflateSync, inflateSync } from 'node:zlib'

const COLOURS = 256
/** So many are taken for being frequent. */
const FREQUENT = 176
const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

interface Pixels {
  readonly width: number
  readonly height: number
  /** `0xrrggbb`, row by row. */
  readonly colours: Uint32Array
}

/** Takes what Chromium writes: eight bits of red, green and blue, with or without alpha, not interlaced. */
export function palettePng(png: Buffer): Buffer {
  const { width, height, colours } = readPixels(png)
  const counts = new Map<number, number>()
  for (const colour of colours) counts.set(colour, (counts.get(colour) ?? 0) + 1)
  const palette = paletteOf(counts)
  const places = new Map([...counts.keys()].map((colour) => [colour, nearest(palette, colour).at]))
  const rows = Buffer.alloc(height * (width + 1))
  for (let at = 0, to = 0; at < colours.length; at += 1) {
    // Each row begins with its filter: none.
    if (at % width === 0) to += 1
    rows[to] = places.get(colours[at] ?? 0) ?? 0
    to += 1
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 3, 0, 0, 0], 8)
  const plte = Buffer.from(palette.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]))
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('PLTE', plte),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function paletteOf(counts: ReadonlyMap<number, number>): number[] {
  const all = [...counts].toSorted((a, b) => b[1] - a[1])
  const palette = all.slice(0, FREQUENT).map(([colour]) => colour)
  const rest = all.slice(FREQUENT).map(([colour, count]) => ({
    colour,
    weight: Math.sqrt(count),
    far: nearest(palette, colour).far,
  }))
  while (palette.length < COLOURS && rest.length > 0) {
    const most = rest.reduce((best, one) => (one.far * one.weight > best.far * best.weight ? one : best))
    if (most.far === 0) break
    palette.push(most.colour)
    for (const one of rest) one.far = Math.min(one.far, distance(one.colour, most.colour))
  }
  return palette
}

function nearest(palette: readonly number[], colour: number): { at: number; far: number } {
  let found = { at: 0, far: Number.POSITIVE_INFINITY }
  for (const [at, one] of palette.entries()) {
    const far = distance(one, colour)
    if (far < found.far) found = { at, far }
  }
  return found
}

/** The eye sees differences of green best, those of blue least. */
function distance(a: number, b: number): number {
  const red = (a >> 16) - (b >> 16)
  const green = ((a >> 8) & 255) - ((b >> 8) & 255)
  const blue = (a & 255) - (b & 255)
  return 3 * red * red + 6 * green * green + blue * blue
}

function readPixels(png: Buffer): Pixels {
  const width = png.readUInt32BE(16)
  const height = png.readUInt32BE(20)
  const depth = png.readUInt8(24)
  const type = png.readUInt8(25)
  if (depth !== 8 || (type !== 2 && type !== 6)) throw new TypeError(`A PNG of type ${type}, ${depth} bits.`)
  const step = type === 6 ? 4 : 3
  const data: Buffer[] = []
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at)
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT') data.push(png.subarray(at + 8, at + 8 + length))
    at += length + 12
  }
  const bytes = unfiltered(inflateSync(Buffer.concat(data)), width * step, height, step)
  const colours = new Uint32Array(width * height)
  for (let at = 0; at < colours.length; at += 1) colours[at] = bytes.readUIntBE(at * step, 3)
  return { width, height, colours }
}

/** Takes back the filters of the rows: each byte stands as the difference from its neighbours. */
function unfiltered(raw: Buffer, width: number, height: number, step: number): Buffer {
  const out = Buffer.alloc(width * height)
  for (let row = 0; row < height; row += 1) {
    const filter = raw[row * (width + 1)] ?? 0
    for (let x = 0; x < width; x += 1) {
      const at = row * width + x
      const left = x < step ? 0 : (out[at - step] ?? 0)
      const above = row === 0 ? 0 : (out[at - width] ?? 0)
      const corner = x < step || row === 0 ? 0 : (out[at - width - step] ?? 0)
      const guess = [0, left, above, (left + above) >> 1, paeth(left, above, corner)][filter] ?? 0
      out[at] = ((raw[row * (width + 1) + 1 + x] ?? 0) + guess) & 255
    }
  }
  return out
}

function paeth(left: number, above: number, corner: number): number {
  const [toLeft, toAbove] = [Math.abs(above - corner), Math.abs(left - corner)]
  const toCorner = Math.abs(left + above - 2 * corner)
  if (toLeft <= toAbove && toLeft <= toCorner) return left
  return toAbove <= toCorner ? above : corner
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const frame = Buffer.alloc(8)
  frame.writeUInt32BE(data.length, 0)
  frame.writeUInt32BE(crc32(body), 4)
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)])
}
